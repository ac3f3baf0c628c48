-- Which of the contradicting fields are filled, by bits, on each side.
SELECT DISTINCT side, bits FROM (
  SELECT 0 AS side, /*$bits*/ AS bits FROM unserved
  UNION ALL
  SELECT 1, /*$bits*/ FROM strays)
