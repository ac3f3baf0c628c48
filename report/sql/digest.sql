-- Reads   verdicts_o or verdicts_r, res_o or res_r. The sums of both halves of the
--         row fingerprints by verdict, over the residual rows that are not folded
--         into the rest: plainly correct, whichever pass found the pair and whichever way
--         the engine took to it, or out of the period.
SELECT CAST(v.class AS VARCHAR), CAST(v.reason AS VARCHAR), coalesce(p.name, ''), coalesce(v.fields, ''),
       count(*), CAST(sum(r.w1) AS VARCHAR), CAST(sum(r.w2) AS VARCHAR)
FROM /*$verdicts*/ v
JOIN /*$residual*/ r ON r.rid = v.rid
LEFT JOIN report_passes p ON p.no = v.pass
WHERE NOT (CAST(v.class AS VARCHAR) = 'correct' AND CAST(v.reason AS VARCHAR) = 'equal')
  AND NOT (CAST(v.class AS VARCHAR) = 'not_applicable' AND CAST(v.reason AS VARCHAR) = /*$out_of_period*/)
GROUP BY ALL
