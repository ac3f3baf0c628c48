-- Reads   report_cluster_chosen. Makes report_cluster_of: each exception with the best
--         candidate that is left.
CREATE OR REPLACE TABLE report_cluster_of AS
SELECT id, min(no) AS no FROM report_cluster_chosen WHERE no IN (/*$left*/) GROUP BY id
