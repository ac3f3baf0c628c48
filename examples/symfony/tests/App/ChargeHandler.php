<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

use ReconBatch\Messenger\CurrentOperation;
use ReconBatch\Messenger\Evidence;
use ReconBatch\Messenger\Exception\NotSent;
use ReconBatch\Messenger\Exception\OutcomeUnknown;
use ReconBatch\Messenger\Exception\Refused;

final class ChargeHandler
{
    public function __construct(private readonly Provider $provider, private readonly CurrentOperation $current)
    {
    }

    public function __invoke(Charge $charge): Evidence
    {
        $operation = $this->current->get();
        try {
            $id = $this->provider->charge($operation->idempotencyKey, $operation->operationId, $charge->orderNo, $operation->version, $charge->amountMinor, $charge->currency);
        } catch (ConnectionRefused $e) {
            throw new NotSent('connection_refused', previous: $e); // nothing left this machine
        } catch (CardRefused $e) {
            throw new Refused($e->getMessage(), previous: $e);     // an answer, and a final one
        } catch (TimedOut $e) {
            throw new OutcomeUnknown('timeout', previous: $e);     // it may have happened
        }

        return Evidence::accepted($id);
    }
}
