SELECT '' AS queue, '' AS case_id, '' AS o_source, '' AS o_file, 0 AS o_record, '' AS r_source, '' AS r_file, 0 AS r_record,
       '' AS reason, '' AS currency, '' AS amount, false AS observe_only, false AS deferred
WHERE false
