-- Reads   items. How many there are by queue, class and reason, and how many of them
--         are for observation only or deferred.
SELECT queue, CAST(class AS VARCHAR), CAST(reason AS VARCHAR), count(*),
       count(*) FILTER (WHERE observe_only), count(*) FILTER (WHERE deferred)
FROM items GROUP BY ALL
