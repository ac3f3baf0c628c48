<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Apply;

use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\Instant;
use ReconBatch\Messenger\MessageCodec;
use ReconBatch\Messenger\Stamp\RequeueStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/**
 * Acts on queue items (docs/queues.md). One item is one transaction: its id and what
 * became of it go into the inbox, and the row moves from the expected state to the
 * next. So an item that comes twice, late, or to two at once moves the row at most
 * once; and only a row that is still what the run has judged.
 */
final class Applier
{
    public function __construct(
        private readonly \PDO $db,
        private readonly MessageBusInterface $bus,
        private readonly MessageCodec $codec,
        private readonly Clock $clock,
    ) {
    }

    /** @param array<string, mixed> $item a line of a queue file */
    public function apply(array $item): Result
    {
        $refusal = $this->refuse($item);
        if (null !== $refusal) {
            return $refusal;
        }
        $result = $this->move($item);
        if ('requeue' === $item['queue'] && (Result::Applied === $result || Result::AlreadyApplied === $result)) {
            $this->dispatch($item);
        }

        return $result;
    }

    /**
     * Takes an item back that a run proposed and a later one does not. What was applied
     * already stays applied.
     */
    public function withdraw(string $runId, string $itemId): void
    {
        $this->run('INSERT INTO recon_withdrawn (run_id, item_id) VALUES (?, ?) ON CONFLICT (run_id, item_id) DO NOTHING', [$runId, $itemId]);
    }

    /** What the item alone, and the clock, say against it. */
    private function refuse(array $item): ?Result
    {
        if (!in_array($item['queue'] ?? null, ['confirm', 'requeue', 'close'], true)) {
            return Result::NotForUs;
        }
        if (1 !== ($item['schema_version'] ?? null)) {
            return Result::UnknownForm;
        }
        // Only a plain false is a no.
        if (false !== ($item['hidden'] ?? null)) {
            return Result::Hidden;
        }
        if (false !== ($item['observe_only'] ?? null)) {
            return Result::ObserveOnly;
        }
        foreach (['item_id', 'run_id', 'operation_id', 'next_state', ...self::needed($item['queue'])] as $field) {
            if (!isset($item[$field]) || '' === $item[$field]) {
                return Result::Incomplete;
            }
        }
        foreach (['expires_at', 'proof_valid_until'] as $end) {
            if (isset($item[$end]) && Instant::parse($item[$end]) <= $this->clock->now()) {
                return Result::Expired;
            }
        }
        if ('confirm' === $item['queue']) {
            return null;
        }
        // The condition that we check again is that no result is known for the row of
        // the key; another key would be another condition.
        if ('requeue' === $item['queue'] && $item['recheck_key'] !== $item['idempotency_key']) {
            return Result::Incomplete;
        }
        if (false !== ($item['deferred'] ?? null)) {
            return Result::Deferred;
        }
        if (0 < ($item['approvals'] ?? 0)) {
            return Result::NeedsApproval;
        }

        return null;
    }

    /** @return list<string> */
    private static function needed(string $queue): array
    {
        return match ($queue) {
            'requeue' => ['idempotency_key', 'expected_state', 'attempts', 'next_attempt_at', 'expires_at', 'recheck_key'],
            'close' => ['expected_state', 'attempts'],
            'confirm' => ['idempotency_key'],
        };
    }

    private function move(array $item): Result
    {
        $this->db->beginTransaction();
        try {
            // First of all statements: a second one with the same id waits here until
            // the first has ended, and then sees what it did.
            // What was refused is judged anew in a later run, and not before.
            $new = $this->run(<<<'SQL'
                INSERT INTO recon_inbox (item_id, run_id, queue, operation_id, result, applied_at) VALUES (?, ?, ?, ?, 'applied', ?)
                ON CONFLICT (item_id) DO UPDATE SET run_id = excluded.run_id, result = excluded.result, applied_at = excluded.applied_at
                WHERE recon_inbox.result <> 'applied' AND recon_inbox.run_id <> excluded.run_id
                SQL, [$item['item_id'], $item['run_id'], $item['queue'], $item['operation_id'], Instant::text($this->clock->now())]);
            if (0 === $new) {
                $stored = Result::from((string) $this->value('SELECT result FROM recon_inbox WHERE item_id = ?', [$item['item_id']]));
                $this->db->rollBack();

                return Result::Applied === $stored ? Result::AlreadyApplied : $stored;
            }
            $result = Result::Withdrawn;
            if (null === $this->value('SELECT item_id FROM recon_withdrawn WHERE run_id = ? AND item_id = ?', [$item['run_id'], $item['item_id']])) {
                $result = 1 === $this->change($item) ? Result::Applied : $this->diagnose($item);
            }
            $this->run('UPDATE recon_inbox SET result = ? WHERE item_id = ?', [$result->value, $item['item_id']]);
            $this->db->commit();

            return $result;
        } catch (\Throwable $e) {
            if ($this->db->inTransaction()) {
                $this->db->rollBack();
            }
            throw $e;
        }
    }

    private function change(array $item): int
    {
        $now = Instant::text($this->clock->now());

        return match ($item['queue']) {
            'requeue' => $this->run(<<<'SQL'
                UPDATE recon_operation
                SET state = ?, next_attempt_at = ?, not_after = ?, lease_until = NULL, lease_holder = NULL
                WHERE operation_id = ? AND state = ? AND attempts = ? AND idempotency_key = ?
                  AND version IS NOT DISTINCT FROM CAST(? AS BIGINT)
                  AND remote_id IS NULL AND message IS NOT NULL AND (lease_until IS NULL OR lease_until <= ?)
                SQL, [
                $item['next_state'], Instant::text(Instant::parse($item['next_attempt_at'])), Instant::text(Instant::parse($item['expires_at'])),
                $item['operation_id'], $item['expected_state'], $item['attempts'], $item['idempotency_key'], $item['version'] ?? null, $now,
            ]),
            'close' => $this->run(<<<'SQL'
                UPDATE recon_operation
                SET state = ?, closing_reason = ?, next_attempt_at = NULL, not_after = NULL, lease_until = NULL, lease_holder = NULL
                WHERE operation_id = ? AND state = ? AND attempts = ? AND version IS NOT DISTINCT FROM CAST(? AS BIGINT)
                  AND remote_id IS NULL AND (lease_until IS NULL OR lease_until <= ?)
                SQL, [$item['next_state'], $item['closing_reason'] ?? $item['reason'] ?? null, $item['operation_id'], $item['expected_state'], $item['attempts'], $item['version'] ?? null, $now]),
            // A proven effect is confirmed from every state that is not final. A planned
            // attempt is called off by it; a worker that is calling now keeps its lease
            // and finds its row confirmed.
            'confirm' => $this->run(<<<'SQL'
                UPDATE recon_operation
                SET state = ?, remote_id = COALESCE(?, remote_id), next_attempt_at = NULL, not_after = NULL
                WHERE operation_id = ? AND idempotency_key = ? AND version IS NOT DISTINCT FROM CAST(? AS BIGINT)
                  AND state IN ('pending', 'processing', 'awaiting_confirmation', 'retry_scheduled', 'manual_review')
                SQL, [$item['next_state'], $item['remote_id'] ?? null, $item['operation_id'], $item['idempotency_key'], $item['version'] ?? null]),
        };
    }

    /** Why the row did not move, for people: the first thing that is not as the run has seen it. */
    private function diagnose(array $item): Result
    {
        $q = $this->db->prepare('SELECT * FROM recon_operation WHERE operation_id = ?');
        $q->execute([$item['operation_id']]);
        $row = $q->fetch(\PDO::FETCH_ASSOC);
        $q->closeCursor();

        return match (true) {
            false === $row => Result::UnknownOperation,
            $row['state'] === $item['next_state'] && $row['state'] !== ($item['expected_state'] ?? null) => Result::AlreadyDone,
            isset($item['idempotency_key']) && $row['idempotency_key'] !== $item['idempotency_key'] => Result::OtherKey,
            'confirm' !== $item['queue'] && $row['state'] !== $item['expected_state'] => Result::OtherState,
            'confirm' !== $item['queue'] && (int) $row['attempts'] !== (int) $item['attempts'] => Result::OtherAttempts,
            (string) ($row['version'] ?? '') !== (string) ($item['version'] ?? '') => Result::OtherVersion,
            null !== $row['remote_id'] && 'confirm' !== $item['queue'] => Result::HasResult,
            null !== $row['lease_until'] && $row['lease_until'] > Instant::text($this->clock->now()) => Result::LiveLease,
            null === $row['message'] && 'requeue' === $item['queue'] => Result::NoMessage,
            default => Result::OtherState,
        };
    }

    /**
     * Sends the message again, with the stamp and so the key that it had. A crash
     * before the last statement makes the next apply send it once more: the claim
     * takes one of the two.
     */
    private function dispatch(array $item): void
    {
        $message = $this->value('SELECT o.message FROM recon_inbox i JOIN recon_operation o ON o.operation_id = i.operation_id
            WHERE i.item_id = ? AND i.dispatched_at IS NULL AND o.state = ? AND o.attempts = ?',
            [$item['item_id'], $item['next_state'], $item['attempts']]);
        if (null === $message) {
            return;
        }
        $wait = (float) Instant::parse($item['next_attempt_at'])->format('U.u') - (float) $this->clock->now()->format('U.u');
        $stamps = [new RequeueStamp($item['item_id'], $item['run_id'])];
        if ($wait > 0) {
            $stamps[] = new DelayStamp((int) ceil($wait * 1000));
        }
        $this->bus->dispatch(Envelope::wrap($this->codec->decode($message), $stamps));
        $this->run('UPDATE recon_inbox SET dispatched_at = ? WHERE item_id = ?', [Instant::text($this->clock->now()), $item['item_id']]);
    }

    /** @param list<mixed> $values */
    private function value(string $sql, array $values): ?string
    {
        $q = $this->db->prepare($sql);
        $q->execute($values);
        $value = $q->fetchColumn();
        $q->closeCursor();

        return is_string($value) ? $value : null;
    }

    /** @param list<mixed> $values */
    private function run(string $sql, array $values): int
    {
        $q = $this->db->prepare($sql);
        $q->execute($values);

        return $q->rowCount();
    }
}
