-- V32: rows that need a person, neither with an item of their own nor in a set or a group
-- that has one. Proposals to act may be withheld; review never is. Out: number, an example.
SELECT count(*), min(place) FROM (
  SELECT e.o_file || ' record ' || e.o_record AS place FROM exceptions e
  WHERE e.o_class IN ('divergent', 'ambiguous') AND e.o_reason <> 'duplicate_effect' AND coalesce(e.set_id NOT IN (SELECT set_id FROM items WHERE set_id IS NOT NULL), true)
    AND NOT EXISTS (SELECT 1 FROM items i WHERE i.o_source = e.o_source AND i.o_file = e.o_file AND i.o_record = e.o_record)
    AND NOT (CAST(e.pass AS VARCHAR) IN (/*$groups*/) AND e.link IN (
      SELECT o.link FROM items i JOIN operations o ON o.source = i.o_source AND o.file = i.o_file AND o.record = i.o_record WHERE o.link IS NOT NULL))
  UNION ALL
  SELECT e.r_file || ' record ' || e.r_record FROM exceptions e
  WHERE e.o_record IS NULL AND e.r_class IN ('unexpected', 'ambiguous') AND coalesce(e.set_id NOT IN (SELECT set_id FROM items WHERE set_id IS NOT NULL), true)
    AND NOT EXISTS (SELECT 1 FROM items i WHERE i.r_source = e.r_source AND i.r_file = e.r_file AND i.r_record = e.r_record))
