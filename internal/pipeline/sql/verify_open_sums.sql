-- The open items by currency and since when, equal amounts together. Out: currency, since,
-- since_before, amount, items; ordered.
SELECT currency, since, since_before, coalesce(amount, '0'), count(*) FROM read_parquet(/*$open*/)
GROUP BY ALL ORDER BY ALL
