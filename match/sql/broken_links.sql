-- Pairs under the second identity key of which one row has become residual.
CREATE OR REPLACE TABLE broken_links AS
SELECT o_rid, r_rid FROM plain_links
WHERE o_rid IN (SELECT rid FROM rids_o) OR r_rid IN (SELECT rid FROM rids_r)
