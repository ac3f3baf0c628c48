-- Rule 2 of design §3: operations under an identity key of a result that counts as
-- unexpected. Both halves of the fingerprint decide. Out: one number.
SELECT count(*)
FROM (SELECT r./*$h*/ AS h, r./*$g*/ AS g FROM verdicts_r v JOIN res_r r ON r.rid = v.rid
      WHERE v.class = 'unexpected' AND r./*$h*/ IS NOT NULL) u
JOIN operations o ON o./*$h*/ = u.h AND o./*$g*/ = u.g
