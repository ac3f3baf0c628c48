-- Reads   items. How many items each check refused, by queue and code.
SELECT queue, code, count(*)
FROM (SELECT queue, unnest(string_split(refused, ';')) AS code FROM items WHERE refused <> '')
GROUP BY ALL ORDER BY ALL
