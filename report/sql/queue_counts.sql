-- Reads   items. By queue, class, reason and currency: how many items there are, how
--         many of them are for observation only or deferred, the exact sum of the
--         amounts and how many have one, and the oldest instant.
SELECT queue, CAST(class AS VARCHAR), CAST(reason AS VARCHAR), coalesce(currency, ''), count(*),
       count(*) FILTER (WHERE observe_only), count(*) FILTER (WHERE deferred),
       CAST(sum(value) AS VARCHAR), count(value), min(since_us)
FROM items GROUP BY ALL ORDER BY ALL
