-- Reads   report_sheet_wide. The exceptions as the workbook shows them.
SELECT /*$columns*/
FROM report_sheet_wide v
ORDER BY v.place
