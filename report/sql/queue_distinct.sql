-- Reads   items_wide. The distinct amounts by queue and currency, and how often each
--         occurs: where no number of decimals is declared, they are added up outside.
SELECT queue, coalesce(currency, ''), amount, count(*)
FROM items_wide WHERE regexp_full_match(amount, '-?[0-9]+(\.[0-9]+)?')
GROUP BY ALL
