-- V11: all rows under the key are one unresolved set.
INSERT INTO edges
SELECT 2 * r_rid + 1, -1 - CAST(hash('key', /*$pass*/, k) >> 2 AS BIGINT) FROM hits WHERE n > 1
UNION ALL
SELECT 2 * rid, -1 - CAST(hash('key', /*$pass*/, /*$k*/) >> 2 AS BIGINT) FROM free_o WHERE /*$k*/ IN (SELECT k FROM hits WHERE n > 1)
