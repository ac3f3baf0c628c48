<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Stamp;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** On an envelope whose handler was not called, with the reason. The message is acknowledged. */
final class NotCalledStamp implements NonSendableStampInterface
{
    public function __construct(public readonly string $reason)
    {
    }
}
