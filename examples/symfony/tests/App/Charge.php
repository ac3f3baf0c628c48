<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

final class Charge
{
    public function __construct(
        public readonly string $orderNo,
        public readonly int $amountMinor,
        public readonly string $currency,
    ) {
    }
}
