<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

/**
 * The request left and no answer came: a time-out, a connection that broke, a 502 of
 * a gateway. The effect may exist. Nothing calls again before it is proven absent.
 */
final class OutcomeUnknown extends \RuntimeException implements OperationFailure
{
    public function __construct(private readonly string $errorCode = 'timeout', string $message = '', ?\Throwable $previous = null)
    {
        parent::__construct('' === $message ? 'The outcome is unknown: '.$errorCode : $message, 0, $previous);
    }

    public function errorClass(): string
    {
        return 'transient'; // nothing is wrong with the request itself
    }

    public function errorCode(): string
    {
        return $this->errorCode;
    }

    public function nextState(): string
    {
        return 'awaiting_confirmation';
    }
}
