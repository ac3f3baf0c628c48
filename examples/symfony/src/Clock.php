<?php

declare(strict_types=1);

namespace ReconBatch\Messenger;

/** Where the bundle takes the time from. Tests set it. */
interface Clock
{
    public function now(): \DateTimeImmutable;
}
