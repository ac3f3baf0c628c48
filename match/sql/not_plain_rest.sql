-- What no key makes plain.
CREATE OR REPLACE TABLE not_plain AS
SELECT * FROM not_plain
WHERE (o_rid IS NULL OR o_rid NOT IN (SELECT o_rid FROM plain_links))
  AND (r_rid IS NULL OR r_rid NOT IN (SELECT r_rid FROM plain_links))
