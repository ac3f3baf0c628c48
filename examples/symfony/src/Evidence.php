<?php

declare(strict_types=1);

namespace ReconBatch\Messenger;

/**
 * What a handler returns after a call that came back: what the provider said.
 *
 * `accepted` means that it took the request and that its effect is still to be seen
 * (state awaiting_confirmation); `confirmed` means that the answer itself proves the
 * effect. A handler that returns nothing has accepted without a remote id.
 */
final class Evidence
{
    private function __construct(
        public readonly ?string $remoteId,
        public readonly bool $confirmed,
    ) {
    }

    public static function accepted(?string $remoteId = null): self
    {
        return new self($remoteId, false);
    }

    public static function confirmed(string $remoteId): self
    {
        return new self($remoteId, true);
    }
}
