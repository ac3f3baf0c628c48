-- Operations that stay undecided for a stray, and the stray, are one unresolved set.
INSERT INTO edges
SELECT 2 * s.rid, s.node FROM suspects s JOIN open_o g ON g.rid = s.rid WHERE g.verdict = 'ambiguous/unattributed_result'
UNION ALL
SELECT 2 * b.rid + 1, b.node FROM stray_branches b JOIN open_r g ON g.rid = b.rid
WHERE g.verdict IN ('ambiguous/unattributed_result', 'ambiguous/no_usable_key')
  AND b.node IN (SELECT s.node FROM suspects s JOIN open_o g ON g.rid = s.rid WHERE g.verdict = 'ambiguous/unattributed_result')
