-- V16: groups whose members have several verdicts, or that have members on one side only.
-- Out: one number.
SELECT count(*) FROM (
  SELECT link FROM (
    SELECT link, class, reason, 0 AS side FROM verdicts_o WHERE /*$grouped*/
    UNION ALL SELECT link, class, reason, 1 FROM verdicts_r WHERE /*$grouped*/)
  GROUP BY link HAVING min(class) <> max(class) OR min(reason) <> max(reason) OR min(side) = max(side))
