-- Reads   former, again, results, was_results, run_files. Out: the results of this night
--         under a key of a former absence or linked with it, that could be an effect:
--         night and row id of the absence, source, file, record, verdict, status, time,
--         record id. What finally failed, copies, and rows out of scope are none.
SELECT s.night, s.f_rid, f.source, f.file, s.rid & 1099511627775, w.class || '/' || w.reason, /*$status*/, /*$at*/, /*$effect*/
FROM (
/*$found*/
) s
JOIN results r ON r.rid = s.rid
JOIN was_results w ON w.rid = s.rid
JOIN run_files f ON f.side = 'results' AND f.file_no = (s.rid >> 40)
WHERE /*$status*/ <> 'failed'
  AND NOT (w.class = 'duplicate' AND w.reason IN ('identical_copy', 'superseded_attempt'))
  AND NOT (w.class = 'not_applicable' AND w.reason <> /*$period*/)
ORDER BY 1, 2, 3, 4, 5
