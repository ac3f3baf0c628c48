-- How many free rows of each side stand under each business key. A group is hot
-- when its pairs outnumber its rows by far: those are counted in another way.
CREATE OR REPLACE TABLE key_groups AS
SELECT o.k, (o.n * r.n > 16 * (o.n + r.n)) AS hot
FROM (SELECT /*$k*/ AS k, count(*) AS n FROM free_o WHERE /*$k*/ IS NOT NULL GROUP BY /*$k*/) o
JOIN (SELECT /*$k*/ AS k, count(*) AS n FROM free_r WHERE /*$k*/ IS NOT NULL GROUP BY /*$k*/) r ON o.k = r.k
