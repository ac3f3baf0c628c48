-- The plain mates of touched rows under the first identity key.
INSERT INTO /*$rids*/
SELECT rid FROM /*$side*/ WHERE h0 IN (SELECT h FROM touched_o WHERE h IS NOT NULL UNION SELECT h FROM touched_r WHERE h IS NOT NULL)
