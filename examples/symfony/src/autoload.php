<?php

declare(strict_types=1);

// Loads the classes of the bundle by PSR-4, for whoever has no Composer.
spl_autoload_register(static function (string $class): void {
    $prefix = 'ReconBatch\\Messenger\\';
    if (!str_starts_with($class, $prefix)) {
        return;
    }
    $file = __DIR__.'/'.str_replace('\\', '/', substr($class, strlen($prefix))).'.php';
    if (is_file($file)) {
        require $file;
    }
});
