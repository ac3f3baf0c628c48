-- V34: requeues that go within one period of the retry budget after the one that has its
-- last place there. Out: number, an example.
SELECT count(*), min(item_id) FROM (
  SELECT item_id, epoch_us(goes) - epoch_us(lag(goes, /*$rows*/) OVER (ORDER BY goes, item_id)) AS since
  FROM (SELECT item_id, TRY_CAST(next_attempt_at AS TIMESTAMP) AS goes FROM items WHERE queue_file = 'requeue' AND NOT coalesce(observe_only, false)))
WHERE since < /*$per*/
