<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

use ReconBatch\Messenger\Stamp\OperationStamp;
use Symfony\Component\Messenger\MessageBusInterface;

/** Decides that an order is to be charged: here, and nowhere else, the operation gets its id. */
final class Shop
{
    public function __construct(private readonly MessageBusInterface $bus)
    {
    }

    public function charge(string $orderNo, int $version, int $amountMinor, string $currency): void
    {
        $id = sprintf('charge-%s-v%d', $orderNo, $version);
        $this->bus->dispatch(new Charge($orderNo, $amountMinor, $currency), [
            new OperationStamp($id, 'key-'.$id, 'charge', $orderNo, $version, $amountMinor, $currency),
        ]);
    }
}
