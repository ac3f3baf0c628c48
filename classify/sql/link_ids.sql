-- The links with their ids, those of groups too.
CREATE OR REPLACE TABLE links AS
SELECT o_rid, r_rid, pass, settled, partner, link, differing FROM linked
/*$groups*/
