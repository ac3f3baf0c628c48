<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

use Symfony\Component\Messenger\Exception\UnrecoverableExceptionInterface;

/** The provider said no, finally: the same request would be refused again. */
final class Refused extends \RuntimeException implements OperationFailure, UnrecoverableExceptionInterface
{
    public function __construct(private readonly string $errorCode, string $message = '', ?\Throwable $previous = null)
    {
        parent::__construct('' === $message ? 'The provider refused: '.$errorCode : $message, 0, $previous);
    }

    public function errorClass(): string
    {
        return 'permanent';
    }

    public function errorCode(): string
    {
        return $this->errorCode;
    }

    public function nextState(): string
    {
        return 'manual_review';
    }
}
