<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Stamp;

use Symfony\Component\Messenger\Stamp\StampInterface;

/** On a message that a queue item has sent again. */
final class RequeueStamp implements StampInterface
{
    public function __construct(public readonly string $itemId, public readonly string $runId)
    {
    }
}
