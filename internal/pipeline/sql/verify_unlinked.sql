-- Rule 4 of design §3: rows whose class needs a link and that have none, or that have one
-- although their class says that nothing is there. Out: number, an example.
SELECT count(*), min(place) FROM (
  SELECT file || ' record ' || record AS place FROM operations
  WHERE (class IN ('correct', 'divergent') AND link IS NULL) OR ((reason = 'no_result' OR class = 'duplicate') AND link IS NOT NULL)
  UNION ALL
  SELECT file || ' record ' || record FROM results
  WHERE (class IN ('correct', 'divergent') AND link IS NULL) OR (class = 'unexpected' AND link IS NOT NULL))
