<?php

declare(strict_types=1);

namespace ReconBatch\Tests;

use PHPUnit\Framework\TestCase;
use ReconBatch\Messenger\Command\ExportCommand;
use ReconBatch\Messenger\Command\SchemaCommand;
use ReconBatch\Messenger\DependencyInjection\Configuration;
use ReconBatch\Messenger\Register\Register;
use ReconBatch\Messenger\Register\Schema;
use ReconBatch\Tests\App\Application;
use ReconBatch\Tests\App\Shop;
use Symfony\Component\Config\Definition\Exception\InvalidConfigurationException;
use Symfony\Component\Config\Definition\Processor;
use Symfony\Component\Console\Tester\CommandTester;

/** The bundle in a compiled container. */
final class BundleTest extends TestCase
{
    public function testTheContainerHasWhatTheBusNeeds(): void
    {
        $c = Application::container(':memory:', ':memory:', '2026-11-29T10:00:00Z');
        $schema = new CommandTester($c->get(SchemaCommand::class));
        self::assertSame(0, $schema->execute(['--create' => true]));
        self::assertSame(0, $schema->execute([]));
        foreach (Schema::statements() as $sql) {
            self::assertStringContainsString($sql.';', $schema->getDisplay());
        }
        $c->get(Shop::class)->charge('good/1', 1, 4500, 'EUR');
        self::assertSame('pending', $c->get(Register::class)->find('charge-good/1-v1')['state']);
        self::assertSame(1, $c->get('app.transport')->getMessageCount());
        self::assertSame(['recon:apply', 'recon:export', 'recon:schema'], $this->commands($c));
        $export = new CommandTester($c->get(ExportCommand::class));
        self::assertSame(2, $export->execute(['file' => '/nonexistent/x.csv', '--from' => '2026-11-28T00:00:00Z']), 'a time without an end');
    }

    /** @return list<string> */
    private function commands(\Symfony\Component\DependencyInjection\ContainerBuilder $c): array
    {
        $names = array_map(static fn (string $id): string => $c->get($id)->getName(), array_keys($c->findTaggedServiceIds('console.command')));
        sort($names);

        return $names;
    }

    /** @dataProvider badConfigurations */
    public function testBadConfiguration(array $config): void
    {
        $this->expectException(InvalidConfigurationException::class);
        (new Processor())->processConfiguration(new Configuration(), [$config]);
    }

    public static function badConfigurations(): array
    {
        return [
            'no connection' => [['lease_seconds' => 300]],
            'no lease' => [['connection' => 'pdo']],
            'a lease of nothing' => [['connection' => 'pdo', 'lease_seconds' => 0]],
            'unknown key' => [['connection' => 'pdo', 'lease_seconds' => 300, 'leese' => 1]],
        ];
    }
}
