<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Export;

use ReconBatch\Messenger\Clock;
use ReconBatch\Messenger\Instant;

/**
 * Writes the register as the CSV file that job.yaml reads: a header, a record D for
 * each operation, and a trailer T with their number. A reader never sees half of it:
 * the file is written beside its name and renamed once it is whole and on the disk.
 */
final class RegisterExport
{
    public const COLUMNS = [
        'operation_id', 'idempotency_key', 'type', 'entity', 'version', 'amount_minor', 'currency', 'state', 'attempts',
        'created_at', 'first_attempt_at', 'last_attempt_at', 'next_attempt_at', 'lease_until', 'lease_holder', 'remote_id',
        'error_class', 'error_code', 'first_failed_at', 'last_failed_at', 'closing_reason',
    ];

    public function __construct(private readonly \PDO $db, private readonly Clock $clock)
    {
    }

    /**
     * @param \DateTimeInterface $from  first instant of created_at, included
     * @param \DateTimeInterface $until first instant after it
     *
     * @return int number of operations
     */
    public function write(string $path, \DateTimeInterface $from, \DateTimeInterface $until): int
    {
        if ($until > $this->clock->now()) {
            throw new \InvalidArgumentException(sprintf('The time until %s is not over: operations would be missing, and their effects would look unexpected.', Instant::text($until)));
        }
        $temporary = sprintf('%s/.%s.tmp-%s', dirname($path), basename($path), bin2hex(random_bytes(4)));
        $out = fopen($temporary, 'xb');
        if (false === $out) {
            throw new \RuntimeException(sprintf('%s cannot be written: does its folder exist?', $temporary));
        }
        try {
            $count = $this->copy($out, $from, $until);
            if (!fflush($out) || !fsync($out) || !fclose($out) || !rename($temporary, $path)) {
                throw new \RuntimeException(sprintf('%s cannot be written to the disk.', $path));
            }
        } catch (\Throwable $e) {
            is_resource($out) && fclose($out);
            @unlink($temporary);
            throw $e;
        }

        return $count;
    }

    /** @param resource $out */
    private function copy($out, \DateTimeInterface $from, \DateTimeInterface $until): int
    {
        // One statement is one snapshot, on SQLite and on PostgreSQL.
        // The message is named, not written: it may hold personal data.
        $q = $this->db->prepare('SELECT '.implode(', ', self::COLUMNS).', CASE WHEN message IS NOT NULL THEN operation_id END FROM recon_operation
            WHERE created_at >= ? AND created_at < ? ORDER BY operation_id');
        $exported = Instant::text($this->clock->now());
        $q->execute([Instant::text($from), Instant::text($until)]);
        self::line($out, ['row', ...self::COLUMNS, 'payload_ref', 'exported_at']);
        for ($n = 0; $row = $q->fetch(\PDO::FETCH_NUM); ++$n) {
            self::line($out, ['D', ...$row, $exported]);
        }
        self::line($out, ['T', $n]);

        return $n;
    }

    /**
     * @param resource    $out
     * @param list<mixed> $fields
     */
    private static function line($out, array $fields): void
    {
        if (false === fputcsv($out, $fields, ',', '"', '', "\n")) {
            throw new \RuntimeException('The disk is full, or the file was taken away.');
        }
    }
}
