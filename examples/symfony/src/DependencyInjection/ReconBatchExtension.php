<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\DependencyInjection;

use ReconBatch\Messenger\Apply\Applier;
use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\Command\ApplyCommand;
use ReconBatch\Messenger\Command\ExportCommand;
use ReconBatch\Messenger\Command\SchemaCommand;
use ReconBatch\Messenger\CurrentOperation;
use ReconBatch\Messenger\Export\RegisterExport;
use ReconBatch\Messenger\MessageCodec;
use ReconBatch\Messenger\Middleware\RegisterMiddleware;
use ReconBatch\Messenger\Register\Register;
use ReconBatch\Messenger\SystemClock;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Extension\Extension;
use Symfony\Component\DependencyInjection\Reference;

/** Registers the middleware as `recon_batch.middleware`; the bus names it in its list. */
final class ReconBatchExtension extends Extension
{
    /** @param array<mixed> $configs */
    public function load(array $configs, ContainerBuilder $container): void
    {
        $c = $this->processConfiguration(new Configuration(), $configs);
        $db = new Reference($c['connection']);
        $clock = new Reference(Clock::class);
        $codec = new Reference(MessageCodec::class);
        $container->setParameter('recon_batch.worker', 'worker');
        $container->addDefinitions([
            Clock::class => new Definition(SystemClock::class),
            CurrentOperation::class => new Definition(CurrentOperation::class),
            MessageCodec::class => new Definition(MessageCodec::class, [new Reference($c['serializer'])]),
            Register::class => new Definition(Register::class, [$db, $clock, $c['lease_seconds'], $c['worker']]),
            RegisterExport::class => new Definition(RegisterExport::class, [$db, $clock]),
            Applier::class => new Definition(Applier::class, [$db, new Reference($c['bus']), $codec, $clock]),
            'recon_batch.middleware' => new Definition(RegisterMiddleware::class, [
                new Reference(Register::class), $codec, new Reference(CurrentOperation::class), new Reference($c['senders']),
                new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE),
            ]),
        ]);
        foreach ([
            SchemaCommand::class => [$db],
            ExportCommand::class => [new Reference(RegisterExport::class)],
            ApplyCommand::class => [new Reference(Applier::class)],
        ] as $class => $arguments) {
            $container->setDefinition($class, (new Definition($class, $arguments))->addTag('console.command'));
        }
    }
}
