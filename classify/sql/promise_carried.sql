-- Rule 2 of design §3: results under an identity key of an absent operation. Where it
-- failed at the provider, its attempts that failed are allowed, with their copies and
-- former versions. Both halves of the fingerprint decide. Out: one number.
SELECT count(*)
FROM (SELECT CAST(v.reason AS VARCHAR) AS reason, o./*$h*/ AS h, o./*$g*/ AS g FROM verdicts_o v JOIN res_o o ON o.rid = v.rid
      WHERE v.class = 'absent' AND o./*$h*/ IS NOT NULL) a
JOIN results r ON r./*$h*/ = a.h AND r./*$g*/ = a.g
LEFT JOIN verdicts_r x ON x.rid = r.rid
WHERE a.reason = 'no_result' OR coalesce(CAST(x.reason AS VARCHAR) NOT IN ('failed_attempt', 'superseded_attempt', 'identical_copy'), true)
