<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\DependencyInjection;

use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\ConfigurationInterface;

final class Configuration implements ConfigurationInterface
{
    public function getConfigTreeBuilder(): TreeBuilder
    {
        $tree = new TreeBuilder('recon_batch');
        $tree->getRootNode()->children()
            ->scalarNode('connection')->isRequired()->cannotBeEmpty()
                ->info('Service id of the PDO of the register')->end()
            ->scalarNode('bus')->defaultValue('messenger.default_bus')->cannotBeEmpty()
                ->info('Bus on which a requeue is dispatched')->end()
            ->scalarNode('senders')->defaultValue('messenger.senders_locator')->cannotBeEmpty()->end()
            ->scalarNode('serializer')->defaultValue('messenger.default_serializer')->cannotBeEmpty()->end()
            ->integerNode('lease_seconds')->isRequired()->min(1)
                ->info('Longer than the longest call to a provider, all its time-outs together')->end()
            ->scalarNode('worker')->defaultValue('%env(default:recon_batch.worker:HOSTNAME)%')->cannotBeEmpty()->end()
        ->end();

        return $tree;
    }
}
