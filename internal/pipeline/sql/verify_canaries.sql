-- Planted operations in acting queues. Out: number, an example.
SELECT count(*), min(item_id) FROM items WHERE queue_file <> 'review' AND operation_id IN (/*$ids*/)
