<?php

declare(strict_types=1);

namespace ReconBatch\Tests;

use PHPUnit\Framework\TestCase;
use ReconBatch\Messenger\Apply\RunFolder;

final class RunFolderTest extends TestCase
{
    private string $date;

    protected function setUp(): void
    {
        $this->date = sys_get_temp_dir().'/recon-'.bin2hex(random_bytes(6));
        mkdir($this->date.'/run-1/queues', recursive: true);
        symlink('run-1', $this->date.'/current');
        $this->publish('{"item_id":"a","run_id":"run-1","queue":"requeue"}'."\n");
    }

    protected function tearDown(): void
    {
        exec('rm -r '.escapeshellarg($this->date));
    }

    private function publish(string $items, array $manifest = []): void
    {
        file_put_contents($this->date.'/run-1/queues/requeue.ndjson', $items);
        file_put_contents($this->date.'/run-1/manifest.json', json_encode($manifest + [
            'schema_version' => 1, 'run_id' => 'run-1', 'business_date' => '2026-11-29',
            'outputs' => [['path' => 'queues/requeue.ndjson', 'sha256' => hash('sha256', $items)]],
        ]));
    }

    public function testItems(): void
    {
        $run = RunFolder::open($this->date.'/current');
        self::assertSame(['a'], array_column(iterator_to_array($run->items('requeue')), 'item_id'));
        self::assertSame([], iterator_to_array($run->items('close')), 'a queue that the run did not write');
        self::assertSame([], iterator_to_array($run->withdrawn()));
    }

    public function testWithdrawnItemsAreOfFormerRuns(): void
    {
        $lines = '{"item_id":"b","run_id":"run-0","queue":"requeue","why":"gone"}'."\n";
        file_put_contents($this->date.'/run-1/queues/withdrawn.ndjson', $lines);
        $this->publish('', ['outputs' => [['path' => 'queues/withdrawn.ndjson', 'sha256' => hash('sha256', $lines)]]]);
        $run = RunFolder::open($this->date.'/run-1');
        self::assertSame(['b'], array_column(iterator_to_array($run->withdrawn()), 'item_id'));
        file_put_contents($this->date.'/run-1/queues/withdrawn.ndjson', '');
        $this->expectException(\RuntimeException::class);
        iterator_to_array($run->withdrawn());
    }

    /** @dataProvider damage */
    public function testRefused(callable $do, string $want): void
    {
        $do($this->date, fn (string $items, array $manifest = []) => $this->publish($items, $manifest));
        $this->expectException(\RuntimeException::class);
        $this->expectExceptionMessage($want);
        iterator_to_array(RunFolder::open($this->date.'/run-1')->items('requeue'));
    }

    public static function damage(): array
    {
        $line = '{"item_id":"a","run_id":"run-1","queue":"requeue"}'."\n";

        return [
            'an item added' => [static fn (string $d) => file_put_contents("$d/run-1/queues/requeue.ndjson", '{}', \FILE_APPEND), 'not the file that was published'],
            'the file gone' => [static fn (string $d) => unlink("$d/run-1/queues/requeue.ndjson"), 'not the file that was published'],
            'no manifest' => [static fn (string $d) => unlink("$d/run-1/manifest.json"), 'no manifest.json'],
            'another form' => [static fn (string $d, callable $publish) => $publish($line, ['schema_version' => 2]), 'another form'],
            'of another run' => [static fn (string $d, callable $publish) => $publish(str_replace('run-1', 'run-0', $line)), 'another run or queue'],
            'of another queue' => [static fn (string $d, callable $publish) => $publish(str_replace('requeue', 'close', $line)), 'another run or queue'],
            'superseded' => [static function (string $d): void {
                mkdir("$d/run-2");
                unlink("$d/current");
                symlink('run-2', "$d/current");
            }, 'superseded'],
            'no current run' => [static fn (string $d) => unlink("$d/current"), 'superseded'],
        ];
    }
}
