-- Reads   operations, verdicts_o. How long operations in the period took from their first
--         failure to what settled them: how many say it, the median, the longest.
SELECT count(taken), quantile_disc(taken, 0.5), max(taken)
FROM (SELECT /*$resolved*/ - /*$failed*/ AS taken FROM operations o ANTI JOIN (SELECT rid FROM verdicts_o WHERE NOT in_period) v ON v.rid = o.rid)
