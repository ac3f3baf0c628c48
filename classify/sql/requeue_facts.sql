-- V30: for each proven absence the checks that fail and the allowances that a release
-- lifts, as bits, and its times. The key is used a second before its end at the latest,
-- so that an item ends before its key does.
CREATE OR REPLACE TABLE requeue_facts AS
WITH a AS (
  SELECT v.rid, CAST(v.reason AS VARCHAR) AS reason, o.* EXCLUDE (rid) FROM verdicts_o v JOIN res_o o ON o.rid = v.rid WHERE v.class = 'absent'),
t AS (
  SELECT o.rid, /*$next*/ AS next_us, /*$first_use*/ + /*$ttl*/ - 1000000 AS key_end_us, /*$first_failed*/ + /*$max_duration*/ AS duration_end_us,
    /*$payload_end*/ AS payload_end_us, CAST(/*$proof_end*/ AS BIGINT) AS proof_end_us,
    /*$more_attempts*/ AS more_attempts, /*$more_duration*/ AS more_duration, /*$release_end*/ AS release_end_us, /*$release*/ AS release
  FROM a o),
c AS (
  SELECT o.rid, t.next_us, t.key_end_us, t.duration_end_us, t.payload_end_us, t.proof_end_us, t.more_duration, t.release_end_us, t.release,
    /*$overtaken_by*/ AS newest_rid, /*$checks*/ AS failed, /*$lifted*/ AS lifted
  FROM a o JOIN t ON t.rid = o.rid/*$joins*/)
SELECT rid, next_us, newest_rid, failed, lifted,
  -- An allowance that is not used up needs no release.
  CASE WHEN failed & lifted <> 0 THEN release END AS release,
  least(key_end_us, duration_end_us + CASE WHEN failed & lifted & /*$duration_bit*/ <> 0 THEN more_duration ELSE 0 END,
    payload_end_us, proof_end_us, CASE WHEN failed & lifted <> 0 THEN release_end_us END) AS expiry_us,
  -- Before it is asked whether two operations for one thing could both be sent.
  (failed & ~(lifted & /*$allowances*/)) = 0 AS sendable
FROM c
