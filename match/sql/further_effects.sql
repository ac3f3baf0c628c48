-- V12 (b): all keys point to one linked operation: a further effect of it.
INSERT INTO links
SELECT lo, rid, pass, true, NULL FROM pointing
WHERE keys = standing AND lo = hi AND lo IN (SELECT o_rid FROM links)
