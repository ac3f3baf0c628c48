<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Register;

/** The right to make one call: who holds it, and which attempt it is. */
final class Claim
{
    public function __construct(
        public readonly string $operationId,
        public readonly string $holder,
        public readonly int $attempt,
    ) {
    }
}
