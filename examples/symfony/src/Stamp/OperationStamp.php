<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Stamp;

use Symfony\Component\Messenger\Stamp\StampInterface;

/**
 * Says which operation a message is. The one who dispatches makes it, once, where the
 * business decides: an id made by a worker would be another one at each delivery.
 */
final class OperationStamp implements StampInterface
{
    /**
     * @param string   $operationId    unique for ever; the same at each delivery and each retry
     * @param string   $idempotencyKey what the provider is sent as its idempotency key; it never changes
     * @param string   $type           key of `types:` in the job file
     * @param string   $entity         what it is about, such as an order number
     * @param int|null $version        version of the entity that is sent
     * @param int|null $amountMinor    in minor units of the currency
     */
    public function __construct(
        public readonly string $operationId,
        public readonly string $idempotencyKey,
        public readonly string $type,
        public readonly string $entity,
        public readonly ?int $version = null,
        public readonly ?int $amountMinor = null,
        public readonly ?string $currency = null,
    ) {
        foreach (['operationId' => $operationId, 'idempotencyKey' => $idempotencyKey, 'type' => $type, 'entity' => $entity] as $name => $value) {
            // Keys are compared byte by byte later on: blanks around them, or line
            // ends in them, would make two keys that look alike.
            if ('' === $value || trim($value) !== $value || preg_match('/[\x00-\x1f\x7f]/', $value) || strlen($value) > 190) {
                throw new \InvalidArgumentException(sprintf('%s must have 1 to 190 bytes, without control characters and without blanks around it.', $name));
            }
        }
        if ((null === $amountMinor) !== (null === $currency)) {
            throw new \InvalidArgumentException('An amount stands beside its currency, and a currency beside its amount.');
        }
        if (null !== $currency && !preg_match('/^[A-Z]{3}$/', $currency)) {
            throw new \InvalidArgumentException(sprintf('"%s" is no currency code of ISO 4217.', $currency));
        }
    }
}
