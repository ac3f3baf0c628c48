-- Reads   report_cluster_of, report_cluster_rows. The clusters by currency: rows, how many
--         have a readable amount, the larger amounts of both sides and the differences,
--         added up exactly; and of each file number of either side the smallest, the
--         largest, how many rows have one and the first record.
SELECT p.no, coalesce(x.currency, ''), count(*), count(x.value), CAST(sum(x.value) AS VARCHAR), count(x.difference), CAST(sum(x.difference) AS VARCHAR),
       count(x.o_rid), min(x.o_rid >> 40), max(x.o_rid >> 40), min(x.o_rid & 1099511627775),
       count(x.r_rid), min(x.r_rid >> 40), max(x.r_rid >> 40), min(x.r_rid & 1099511627775)
FROM report_cluster_of p JOIN report_cluster_rows x ON x.id = p.id
GROUP BY 1, 2 ORDER BY 1, 2
