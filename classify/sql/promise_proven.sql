-- Rule 2 of design §3: absent operations whose absence is not proven. What is unknown
-- proves nothing. Out: one number.
SELECT count(*)
FROM verdicts_o v JOIN operations o ON o.rid = v.rid
WHERE v.class = 'absent'
  AND (v.rid IN (SELECT rid FROM suspects) OR (/*$lease*/)
    OR NOT coalesce((NOT (/*$has_window*/) OR (/*$due*/) <= /*$as_of*/) AND (/*$covered*/), false))
