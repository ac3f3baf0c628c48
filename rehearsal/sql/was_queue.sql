SELECT /*$queue*/ AS queue, case_id, o_source, o_file, o_record, r_source, r_file, r_record,
       CAST(reason AS VARCHAR) AS reason, currency, CAST(amount AS VARCHAR) AS amount, observe_only, /*$deferred*/ AS deferred
FROM read_parquet(/*$file*/)
