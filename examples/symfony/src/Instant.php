<?php

declare(strict_types=1);

namespace ReconBatch\Messenger;

/**
 * Instants as the register stores them: text of fixed width in UTC,
 * "2026-11-29T10:00:00.000000Z". They sort as text in every database.
 */
final class Instant
{
    private function __construct()
    {
    }

    public static function text(\DateTimeInterface $at): string
    {
        return \DateTimeImmutable::createFromInterface($at)->setTimezone(new \DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.u\Z');
    }

    /**
     * Reads RFC 3339 with an offset.
     *
     * @throws \InvalidArgumentException where the text is no instant: a time without an offset could be any
     */
    public static function parse(string $text): \DateTimeImmutable
    {
        if (!preg_match('/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/', $text)) {
            throw new \InvalidArgumentException(sprintf('"%s" is no instant such as 2026-11-29T10:00:00Z', $text));
        }

        return (new \DateTimeImmutable($text))->setTimezone(new \DateTimeZone('UTC'));
    }
}
