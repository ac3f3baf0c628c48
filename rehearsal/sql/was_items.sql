-- Reads   the queues of the published run, report_files.
-- Writes  was_items: node (2 * row id of the operation, or 2 * row id of the result + 1),
--         case_id, queue, proposal, currency, value. A surplus effect stands on its
--         own row, all else on that of its operation, if there is one.
CREATE OR REPLACE TABLE was_items AS
SELECT CASE WHEN o.file_no IS NOT NULL AND (i.reason <> 'surplus_effect' OR r.file_no IS NULL) THEN ((o.file_no << 40) + i.o_record) * 2
            ELSE ((r.file_no << 40) + i.r_record) * 2 + 1 END AS node,
       i.case_id, i.queue,
       i.queue || CASE WHEN i.observe_only THEN ', observe only' ELSE '' END || CASE WHEN i.deferred THEN ', deferred' ELSE '' END AS proposal,
       coalesce(CAST(i.currency AS VARCHAR), '') AS currency, TRY_CAST(i.amount AS DECIMAL(38,/*$scale*/)) AS value
FROM (
/*$queues*/
) i
LEFT JOIN report_files o ON o.side = 'operations' AND o.source = CAST(i.o_source AS VARCHAR) AND o.file = CAST(i.o_file AS VARCHAR)
LEFT JOIN report_files r ON r.side = 'results' AND r.source = CAST(i.r_source AS VARCHAR) AND r.file = CAST(i.r_file AS VARCHAR)
