-- The readable amounts of the items, equal ones together. Out: queue, currency, amount,
-- items; ordered.
SELECT queue_file, coalesce(currency, ''), amount, count(*) FROM items
WHERE regexp_full_match(amount, '-?[0-9]+(\.[0-9]+)?')
GROUP BY ALL ORDER BY ALL
