-- V5: several records of one record id with other content. With a survivor rule
-- the unique greatest one stands and the others are superseded; without a rule, or
-- on a tie, all of them are conflicting.
INSERT INTO /*$marks*/
SELECT x.rid, 'duplicate',
       CASE WHEN d.greatest IS NOT NULL AND d.at_greatest = 1 THEN 'superseded_attempt' ELSE 'conflicting_copies' END,
       NULL, NULL
FROM (SELECT rid, /*$key*/ AS k, /*$latest*/ AS latest FROM /*$contested*/ WHERE /*$key*/ IS NOT NULL AND rid NOT IN (SELECT rid FROM /*$marks*/)) x
JOIN (
  SELECT k, max(greatest) AS greatest, CAST(sum(CASE WHEN latest = greatest THEN 1 ELSE 0 END) AS BIGINT) AS at_greatest
  FROM (SELECT k, latest, max(latest) OVER (PARTITION BY k) AS greatest, count(*) OVER (PARTITION BY k) AS n
        FROM (SELECT /*$key*/ AS k, /*$latest*/ AS latest FROM /*$contested*/ WHERE /*$key*/ IS NOT NULL AND rid NOT IN (SELECT rid FROM /*$marks*/)))
  WHERE n > 1 GROUP BY k) d
  ON x.k = d.k
WHERE NOT (d.greatest IS NOT NULL AND d.at_greatest = 1 AND x.latest IS NOT NULL AND x.latest = d.greatest)
