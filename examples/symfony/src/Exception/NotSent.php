<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

/**
 * The request did not leave: no connection could be made, our own circuit breaker is
 * open, the provider answered 429 and documents that it did nothing. The broker may
 * deliver again. Throw it only where that is certain; OutcomeUnknown is the other one.
 */
final class NotSent extends \RuntimeException implements OperationFailure
{
    public function __construct(private readonly string $errorCode = 'not_sent', string $message = '', ?\Throwable $previous = null)
    {
        parent::__construct('' === $message ? 'The request was not sent: '.$errorCode : $message, 0, $previous);
    }

    public function errorClass(): string
    {
        return 'transient';
    }

    public function errorCode(): string
    {
        return $this->errorCode;
    }

    public function nextState(): string
    {
        return 'retry_scheduled';
    }
}
