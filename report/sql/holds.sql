-- Reads   obstacles, items_wide, res_o, res_r. What holds the rows that are not decided,
--         or not acted on: by obstacle and currency the rows that it alone holds, how many
--         of them have a readable amount, and its exact sum. The largest sum of each
--         currency come in turns; several and other come last, and past the limit
--         the obstacles of one code are one.
WITH held AS (
  SELECT b.code, b.no, /*$what*/ AS what, coalesce(/*$o_currency*/, /*$r_currency*/, '') AS currency,
         CASE WHEN b.o_rid IS NOT NULL THEN /*$o_value*/ ELSE /*$r_value*/ END AS value, b.o_rid, b.r_rid
  FROM obstacles b LEFT JOIN res_o o ON o.rid = b.o_rid LEFT JOIN res_r r ON r.rid = b.r_rid
  WHERE /*$counted*/
  UNION ALL
  -- What is decided and not acted on, since a check of the guard refused it. An item of
  -- what is not decided or not readable is above.
  SELECT CASE WHEN contains(i.refused, ';') THEN 'several' ELSE i.refused END, NULL, CASE WHEN NOT contains(i.refused, ';') THEN /*$type*/ END,
         coalesce(i.currency, ''), /*$item_value*/, i.o_rid, i.r_rid
  FROM items_wide i
  WHERE i.refused <> '' AND CAST(i.class AS VARCHAR) <> 'ambiguous' AND CAST(i.reason AS VARCHAR) <> 'value_unreadable'
), sums AS (
  SELECT code, no, what, currency, count(*) AS n, count(value) AS valued, sum(value) AS amount, min(o_rid) AS o_rid, min(r_rid) FILTER (WHERE o_rid IS NULL) AS r_rid
  FROM held GROUP BY ALL
), ranked AS (
  SELECT *, sum(n) OVER (PARTITION BY code, no, what) AS rows,
         row_number() OVER (PARTITION BY currency ORDER BY abs(coalesce(amount, 0)) DESC, n DESC, code, no, what) AS rank
  FROM sums
), placed AS (
  SELECT *, min(rank) OVER (PARTITION BY code, no, what) AS best FROM ranked
), ordered AS (
  SELECT *, dense_rank() OVER (ORDER BY CASE code WHEN 'several' THEN 2 WHEN 'other' THEN 1 ELSE 0 END, best, rows DESC, code, no, what) AS place FROM placed
), folded AS (
  SELECT CASE WHEN place > /*$limit*/ THEN 'more' ELSE code END AS kind, CASE WHEN place > /*$limit*/ AND code NOT IN ('several', 'other') THEN NULL ELSE no END AS spot,
         CASE WHEN place <= /*$limit*/ THEN what END AS text, least(place, /*$limit*/ + 1) AS line, currency, n, valued, amount, o_rid, r_rid
  FROM ordered
)
SELECT line, kind, spot, text, currency, CAST(sum(n) AS BIGINT), CAST(sum(valued) AS BIGINT), CAST(sum(amount) AS VARCHAR), min(o_rid), min(r_rid)
FROM folded GROUP BY ALL ORDER BY line, currency
