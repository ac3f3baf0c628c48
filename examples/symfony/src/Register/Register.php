<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Register;

use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\Evidence;
use ReconBatch\Messenger\Exception\DifferentOperation;
use ReconBatch\Messenger\Exception\NotRegistered;
use ReconBatch\Messenger\Exception\TooEarly;
use ReconBatch\Messenger\Instant;
use ReconBatch\Messenger\Stamp\OperationStamp;

/**
 * The operation register. Every change is one conditional statement, so that of two
 * workers one wins and the other one sees that it lost.
 */
final class Register
{
    /** A call may start from these states and from no other. */
    private const STARTABLE = "('pending', 'retry_scheduled')";

    /**
     * @param \PDO   $db           errors as exceptions (the default since PHP 8)
     * @param int    $leaseSeconds longer than the longest call: time-outs of the client, all of them together
     * @param string $worker       who asks, for people: host and process
     */
    public function __construct(
        private readonly \PDO $db,
        private readonly Clock $clock,
        private readonly int $leaseSeconds = 300,
        private readonly string $worker = 'worker',
    ) {
        if ($leaseSeconds < 1) {
            throw new \InvalidArgumentException('The lease must last a second at least, and longer than the longest call.');
        }
    }

    /**
     * Writes the row of a new operation (state pending). The same operation again
     * changes nothing.
     *
     * @param string $message the encoded message, from which a requeue is dispatched
     *
     * @throws DifferentOperation where the id stands for something else already
     */
    public function open(OperationStamp $stamp, string $message): void
    {
        $this->run(<<<'SQL'
            INSERT INTO recon_operation (operation_id, idempotency_key, type, entity, version, amount_minor, currency, state, attempts, created_at, message)
            VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)
            ON CONFLICT (operation_id) DO NOTHING
            SQL, [
            $stamp->operationId, $stamp->idempotencyKey, $stamp->type, $stamp->entity, $stamp->version,
            $stamp->amountMinor, $stamp->currency, $this->now(), $message,
        ]);
        $this->mustBeTheSame($stamp, $this->find($stamp->operationId));
    }

    /**
     * Takes the right to call: state processing, attempts + 1, a lease. The row is
     * committed when this returns, so a worker that dies in the call leaves its trace.
     *
     * @return Claim|string the claim, or why there must be no call: in_progress, lease_expired,
     *                      outcome_unknown, expired, or the final state
     *
     * @throws NotRegistered|DifferentOperation|TooEarly
     */
    public function claim(OperationStamp $stamp): Claim|string
    {
        if ($this->db->inTransaction()) {
            throw new \LogicException('A call was about to be made inside a transaction: a roll-back would erase the trace of it. Put RegisterMiddleware before doctrine_transaction, or leave that out.');
        }
        $now = $this->now();
        $holder = $this->worker.'/'.bin2hex(random_bytes(8));
        $until = Instant::text($this->clock->now()->modify('+'.$this->leaseSeconds.' seconds'));
        // The lease of another worker is not looked at: nothing starts from processing,
        // since an expired lease proves that its holder is gone and not that it did nothing.
        $taken = $this->run('UPDATE recon_operation
            SET state = \'processing\', attempts = attempts + 1, first_attempt_at = COALESCE(first_attempt_at, ?),
                last_attempt_at = ?, lease_until = ?, lease_holder = ?
            WHERE operation_id = ? AND idempotency_key = ? AND state IN '.self::STARTABLE.'
              AND (next_attempt_at IS NULL OR next_attempt_at <= ?) AND (not_after IS NULL OR not_after > ?)',
            [$now, $now, $until, $holder, $stamp->operationId, $stamp->idempotencyKey, $now, $now]);
        $row = $this->find($stamp->operationId);
        if (null === $row) {
            throw new NotRegistered(sprintf('The register does not hold operation %s: dispatch it through the bus that has RegisterMiddleware, after or in the transaction of its row.', $stamp->operationId));
        }
        $this->mustBeTheSame($stamp, $row);
        if (1 === $taken) {
            return new Claim($stamp->operationId, $holder, (int) $row['attempts']);
        }

        return $this->whyNot($row, $now);
    }

    /** Writes what a call that came back has proven. */
    public function succeed(Claim $claim, Evidence $evidence): void
    {
        $state = $evidence->confirmed ? 'confirmed' : 'awaiting_confirmation';
        $this->transaction(function () use ($claim, $evidence, $state): void {
            $mine = $this->run(<<<'SQL'
                UPDATE recon_operation
                SET state = ?, remote_id = COALESCE(?, remote_id), error_class = 'none', error_code = NULL,
                    lease_until = NULL, lease_holder = NULL, next_attempt_at = NULL, not_after = NULL
                WHERE operation_id = ? AND lease_holder = ? AND state = 'processing'
                SQL, [$state, $evidence->remoteId, $claim->operationId, $claim->holder]);
            if (0 === $mine) {
                // The lease was lost. The effect exists all the same: a planned attempt is called off.
                $this->run(<<<'SQL'
                    UPDATE recon_operation
                    SET remote_id = COALESCE(remote_id, ?),
                        state = CASE WHEN state = 'retry_scheduled' THEN 'awaiting_confirmation' ELSE state END
                    WHERE operation_id = ?
                    SQL, [$evidence->remoteId, $claim->operationId]);
            }
            $this->keep($claim, $state, $evidence->remoteId, null, null, 0 === $mine);
        });
    }

    /** Writes how a call failed. $state is awaiting_confirmation wherever the effect may exist. */
    public function fail(Claim $claim, string $state, string $class, string $code): void
    {
        $code = substr($code, 0, 190);
        $this->transaction(function () use ($claim, $state, $class, $code): void {
            $now = $this->now();
            $mine = $this->run(<<<'SQL'
                UPDATE recon_operation
                SET state = ?, error_class = ?, error_code = ?, first_failed_at = COALESCE(first_failed_at, ?), last_failed_at = ?,
                    lease_until = NULL, lease_holder = NULL, next_attempt_at = NULL
                WHERE operation_id = ? AND lease_holder = ? AND state = 'processing'
                SQL, [$state, $class, $code, $now, $now, $claim->operationId, $claim->holder]);
            $this->keep($claim, $state, null, $class, $code, 0 === $mine);
        });
    }

    /** @return array<string, mixed>|null the row */
    public function find(string $operationId): ?array
    {
        $q = $this->db->prepare('SELECT * FROM recon_operation WHERE operation_id = ?');
        $q->execute([$operationId]);
        $row = $q->fetch(\PDO::FETCH_ASSOC);
        $q->closeCursor();

        return false === $row ? null : $row;
    }

    /** @param array<string, mixed> $row */
    private function whyNot(array $row, string $now): string
    {
        switch ($row['state']) {
            case 'processing':
                return $row['lease_until'] > $now ? 'in_progress' : 'lease_expired';
            case 'awaiting_confirmation':
                return 'outcome_unknown';
            case 'pending':
            case 'retry_scheduled':
                if (null !== $row['not_after'] && $row['not_after'] <= $now) {
                    return 'expired';
                }
                if (null !== $row['next_attempt_at'] && $row['next_attempt_at'] > $now) {
                    throw new TooEarly(sprintf('Operation %s is to be attempted at %s.', $row['operation_id'], $row['next_attempt_at']));
                }

                return 'in_progress'; // it was taken and given back between the two statements
            default:
                return $row['state'];
        }
    }

    /** @param array<string, mixed>|null $row */
    private function mustBeTheSame(OperationStamp $stamp, ?array $row): void
    {
        foreach ([
            'idempotency_key' => $stamp->idempotencyKey, 'type' => $stamp->type, 'entity' => $stamp->entity,
            'version' => $stamp->version, 'amount_minor' => $stamp->amountMinor, 'currency' => $stamp->currency,
        ] as $column => $value) {
            $held = $row[$column] ?? null;
            if ((null === $held ? null : (string) $held) !== (null === $value ? null : (string) $value)) {
                throw new DifferentOperation(sprintf('Operation %s stands in the register with another %s: give the new operation an id of its own.', $stamp->operationId, $column));
            }
        }
    }

    private function keep(Claim $claim, string $outcome, ?string $remoteId, ?string $class, ?string $code, bool $late): void
    {
        $this->run(<<<'SQL'
            INSERT INTO recon_evidence (operation_id, lease_holder, attempt, recorded_at, outcome, remote_id, error_class, error_code, late)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            SQL, [$claim->operationId, $claim->holder, $claim->attempt, $this->now(), $outcome, $remoteId, $class, $code, (int) $late]);
    }

    private function now(): string
    {
        return Instant::text($this->clock->now());
    }

    /** @param list<mixed> $values */
    private function run(string $sql, array $values): int
    {
        $q = $this->db->prepare($sql);
        $q->execute($values);

        return $q->rowCount();
    }

    private function transaction(callable $do): void
    {
        $this->db->beginTransaction();
        try {
            $do();
            $this->db->commit();
        } catch (\Throwable $e) {
            if ($this->db->inTransaction()) {
                $this->db->rollBack();
            }
            throw $e;
        }
    }
}
