<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

use Symfony\Component\Messenger\Exception\RecoverableMessageHandlingException;

/** A message came before its next attempt; the retry listener delays it once more. */
final class TooEarly extends RecoverableMessageHandlingException
{
}
