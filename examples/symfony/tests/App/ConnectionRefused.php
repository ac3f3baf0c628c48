<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

/** What the client of the provider throws. */
final class ConnectionRefused extends \RuntimeException
{
}
