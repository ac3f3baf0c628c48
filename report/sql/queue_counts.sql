-- Reads   items; outages where a source proves nothing for some time. By queue, class,
--         reason, currency, and whether they are for observation only: how many items
--         there are, how many of them are for observation only or deferred, the exact sum
--         of the amounts and how many have one, and the oldest instant.
SELECT queue, CAST(class AS VARCHAR), CAST(reason AS VARCHAR), coalesce(currency, ''), count(*),
       count(*) FILTER (WHERE observe_only), count(*) FILTER (WHERE deferred),
       CAST(sum(value) AS VARCHAR), count(value), /*$oldest*/
FROM items GROUP BY queue, class, reason, coalesce(currency, ''), coalesce(observe_only, false) ORDER BY ALL
