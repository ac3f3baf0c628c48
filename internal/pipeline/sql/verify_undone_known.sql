-- V31: those of them whose id at the provider former runs had read, by the first half of
-- its fingerprint. Out: number, an example.
SELECT count(DISTINCT i.item_id), min(i.item_id)
FROM read_parquet([/*$files*/]) f
JOIN (SELECT item_id, CAST('0x' || left(sha256(remote_id), 16) AS UBIGINT) AS fingerprint FROM items
      WHERE queue_file = 'compensate' AND class = 'unexpected' AND starts_with(rule, 'types.')) i ON i.fingerprint = f.fingerprint
WHERE f.key = /*$key*/
