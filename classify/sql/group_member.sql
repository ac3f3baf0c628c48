SELECT g.grp, g.side, g.rid, x.w1, CAST(/*$value*/ AS /*$type*/) AS value, CAST(/*$stated*/ AS BIGINT) AS stated, x.bad & /*$mask*/ AS bad,
  /*$status*/ AS st, CAST(/*$covered*/ AS BOOLEAN) AS covered, CAST(/*$same*/ AS VARCHAR) AS same
FROM group_rows g JOIN groups p ON p.grp = g.grp AND p.pass = /*$pass*/ JOIN /*$residual*/ x ON x.rid = g.rid
WHERE g.side = /*$side*/
