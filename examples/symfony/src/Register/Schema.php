<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Register;

/** The tables of the bundle, in SQL that SQLite (3.39 or later) and PostgreSQL read alike. */
final class Schema
{
    /** @return list<string> one statement each; running them again changes nothing */
    public static function statements(): array
    {
        return [
            // The operations. Instants are texts of fixed width, see Instant.
            <<<'SQL'
            CREATE TABLE IF NOT EXISTS recon_operation (
              operation_id    VARCHAR(190) NOT NULL PRIMARY KEY,
              idempotency_key VARCHAR(190) NOT NULL UNIQUE,
              type            VARCHAR(190) NOT NULL,
              entity          VARCHAR(190) NOT NULL,
              version         BIGINT,
              amount_minor    BIGINT,
              currency        VARCHAR(3),
              state           VARCHAR(32)  NOT NULL,
              attempts        BIGINT       NOT NULL,
              created_at      VARCHAR(27)  NOT NULL,
              first_attempt_at VARCHAR(27),
              last_attempt_at VARCHAR(27),
              next_attempt_at VARCHAR(27),
              not_after       VARCHAR(27),
              lease_until     VARCHAR(27),
              lease_holder    VARCHAR(190),
              remote_id       VARCHAR(190),
              error_class     VARCHAR(32),
              error_code      VARCHAR(190),
              first_failed_at VARCHAR(27),
              last_failed_at  VARCHAR(27),
              closing_reason  VARCHAR(190),
              message         TEXT
            )
            SQL,
            'CREATE INDEX IF NOT EXISTS recon_operation_created ON recon_operation (created_at, operation_id)',
            // What each attempt came to, never changed: evidence of a worker that came
            // back late is here although the row had moved on.
            <<<'SQL'
            CREATE TABLE IF NOT EXISTS recon_evidence (
              operation_id VARCHAR(190) NOT NULL,
              lease_holder VARCHAR(190) NOT NULL,
              attempt      BIGINT       NOT NULL,
              recorded_at  VARCHAR(27)  NOT NULL,
              outcome      VARCHAR(32)  NOT NULL,
              remote_id    VARCHAR(190),
              error_class  VARCHAR(32),
              error_code   VARCHAR(190),
              late         BIGINT       NOT NULL,
              PRIMARY KEY (operation_id, lease_holder)
            )
            SQL,
            // What became of the queue items. The id of an item is the lock.
            <<<'SQL'
            CREATE TABLE IF NOT EXISTS recon_inbox (
              item_id       VARCHAR(190) NOT NULL PRIMARY KEY,
              run_id        VARCHAR(190) NOT NULL,
              queue         VARCHAR(32)  NOT NULL,
              operation_id  VARCHAR(190) NOT NULL,
              result        VARCHAR(32)  NOT NULL,
              applied_at    VARCHAR(27)  NOT NULL,
              dispatched_at VARCHAR(27)
            )
            SQL,
            // Items that a later run has taken back.
            <<<'SQL'
            CREATE TABLE IF NOT EXISTS recon_withdrawn (
              run_id  VARCHAR(190) NOT NULL,
              item_id VARCHAR(190) NOT NULL,
              PRIMARY KEY (run_id, item_id)
            )
            SQL,
        ];
    }

    public static function create(\PDO $db): void
    {
        foreach (self::statements() as $sql) {
            $db->exec($sql);
        }
    }
}
