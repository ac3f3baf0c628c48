-- Reads   items. The exact sum of the amounts by queue and currency. A cast alone
--         would round, and reads exponents: what has other characters than digits,
--         sign and mark, or more decimals than declared, is no amount. Reading 128
--         bits takes fifty times as long as reading 64, so that short texts do not.
SELECT queue, coalesce(currency, ''), CAST(sum(value) AS VARCHAR), count(value)
FROM (
  SELECT queue, currency,
         CASE WHEN translate(amount, '0123456789.-', '') = ''
               AND (strpos(amount, '.') = 0 OR length(amount) - strpos(amount, '.') <= /*$scale*/)
              THEN CASE WHEN length(amount) <= /*$short*/ THEN CAST(TRY_CAST(amount AS DECIMAL(18,/*$short_scale*/)) AS DECIMAL(38,/*$scale*/))
                        ELSE TRY_CAST(amount AS DECIMAL(38,/*$scale*/)) END
         END AS value
  FROM items)
GROUP BY ALL HAVING count(value) > 0
