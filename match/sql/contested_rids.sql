-- The rows of simple pairs that are contested after all: all of them where there are
-- no simple links.
INSERT INTO /*$rids*/
SELECT /*$rid*/ FROM not_plain WHERE simple AND /*$rid*/ NOT IN (SELECT /*$rid*/ FROM simple_links)
