-- What stands about an operation: its verdict, and the queues of its items.
SELECT CAST(v.class AS VARCHAR), CAST(v.reason AS VARCHAR),
  coalesce((SELECT string_agg(DISTINCT CAST(i.queue AS VARCHAR), '+' ORDER BY CAST(i.queue AS VARCHAR)) FROM items i WHERE i.o_rid = v.rid), '')
FROM rows_operations v WHERE v.rid = /*$rid*/
