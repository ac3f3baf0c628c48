<?php

declare(strict_types=1);

namespace ReconBatch\Tests;

use PHPUnit\Framework\TestCase;
use ReconBatch\Messenger\CurrentOperation;
use ReconBatch\Messenger\MessageCodec;
use ReconBatch\Messenger\Middleware\RegisterMiddleware;
use ReconBatch\Messenger\Register\Register;
use ReconBatch\Messenger\Register\Schema;
use ReconBatch\Messenger\Stamp\OperationStamp;
use ReconBatch\Tests\App\Charge;
use ReconBatch\Tests\App\FixedClock;
use ReconBatch\Tests\App\ServiceMap;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Middleware\SendMessageMiddleware;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;
use Symfony\Component\Messenger\Transport\InMemoryTransport;
use Symfony\Component\Messenger\Transport\Sender\SendersLocator;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/**
 * A register in a database of its own, with a real bus and an in-memory transport.
 * RECON_TEST_PGSQL names a PostgreSQL database (a DSN of PDO) whose tables are made
 * anew by each test; without it the database is a file of SQLite.
 */
abstract class RegisterCase extends TestCase
{
    protected FixedClock $clock;
    protected \PDO $db;
    protected InMemoryTransport $transport;
    protected CurrentOperation $current;
    protected MessageCodec $codec;
    protected string $folder;
    /** @var list<callable> */
    protected array $handlers = [];

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir().'/recon-'.bin2hex(random_bytes(6));
        mkdir($this->folder);
        $this->clock = new FixedClock();
        $this->db = $this->connect();
        foreach (['recon_operation', 'recon_evidence', 'recon_inbox', 'recon_withdrawn'] as $table) {
            $this->db->exec('DROP TABLE IF EXISTS '.$table);
        }
        Schema::create($this->db);
        $this->transport = new InMemoryTransport(new PhpSerializer());
        $this->current = new CurrentOperation();
        $this->codec = new MessageCodec(new PhpSerializer());
    }

    protected function tearDown(): void
    {
        foreach (new \FilesystemIterator($this->folder) as $file) {
            unlink((string) $file);
        }
        rmdir($this->folder);
        // PHPUnit keeps each test object to the end; a server has only so many connections.
        unset($this->db);
        $this->handlers = [];
        gc_collect_cycles();
    }

    /** A connection of its own, as another process has one. */
    protected function connect(): \PDO
    {
        $dsn = getenv('RECON_TEST_PGSQL');
        $db = new \PDO($dsn ?: 'sqlite:'.$this->folder.'/register.sqlite');
        if (!$dsn) {
            $db->exec('PRAGMA synchronous = OFF'); // the file lives as long as the test
        }

        return $db;
    }

    protected function registerOf(?\PDO $db = null): Register
    {
        return new Register($db ?? $this->db, $this->clock, 300, 'test');
    }

    /** @param bool $async whether a Charge is sent to the transport, or handled at once */
    protected function bus(bool $async = true): MessageBus
    {
        $senders = new SendersLocator($async ? [Charge::class => ['t']] : [], new ServiceMap(['t' => $this->transport]));

        return new MessageBus([
            new RegisterMiddleware($this->registerOf(), $this->codec, $this->current, $senders),
            new SendMessageMiddleware($senders),
            new HandleMessageMiddleware(new HandlersLocator([Charge::class => $this->handlers, \stdClass::class => $this->handlers])),
        ]);
    }

    protected static function stamp(string $id = 'op-1', int $version = 1, int $amount = 4500): OperationStamp
    {
        return new OperationStamp($id, 'key-'.$id, 'charge', 'order-1', $version, $amount, 'EUR');
    }

    protected static function received(OperationStamp $stamp): Envelope
    {
        return new Envelope(new Charge('order-1', 4500, 'EUR'), [$stamp, new ReceivedStamp('t')]);
    }

    /** Opens an operation and puts its row into the given state. */
    protected function given(array $columns, string $id = 'op-1'): void
    {
        $this->registerOf()->open(self::stamp($id), $this->codec->encode(self::received(self::stamp($id))));
        foreach ($columns as $name => $value) {
            $this->db->prepare("UPDATE recon_operation SET $name = ? WHERE operation_id = ?")->execute([$value, $id]);
        }
    }

    /** @return array<string, mixed> */
    protected function row(string $id = 'op-1'): array
    {
        return $this->registerOf()->find($id) ?? self::fail('there is no row of '.$id);
    }

    /** Asserts some columns of the row; a number and its text are the same. */
    protected function assertRow(array $want, string $id = 'op-1'): void
    {
        $row = $this->row($id);
        foreach ($want as $name => $value) {
            self::assertSame(null === $value ? null : (string) $value, null === $row[$name] ? null : (string) $row[$name], $name);
        }
    }

    protected function number(string $sql): int
    {
        return (int) $this->db->query($sql)->fetchColumn();
    }

    /**
     * Runs the function in so many processes at once, each with a connection of its
     * own, and returns what they print. They wait for each other at the start.
     *
     * @return list<string>
     */
    protected function atOnce(int $processes, callable $do): array
    {
        $barrier = $this->folder.'/go';
        $children = [];
        for ($i = 0; $i < $processes; ++$i) {
            $pid = pcntl_fork();
            if (0 === $pid) {
                // The connection that came with the fork is the parent's: two processes that
                // speak through one socket confuse each other. It is kept, so that it is not
                // closed for the parent too.
                $parents = $this->db;
                $db = $this->db = $this->connect();
                while (!is_file($barrier)) {
                    usleep(200);
                }
                try {
                    $said = $do($db);
                } catch (\Throwable $e) {
                    $said = get_debug_type($e).': '.$e->getMessage();
                }
                file_put_contents($this->folder."/said-$i", $said);
                posix_kill(posix_getpid(), \SIGKILL); // nothing of PHPUnit runs twice
            }
            $children[] = $pid;
        }
        touch($barrier);
        foreach ($children as $pid) {
            pcntl_waitpid($pid, $status);
        }
        $said = [];
        for ($i = 0; $i < $processes; ++$i) {
            $said[] = (string) @file_get_contents($this->folder."/said-$i");
        }
        sort($said);

        return $said;
    }
}
