<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

/**
 * A message of an operation that the register does not hold: its transaction is not
 * committed yet, or the register was restored. It is not called, since nobody knows
 * what was done before; the retry strategy delivers it again, then it goes to the
 * failure transport.
 */
final class NotRegistered extends \RuntimeException
{
}
