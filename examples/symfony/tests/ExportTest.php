<?php

declare(strict_types=1);

namespace ReconBatch\Tests;

use ReconBatch\Messenger\Export\RegisterExport;
use ReconBatch\Messenger\Instant;

final class ExportTest extends RegisterCase
{
    private function write(string $from = '2026-11-29T00:00:00Z', string $until = '2026-11-30T00:00:00Z'): int
    {
        return (new RegisterExport($this->db, $this->clock))->write($this->folder.'/o.csv', Instant::parse($from), Instant::parse($until));
    }

    public function testFile(): void
    {
        $this->given(['entity' => 'say "no", or yes', 'state' => 'awaiting_confirmation', 'attempts' => 1, 'error_class' => 'transient', 'error_code' => 'timeout']);
        $this->given([], 'op-0');
        $this->given(['created_at' => '2026-11-28T23:59:59.999999Z'], 'op-before');
        $this->given(['created_at' => '2026-11-30T00:00:00.000000Z'], 'op-after');
        $this->given(['created_at' => '2026-11-29T00:00:00.000000Z', 'message' => null], 'op-first');
        $this->clock->set('2026-11-30T00:00:00Z');
        self::assertSame(3, $this->write());
        $lines = file($this->folder.'/o.csv', \FILE_IGNORE_NEW_LINES);
        self::assertSame('row,'.implode(',', RegisterExport::COLUMNS).',payload_ref,exported_at', $lines[0]);
        self::assertStringStartsWith('D,op-0,key-op-0,charge,order-1,1,4500,EUR,pending,0,2026-11-29T10:00:00.000000Z,,', $lines[1]);
        self::assertStringStartsWith('D,op-1,key-op-1,charge,"say ""no"", or yes",1,4500,EUR,awaiting_confirmation,1,', $lines[2]);
        self::assertStringEndsWith(',transient,timeout,,,,op-1,2026-11-30T00:00:00.000000Z', $lines[2]);
        self::assertStringStartsWith('D,op-first,', $lines[3]);
        self::assertStringEndsWith(',,,,,,2026-11-30T00:00:00.000000Z', $lines[3], 'no message, no reference to it');
        self::assertSame('T,3', $lines[4]);
        self::assertCount(5, $lines);
    }

    public function testATimeThatIsNotOverIsRefused(): void
    {
        $this->clock->set('2026-11-29T23:59:59.999999Z');
        $this->expectException(\InvalidArgumentException::class);
        $this->write();
    }

    public function testWhatFailsLeavesTheFormerFile(): void
    {
        $this->clock->set('2026-11-30T01:00:00Z');
        $this->given([]);
        $this->write();
        $former = file_get_contents($this->folder.'/o.csv');
        $this->db->exec('ALTER TABLE recon_operation RENAME COLUMN remote_id TO gone');
        try {
            $this->write();
            self::fail('it was written');
        } catch (\PDOException) {
        }
        self::assertSame($former, file_get_contents($this->folder.'/o.csv'));
        self::assertSame([], glob($this->folder.'/.o.csv*'));
    }

    public function testTheFileAppearsWhole(): void
    {
        if (getenv('RECON_TEST_PGSQL')) {
            $this->addToAssertionCount(1); // the look into the folder is a function of SQLite

            return;
        }
        $this->clock->set('2026-11-30T01:00:00Z');
        $this->given(['created_at' => '2026-11-29T10:00:00.000000Z']);
        $seen = null;
        // While the rows are read, the name is not there yet.
        $this->db->sqliteCreateFunction('looking', function (string $text) use (&$seen): string {
            $seen = [is_file($this->folder.'/o.csv'), count(glob($this->folder.'/.o.csv.tmp-*'))];

            return $text;
        });
        $this->db->exec('ALTER TABLE recon_operation RENAME TO all_operations');
        $this->db->exec('CREATE VIEW recon_operation AS SELECT looking(operation_id) AS operation_id, '.implode(', ', array_slice(RegisterExport::COLUMNS, 1)).', message FROM all_operations');
        $this->write();
        self::assertSame([false, 1], $seen);
        self::assertFileExists($this->folder.'/o.csv');
    }

    /** @dataProvider noInstants */
    public function testOnlyAnInstantIsOne(string $text): void
    {
        $this->expectException(\InvalidArgumentException::class);
        Instant::parse($text);
    }

    public static function noInstants(): array
    {
        return [['2026-11-29'], ['2026-11-29T10:00:00'], ['now'], ['2026-11-29 10:00:00Z'], ['']];
    }
}
