-- Values that stand for "no value" by their looks and in several rows, most frequent first.
SELECT k, count(*) AS n
FROM (SELECT /*$k*/ AS k FROM /*$side*/)
WHERE lower(trim(k)) IN (/*$words*/) OR regexp_full_match(trim(k), '[-0_.?*# ]+|[xX]{2,}|9{6,}')
GROUP BY k HAVING count(*) > 1 ORDER BY n DESC, k LIMIT 3
