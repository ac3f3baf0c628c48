<?php

declare(strict_types=1);

namespace ReconBatch\Messenger;

use ReconBatch\Messenger\Stamp\OperationStamp;

/**
 * The operation whose handler runs now. A handler asks it for the idempotency key,
 * so that the key that is sent is the one that the register holds.
 */
final class CurrentOperation
{
    private ?OperationStamp $stamp = null;

    public function get(): OperationStamp
    {
        return $this->stamp ?? throw new \LogicException(
            'No operation is running: the message has no OperationStamp, or RegisterMiddleware is not on the bus.'
        );
    }

    /**
     * Runs $call with the operation set.
     *
     * @template T
     *
     * @param callable(): T $call
     *
     * @return T
     */
    public function during(OperationStamp $stamp, callable $call): mixed
    {
        $before = $this->stamp;
        $this->stamp = $stamp;
        try {
            return $call();
        } finally {
            $this->stamp = $before;
        }
    }
}
