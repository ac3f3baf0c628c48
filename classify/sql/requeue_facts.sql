-- V30: for each proven absence the checks that fail, as bits, and its times.
CREATE OR REPLACE TABLE requeue_facts AS
WITH a AS (
  SELECT v.rid, CAST(v.reason AS VARCHAR) AS reason, o.* EXCLUDE (rid) FROM verdicts_o v JOIN res_o o ON o.rid = v.rid WHERE v.class = 'absent'),
t AS (
  SELECT o.rid, /*$next*/ AS next_us, /*$first_use*/ + /*$ttl*/ AS key_end_us, /*$first_failed*/ + /*$max_duration*/ AS duration_end_us FROM a o)
SELECT o.rid, t.next_us, least(t.key_end_us, t.duration_end_us, /*$proof_end*/) AS expiry_us,
  /*$checks*/ AS failed
FROM a o JOIN t ON t.rid = o.rid/*$joins*/
