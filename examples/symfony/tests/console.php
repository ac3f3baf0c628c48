<?php

declare(strict_types=1);

/*
 * The application of the end-to-end test. RECON_DIR is its folder, RECON_NOW its time.
 */

use ReconBatch\Messenger\Command\ApplyCommand;
use ReconBatch\Messenger\Command\ExportCommand;
use ReconBatch\Messenger\Command\SchemaCommand;
use ReconBatch\Tests\App\Application;
use ReconBatch\Tests\App\Provider;
use ReconBatch\Tests\App\Shop;
use Symfony\Component\Console\Application as Console;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Worker;

require __DIR__.'/bootstrap.php';

$dir = getenv('RECON_DIR') ?: throw new RuntimeException('RECON_DIR is not set');
$container = Application::container($dir.'/shop.sqlite', $dir.'/provider.sqlite', getenv('RECON_NOW') ?: throw new RuntimeException('RECON_NOW is not set'));
$console = new Console('shop');
foreach ([SchemaCommand::class, ExportCommand::class, ApplyCommand::class] as $class) {
    $console->add($container->get($class));
}
$pdo = $container->get('app.pdo');

$console->register('shop:charge')->addArgument('orders', InputArgument::IS_ARRAY)
    ->setCode(static function (InputInterface $in) use ($container): int {
        foreach ($in->getArgument('orders') as $order) {
            $container->get(Shop::class)->charge($order, 1, 4500, 'EUR');
        }

        return 0;
    });
// What a webhook or a person does: the effect was seen by another way.
$console->register('shop:confirm')->addArgument('order', InputArgument::REQUIRED)->addArgument('remote', InputArgument::REQUIRED)
    ->setCode(static function (InputInterface $in) use ($pdo): int {
        $q = $pdo->prepare("UPDATE recon_operation SET state = 'confirmed', remote_id = ? WHERE entity = ?");
        $q->execute([$in->getArgument('remote'), $in->getArgument('order')]);

        return 1 === $q->rowCount() ? 0 : 1;
    });
// A worker that takes what is there and ends.
$console->register('worker')->setCode(static function () use ($container): int {
    $events = $container->get(EventDispatcher::class);
    $events->addListener(WorkerRunningEvent::class, static fn (WorkerRunningEvent $e) => $e->isWorkerIdle() && $e->getWorker()->stop());
    (new Worker(['app.transport' => $container->get('app.transport')], $container->get('messenger.default_bus'), $events))->run(['sleep' => 0]);

    return 0;
});
// The broker loses its patience with everything that is in flight: redeliver_timeout has passed.
$console->register('broker:redeliver')->setCode(static function () use ($pdo): int {
    $pdo->exec("UPDATE messenger_messages SET delivered_at = '2000-01-01 00:00:00' WHERE delivered_at IS NOT NULL");

    return 0;
});
// The broker delivers each waiting message a second time.
$console->register('broker:duplicate')->setCode(static function () use ($pdo): int {
    $pdo->exec('INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at)
        SELECT body, headers, queue_name, created_at, available_at FROM messenger_messages WHERE delivered_at IS NULL');

    return 0;
});
$console->register('provider:file')->addArgument('file', InputArgument::REQUIRED)->addArgument('date', InputArgument::REQUIRED)
    ->setCode(static function (InputInterface $in) use ($container): int {
        $from = new DateTimeImmutable($in->getArgument('date').'T00:00:00Z');
        $rows = $container->get(Provider::class)->booked($from->format('Y-m-d\TH:i:s.u\Z'), $from->modify('+1 day')->format('Y-m-d\TH:i:s.u\Z'));
        $out = fopen($in->getArgument('file'), 'wb');
        fputcsv($out, ['row', 'charge_id', 'operation_id', 'idempotency_key', 'order_no', 'version', 'status', 'amount_minor', 'currency', 'booked_at'], ',', '"', '', "\n");
        foreach ($rows as $row) {
            fputcsv($out, ['D', 'ch_'.array_shift($row), ...$row], ',', '"', '', "\n");
        }
        fputcsv($out, ['T', count($rows)], ',', '"', '', "\n");
        fclose($out);

        return 0;
    });
$console->register('dump')->setCode(static function (InputInterface $in, OutputInterface $out) use ($container, $pdo): int {
    $out->writeln(json_encode([
        'register' => $pdo->query('SELECT * FROM recon_operation ORDER BY operation_id')->fetchAll(PDO::FETCH_ASSOC),
        'effects' => $container->get(Provider::class)->booked('', '9'),
        'withdrawn' => $pdo->query('SELECT item_id FROM recon_withdrawn')->fetchAll(PDO::FETCH_COLUMN),
        'calls' => $container->get(Provider::class)->calls(),
        'waiting' => (int) $pdo->query('SELECT count(*) FROM messenger_messages')->fetchColumn(),
    ], JSON_THROW_ON_ERROR), OutputInterface::OUTPUT_RAW);

    return 0;
});
$console->run();
