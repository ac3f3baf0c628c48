-- Rule 4 of design §3 in links.parquet: results with two links, or several operations but
-- in a group, operations with two links, and links that the rows themselves do not show. Out: number, an example.
SELECT CAST(coalesce(sum(n), 0) AS BIGINT), min(place) FROM (
  SELECT 1 AS n, r_file || ' record ' || r_record AS place FROM links GROUP BY r_source, r_file, r_record
  HAVING count(DISTINCT link) > 1 OR count(*) FILTER (WHERE CAST(pass AS VARCHAR) NOT IN (/*$groups*/)) > 1
  UNION ALL
  SELECT 1, o_file || ' record ' || o_record FROM links GROUP BY o_source, o_file, o_record HAVING count(DISTINCT link) > 1
  UNION ALL
  SELECT 1, l.o_file || ' record ' || l.o_record FROM links l
  LEFT JOIN operations o ON o.source = l.o_source AND o.file = l.o_file AND o.record = l.o_record
  WHERE o.link IS DISTINCT FROM l.link
  UNION ALL
  SELECT 1, l.r_file || ' record ' || l.r_record FROM links l
  LEFT JOIN results r ON r.source = l.r_source AND r.file = l.r_file AND r.record = l.r_record
  WHERE r.class IS NULL OR r.link <> l.link)
