-- Every staged row of one side with its verdict: plain pairs are correct by
-- construction, all others have a row in the verdict table. Those that are plain under
-- the second identity key carry it and their link in plain_links.
CREATE OR REPLACE VIEW /*$view*/ AS
SELECT s.rid, s.file_no, s.rec,
  coalesce(v.class, CAST('correct' AS verdict_class)) AS class,
  coalesce(v.reason, CAST('equal' AS verdict_reason)) AS reason,
  CASE WHEN v.rid IS NULL THEN /*$plain_pass*/ ELSE v.pass_name END AS pass,
  CASE WHEN v.rid IS NULL THEN /*$plain_link*/ ELSE v.link END AS link,
  CASE WHEN v.rid IS NULL OR v.once THEN CAST('proven' AS verdict_once) WHEN v.once IS NOT NULL THEN CAST('not_proven' AS verdict_once) END AS once,
  coalesce(v.in_period, true) AS in_period
FROM /*$side*/ s
LEFT JOIN (
  SELECT rid, class, reason, CAST(/*$pass_name*/ AS pass_name) AS pass_name, link, once, in_period FROM /*$verdicts*/
  UNION ALL
  SELECT /*$link_rid*/, CAST('correct' AS verdict_class), CAST('equal' AS verdict_reason), CAST(/*$pass_name*/ AS pass_name), link, true, true FROM plain_links) v ON v.rid = s.rid
