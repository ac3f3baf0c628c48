-- V14: free rows that only their identity keys keep apart.
CREATE OR REPLACE TABLE contradicted AS
SELECT o_rid, r_rid, contradicted FROM candidates
WHERE contradicted
  AND o_rid NOT IN (SELECT rid FROM marks_o) AND o_rid NOT IN (SELECT o_rid FROM links)
  AND r_rid NOT IN (SELECT rid FROM marks_r) AND r_rid NOT IN (SELECT r_rid FROM links)
