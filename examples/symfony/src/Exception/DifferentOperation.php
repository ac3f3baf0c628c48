<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;

/** An operation id that the register holds for something else. */
final class DifferentOperation extends UnrecoverableMessageHandlingException
{
}
