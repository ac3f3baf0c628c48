-- The refused checks of the items. Out: queue, code, items; ordered.
SELECT queue_file, code, count(*) FROM (SELECT queue_file, unnest(string_split(refused, ';')) AS code FROM items WHERE refused <> '')
GROUP BY ALL ORDER BY ALL
