-- Which member of a group that differs would close it, absent or there twice; where there
-- is none, which two of one side. A hint for people: nothing is linked by it. Equal values
-- of a group are looked at as one, so that pairs are found by an equality and not by trying
-- them all. ways is how many choices there are; the first by fingerprint is shown.
CREATE OR REPLACE TABLE group_hints AS
WITH open_groups AS (
  SELECT grp, r_total - o_total AS d FROM group_verdicts
  WHERE verdict IN ('divergent/amount_group_differs', 'divergent/incomplete_group') AND r_total <> o_total),
vals AS (
  SELECT m.grp, m.side, m.value, g.d, count(*) AS n, arg_min(m.rid, (m.w1, m.rid)) AS rid, min(m.w1) AS w1,
    -- Of two equal ones the second.
    list_extract(list(m.rid ORDER BY m.w1, m.rid), 2) AS twin
  FROM group_members m JOIN open_groups g ON g.grp = m.grp WHERE m.value <> 0 GROUP BY m.grp, m.side, m.value, g.d),
-- What the sum of the results lacks an operation has too much, and the reverse.
wanted AS (
  SELECT *, CASE WHEN side = 'operations' THEN -d ELSE d END AS spare, CASE WHEN side = 'operations' THEN d ELSE -d END AS more FROM vals),
single AS (
  SELECT grp, CASE WHEN value = spare THEN 0 ELSE 1 END AS doubled, side, rid, CAST(NULL AS BIGINT) AS other, w1, n AS ways
  FROM wanted WHERE value = spare OR value = more),
pair AS (
  SELECT a.grp, a.doubled, a.side, a.rid, CASE WHEN a.value = b.value THEN a.twin ELSE b.rid END AS other, a.w1,
    CASE WHEN a.value = b.value THEN a.n * (a.n - 1) // 2 ELSE a.n * b.n END AS ways
  FROM (SELECT *, unnest([0, 1]) AS doubled FROM wanted WHERE grp NOT IN (SELECT grp FROM single)) a
  JOIN wanted b ON b.grp = a.grp AND b.side = a.side AND b.value = CASE a.doubled WHEN 0 THEN a.spare ELSE a.more END - a.value
  WHERE a.value < b.value OR (a.value = b.value AND a.n > 1)),
choices AS (SELECT * FROM single UNION ALL SELECT * FROM pair)
SELECT grp, arg_min(doubled, (doubled, side, w1)) AS doubled, arg_min(side, (doubled, side, w1)) AS side, arg_min(rid, (doubled, side, w1)) AS rid,
  arg_min(other, (doubled, side, w1)) AS other, CAST(sum(ways) AS BIGINT) AS ways
FROM choices GROUP BY grp
