-- Reads   links. Writes times: by metric (attempt, creation, excess, and lease, duration of
--         those with a lease), the microseconds of every link for the groups that it
--         belongs to: its type, its type and account, its type, account and weekday.
--         What is '' or -1 is not told apart.
CREATE OR REPLACE TABLE times AS
WITH measured AS (
  SELECT 'creation' AS metric, type, account, weekday, result_us - created_us AS us FROM links
  UNION ALL
  SELECT 'attempt', type, account, weekday, result_us - coalesce(last_us, created_us) FROM links
  WHERE last_us IS NULL OR last_us <= result_us + /*$skew*/
  UNION ALL
  SELECT 'excess', type, account, weekday, result_us - due_us FROM links WHERE due_us IS NOT NULL
  UNION ALL
  SELECT 'lease', type, account, weekday, lease_us - last_us FROM links WHERE lease_us > last_us AND last_us <= result_us + /*$skew*/
  UNION ALL
  SELECT 'duration', type, account, weekday, result_us - last_us FROM links WHERE lease_us > last_us AND last_us <= result_us + /*$skew*/
)
SELECT metric, type, '' AS account, -1 AS weekday, us FROM measured
UNION ALL
SELECT metric, type, account, -1, us FROM measured
UNION ALL
SELECT metric, type, account, weekday, us FROM measured WHERE metric NOT IN ('lease', 'duration')
