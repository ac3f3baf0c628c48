-- The verdicts of all rows of one side but those that are plain under the first key,
-- as they are shown.
CREATE OR REPLACE VIEW /*$judged*/ AS
SELECT rid, class, reason, CAST(/*$pass_name*/ AS pass_name) AS pass, link,
  CASE WHEN once THEN CAST('proven' AS verdict_once) WHEN once IS NOT NULL THEN CAST('not_proven' AS verdict_once) END AS once, in_period
FROM /*$verdicts*/
UNION ALL
SELECT /*$link_rid*/, CAST('correct' AS verdict_class), CAST('equal' AS verdict_reason), CAST(/*$pass_name*/ AS pass_name), link, CAST('proven' AS verdict_once), true
FROM plain_links
