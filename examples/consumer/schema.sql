-- The operation register and what the consumer needs beside it. PostgreSQL 13 or later.

CREATE TABLE IF NOT EXISTS operation (
  operation_id    text PRIMARY KEY,
  idempotency_key text NOT NULL UNIQUE,      -- the same for every attempt
  type            text NOT NULL,
  entity          text NOT NULL,             -- what it is about: an order
  version         bigint NOT NULL DEFAULT 1, -- of the entity, as the operation was asked for
  amount          numeric(18,2) NOT NULL,
  currency        text NOT NULL,
  parameters      jsonb NOT NULL DEFAULT '{}',
  state           text NOT NULL DEFAULT 'pending',
  attempts        bigint NOT NULL DEFAULT 0,
  created_at      timestamptz NOT NULL DEFAULT now(),
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  first_failed_at timestamptz,
  error_class     text NOT NULL DEFAULT 'none',
  lease_holder    text,
  lease_until     timestamptz,
  remote_id       text,                      -- id at the provider, once it is known
  closing_reason  text
);

-- Evidence: what the provider said, by response, webhook or report.
CREATE TABLE IF NOT EXISTS effect (
  remote_id       text PRIMARY KEY,
  idempotency_key text NOT NULL,
  status          text NOT NULL,             -- succeeded, failed
  undone          boolean NOT NULL DEFAULT false,
  seen_at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS effect_key ON effect (idempotency_key);

-- Every item that was decided upon, with the answer that a second delivery gets.
CREATE TABLE IF NOT EXISTS inbox (
  item_id      text PRIMARY KEY,
  run_id       text NOT NULL,
  queue        text NOT NULL,
  operation_id text,
  outcome      text NOT NULL,                -- applied, refused
  why          text NOT NULL DEFAULT '',
  decided_at   timestamptz NOT NULL DEFAULT now()
);

-- Effects that are undone, or about to be: each once, whatever the id of the item.
CREATE TABLE IF NOT EXISTS undo (remote_id text PRIMARY KEY, operation_id text NOT NULL);

-- Items that a later revision withdrew, by the run that had proposed them.
CREATE TABLE IF NOT EXISTS withdrawn (item_id text NOT NULL, run_id text NOT NULL, PRIMARY KEY (item_id, run_id));

CREATE TABLE IF NOT EXISTS approval (item_id text NOT NULL, approver text NOT NULL, PRIMARY KEY (item_id, approver));
