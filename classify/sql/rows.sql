-- Every staged row of one side with its verdict: plain pairs are correct by
-- construction, all others are among the judged ones.
CREATE OR REPLACE VIEW /*$view*/ AS
SELECT s.rid, s.file_no, s.rec,
  coalesce(v.class, CAST('correct' AS verdict_class)) AS class,
  coalesce(v.reason, CAST('equal' AS verdict_reason)) AS reason,
  CASE WHEN v.rid IS NULL THEN /*$plain_pass*/ ELSE v.pass END AS pass,
  CASE WHEN v.rid IS NULL THEN /*$plain_link*/ ELSE v.link END AS link,
  CASE WHEN v.rid IS NULL THEN CAST('proven' AS verdict_once) ELSE v.once END AS once,
  coalesce(v.in_period, true) AS in_period
FROM /*$side*/ s
LEFT JOIN /*$judged*/ v ON v.rid = s.rid
