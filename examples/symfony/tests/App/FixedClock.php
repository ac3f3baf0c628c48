<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\Instant;

final class FixedClock implements Clock
{
    public function __construct(private string $now = '2026-11-29T10:00:00Z')
    {
    }

    public function now(): \DateTimeImmutable
    {
        return Instant::parse($this->now);
    }

    public function set(string $now): void
    {
        $this->now = $now;
    }
}
