<?php

declare(strict_types=1);

// Debian's packages bring an autoload.php each; the last two are of this example.
foreach ([
    'Symfony/Component/Messenger', 'Symfony/Component/Console', 'Symfony/Component/Config',
    'Symfony/Component/DependencyInjection', 'Symfony/Component/HttpKernel', 'Symfony/Component/EventDispatcher', 'Doctrine/DBAL',
] as $package) {
    require_once '/usr/share/php/'.$package.'/autoload.php';
}
require_once __DIR__.'/../src/autoload.php';
spl_autoload_register(static function (string $class): void {
    $prefix = 'ReconBatch\\Tests\\';
    $file = __DIR__.'/'.str_replace('\\', '/', substr($class, strlen($prefix))).'.php';
    if (str_starts_with($class, $prefix) && is_file($file)) {
        require $file;
    }
});
