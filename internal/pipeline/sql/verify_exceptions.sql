-- Exceptions of another verdict or link than their rows have, rows that belong among
-- the exceptions and are not there, and rows there that are none. Out: number, an example.
SELECT CAST(coalesce(sum(n), 0) AS BIGINT), min(place) FROM (
  SELECT 1 AS n, e./*$s*/_file || ' record ' || e./*$s*/_record AS place
  FROM exceptions e LEFT JOIN /*$rows*/ w ON w.source = e./*$s*/_source AND w.file = e./*$s*/_file AND w.record = e./*$s*/_record
  WHERE e./*$s*/_record IS NOT NULL AND (w.class IS DISTINCT FROM e./*$s*/_class OR w.reason IS DISTINCT FROM e./*$s*/_reason OR w.in_period <> e.in_period
    OR w.link <> e.link)
  UNION ALL
  SELECT 1, w.file || ' record ' || w.record
  FROM /*$rows*/ w ANTI JOIN exceptions e ON w.source = e./*$s*/_source AND w.file = e./*$s*/_file AND w.record = e./*$s*/_record
  WHERE NOT ((w.class = 'correct' AND w.reason = 'equal') OR (w.class = 'not_applicable' AND NOT w.in_period)))
