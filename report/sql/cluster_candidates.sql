-- Reads   report_cluster_rows, report_cluster_marks. The marks that enough exceptions of
--         one class have: at least so many, and at least that share of the class. What the
--         rows say comes before where they stand, then the most rows.
SELECT m.class, m.c, m.k, min(m.w), count(*) AS n, any_value(t.n) AS total
FROM report_cluster_marks m JOIN (SELECT class, count(*) AS n FROM report_cluster_rows GROUP BY ALL) t ON t.class = m.class
GROUP BY m.class, m.c, m.k
HAVING count(*) >= /*$least*/ AND count(*) * 100 >= any_value(t.n) * CASE WHEN m.c < /*$places*/ THEN /*$share*/ ELSE /*$place_share*/ END
ORDER BY m.c >= /*$places*/, n DESC, m.c, m.class, m.k
LIMIT /*$limit*/
