-- What was archived before the day.
SELECT id, amount
FROM archive
WHERE day < :business_date;
