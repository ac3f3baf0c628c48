<?php

declare(strict_types=1);

namespace ReconBatch\Tests\App;

use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\Instant;

/**
 * A simulated provider with a memory of its own. It does not honour idempotency keys:
 * each call that gets through has an effect, so that a call too many shows.
 *
 * How the first call about an order goes stands in front of its number (timeout-before/7);
 * every later call is good.
 */
final class Provider
{
    public function __construct(private readonly \PDO $db, private readonly Clock $clock)
    {
        $db->exec('CREATE TABLE IF NOT EXISTS calls (entity TEXT NOT NULL, idempotency_key TEXT NOT NULL)');
        $db->exec('CREATE TABLE IF NOT EXISTS effects (charge_id INTEGER PRIMARY KEY, operation_id TEXT, idempotency_key TEXT, entity TEXT,
            version INTEGER, status TEXT, amount_minor INTEGER, currency TEXT, booked_at TEXT)');
    }

    public function charge(string $key, string $operationId, string $entity, ?int $version, int $amountMinor, string $currency): string
    {
        $calls = $this->db->prepare('SELECT count(*) FROM calls WHERE entity = ?');
        $calls->execute([$entity]);
        $first = 0 === (int) $calls->fetchColumn();
        $this->db->prepare('INSERT INTO calls VALUES (?, ?)')->execute([$entity, $key]);
        $how = $first ? strstr($entity, '/', true) : 'good';
        match ($how) {
            'not-sent' => throw new ConnectionRefused('connection refused'),
            'timeout-before' => throw new TimedOut('no answer in 30 s'),
            'crash-before' => self::crash(),
            'bug' => throw new \LogicException('nobody expected this'),
            default => null,
        };
        $this->db->prepare('INSERT INTO effects (operation_id, idempotency_key, entity, version, status, amount_minor, currency, booked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
            ->execute([$operationId, $key, $entity, $version, 'refused' === $how ? 'refused' : 'settled', $amountMinor, $currency, Instant::text($this->clock->now())]);
        $id = 'ch_'.$this->db->lastInsertId();
        match ($how) {
            'refused' => throw new CardRefused('do_not_honour'),
            'timeout-after' => throw new TimedOut('no answer in 30 s'),
            'crash-after' => self::crash(),
            default => null,
        };

        return $id;
    }

    /** @return list<array<string, mixed>> effects and refusals booked in [from, until) */
    public function booked(string $from, string $until): array
    {
        $q = $this->db->prepare('SELECT * FROM effects WHERE booked_at >= ? AND booked_at < ? ORDER BY charge_id');
        $q->execute([$from, $until]);

        return $q->fetchAll(\PDO::FETCH_ASSOC);
    }

    public function calls(): int
    {
        return (int) $this->db->query('SELECT count(*) FROM calls')->fetchColumn();
    }

    /** As the kernel does it when memory runs out: no destructor, no finally. */
    private static function crash(): never
    {
        posix_kill(posix_getpid(), \SIGKILL);
        exit(1);
    }
}
