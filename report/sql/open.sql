-- Reads   items; outages; items_wide where the job declares no number of decimals.
-- Writes  report_open: the open items, those of every queue but confirm, with their
--         number within the case and the text of the exact amount; small beside the rows.
CREATE OR REPLACE TABLE report_open AS
SELECT case_id, row_number() OVER (PARTITION BY case_id ORDER BY CAST(queue AS VARCHAR), item_id) AS no,
  CAST(queue AS VARCHAR) AS queue, CAST(class AS VARCHAR) AS class, CAST(reason AS VARCHAR) AS reason,
  coalesce(CAST(currency AS VARCHAR), '') AS currency, /*$amount*/ AS amount,
  since_us, item_id IN (SELECT item_id FROM outages) AS waiting
FROM /*$items*/
WHERE queue <> 'confirm'
