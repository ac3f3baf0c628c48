-- How many sampled values each field of the operations has in common with each of the results.
SELECT o.field, r.field, count(*) AS n
FROM (SELECT field, k FROM sampled WHERE side = 0) o
JOIN (SELECT field, k FROM sampled WHERE side = 1) r ON o.k = r.k
GROUP BY o.field, r.field ORDER BY n DESC, o.field, r.field
