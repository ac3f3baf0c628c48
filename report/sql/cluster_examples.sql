-- Reads   report_cluster_of, report_cluster_rows. The first rows of each cluster.
SELECT p.no, x.o_rid, coalesce(x.o_class, ''), coalesce(x.o_reason, ''), x.r_rid, coalesce(x.r_class, ''), coalesce(x.r_reason, '')
FROM report_cluster_of p JOIN report_cluster_rows x ON x.id = p.id
QUALIFY row_number() OVER (PARTITION BY p.no ORDER BY p.id) <= /*$examples*/
ORDER BY p.no, p.id
