-- V16: groups of a pass that count as correct, though the amounts of their rows do not
-- add up. Out: one number.
SELECT count(*) FROM (
  SELECT v.link, count(*) = count(/*$value_o*/) AS whole, sum(CAST(/*$value_o*/ AS /*$type*/)) AS o_total, min(/*$same*/) AS same
  FROM verdicts_o v JOIN res_o x ON x.rid = v.rid WHERE v.class = 'correct' AND v.pass = /*$pass*/ GROUP BY v.link) o
FULL JOIN (
  SELECT v.link, count(*) = count(/*$value_r*/) AS whole, sum(CAST(/*$value_r*/ AS /*$type*/)) AS r_total
  FROM verdicts_r v JOIN res_r x ON x.rid = v.rid WHERE v.class = 'correct' AND v.pass = /*$pass*/ GROUP BY v.link) r ON r.link = o.link
WHERE NOT coalesce(o.whole AND r.whole AND (o_total = r_total OR /*$within*/), false)
