<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

use Doctrine\DBAL\Connection as Dbal;
use Doctrine\DBAL\DriverManager;
use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\CurrentOperation;
use ReconBatch\Messenger\DependencyInjection\ReconBatchExtension;
use ReconBatch\Messenger\ReconBatchBundle;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransport;
use Symfony\Component\Messenger\EventListener\SendFailedMessageForRetryListener;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Middleware\SendMessageMiddleware;
use Symfony\Component\Messenger\Retry\MultiplierRetryStrategy;
use Symfony\Component\Messenger\Transport\Sender\SendersLocator;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/**
 * The container of an application as FrameworkBundle would make it: a bus, the
 * Doctrine transport, its retry listener, and the bundle. Register and broker share a
 * database file; the provider has another one.
 */
final class Application
{
    public static function container(string $database, string $providerDatabase, string $now): ContainerBuilder
    {
        $c = new ContainerBuilder();
        $c->addDefinitions([
            Dbal::class => (new Definition(Dbal::class, [['driver' => 'pdo_sqlite', 'path' => $database]]))->setFactory([DriverManager::class, 'getConnection']),
            'app.pdo' => (new Definition(\PDO::class))->setFactory([new Reference(Dbal::class), 'getNativeConnection']),
            'app.provider_pdo' => new Definition(\PDO::class, ['sqlite:'.$providerDatabase]),
            Provider::class => (new Definition(Provider::class, [new Reference('app.provider_pdo'), new Reference(Clock::class)])),
            ChargeHandler::class => new Definition(ChargeHandler::class, [new Reference(Provider::class), new Reference(CurrentOperation::class)]),
            'messenger.default_serializer' => new Definition(PhpSerializer::class),
            'app.connection' => new Definition(Connection::class, [['redeliver_timeout' => 600], new Reference(Dbal::class)]),
            'app.transport' => (new Definition(DoctrineTransport::class, [new Reference('app.connection'), new Reference('messenger.default_serializer')])),
            'app.senders' => (new Definition(ServiceMap::class, [['app.transport' => new Reference('app.transport')]])),
            'messenger.senders_locator' => new Definition(SendersLocator::class, [[Charge::class => ['app.transport']], new Reference('app.senders')]),
            'messenger.default_bus' => new Definition(MessageBus::class, [[
                new Reference('recon_batch.middleware'),
                new Definition(SendMessageMiddleware::class, [new Reference('messenger.senders_locator')]),
                new Definition(HandleMessageMiddleware::class, [new Definition(HandlersLocator::class, [[Charge::class => [new Reference(ChargeHandler::class)]]])]),
            ]]),
            'app.retries' => new Definition(ServiceMap::class, [['app.transport' => new Definition(MultiplierRetryStrategy::class, [3, 0])]]),
            EventDispatcher::class => (new Definition(EventDispatcher::class))->addMethodCall('addSubscriber', [
                new Definition(SendFailedMessageForRetryListener::class, [new Reference('app.senders'), new Reference('app.retries')]),
            ]),
            Shop::class => new Definition(Shop::class, [new Reference('messenger.default_bus')]),
        ]);
        $bundle = new ReconBatchBundle();
        $extension = $bundle->getContainerExtension();
        assert($extension instanceof ReconBatchExtension);
        $c->registerExtension($extension);
        $c->loadFromExtension('recon_batch', ['connection' => 'app.pdo', 'lease_seconds' => 300]);
        $bundle->build($c);
        $c->addCompilerPass(new class($now) implements \Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface {
            public function __construct(private readonly string $now)
            {
            }

            public function process(ContainerBuilder $container): void
            {
                $container->setDefinition(Clock::class, new Definition(FixedClock::class, [$this->now]));
                foreach ($container->getDefinitions() as $definition) {
                    $definition->setPublic(true);
                }
            }
        });
        $c->compile(true);

        return $c;
    }
}
