-- Every staged row of one side with its verdict: plain pairs are correct by
-- construction, all others have a row in the verdict table.
CREATE OR REPLACE VIEW /*$view*/ AS
SELECT s.rid, s.file_no, s.rec,
  coalesce(v.class, CAST('correct' AS verdict_class)) AS class,
  coalesce(v.reason, CAST('equal' AS verdict_reason)) AS reason,
  CASE WHEN v.rid IS NULL THEN /*$plain_pass*/ ELSE v.pass_name END AS pass,
  CASE WHEN v.rid IS NULL THEN /*$plain_link*/ ELSE v.link END AS link,
  CASE WHEN v.rid IS NULL THEN 'proven' WHEN v.once THEN 'proven' WHEN v.once IS NOT NULL THEN 'not_proven' END AS once,
  coalesce(v.in_period, true) AS in_period
FROM /*$side*/ s
LEFT JOIN (SELECT *, CAST(/*$pass_name*/ AS pass_name) AS pass_name FROM /*$verdicts*/) v ON v.rid = s.rid
