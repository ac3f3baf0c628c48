-- Rule 4 of design §3: a business key links two free rows, so that no operation has
-- two of its links. Several effects under identity keys are one link (V10, V12).
-- Out: one number.
SELECT count(*) FROM (
  SELECT o_rid FROM links GROUP BY o_rid HAVING count(*) FILTER (WHERE /*$business*/) > 1 OR count(DISTINCT link) > 1)
