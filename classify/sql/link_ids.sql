-- The links with their ids.
CREATE OR REPLACE TABLE links AS
SELECT o_rid, r_rid, pass, settled, partner, link, differing FROM linked
