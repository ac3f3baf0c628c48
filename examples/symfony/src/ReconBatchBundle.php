<?php

declare(strict_types=1);

namespace ReconBatch\Messenger;

use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Services and commands; see DependencyInjection\Configuration for the keys of `recon_batch:`. */
final class ReconBatchBundle extends Bundle
{
}
