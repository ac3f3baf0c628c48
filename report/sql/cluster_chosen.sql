-- Reads   report_cluster_marks. Makes report_cluster_chosen: the exceptions of each
--         candidate, by its number, the best first.
CREATE OR REPLACE TABLE report_cluster_chosen AS
SELECT m.id, c.no FROM report_cluster_marks m JOIN (VALUES /*$candidates*/) c(no, class, c, k) ON c.class = m.class AND c.c = m.c AND c.k = m.k
