-- Reads   items_wide. The distinct amounts by queue, currency, and whether the item is for
--         observation only, and how often each occurs: where no number of decimals is
--         declared, they are added up outside.
SELECT queue, coalesce(currency, ''), amount, coalesce(observe_only, false), count(*)
FROM items_wide WHERE regexp_full_match(amount, '-?[0-9]+(\.[0-9]+)?')
GROUP BY ALL
