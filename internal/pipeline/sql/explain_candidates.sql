-- How many rows of a side satisfy a condition, and how many of them were still free
-- when a pass began. A row that is not residual was linked by the first pass that links
-- plain pairs. Out: two numbers.
SELECT count(*), count(*) FILTER (WHERE coalesce(c.since, CASE WHEN x.rid IS NULL THEN /*$plain*/ ELSE 999 END) >= /*$pass*/)
FROM (SELECT rid FROM /*$side*/ s WHERE /*$condition*/) s
LEFT JOIN /*$claimed*/ c ON c.rid = s.rid
LEFT JOIN /*$residual*/ x ON x.rid = s.rid
