-- V27: free results without any identity key that have not finally failed. They
-- stand against operations even where they are out of the period themselves.
CREATE OR REPLACE TABLE strays AS
SELECT r.rid, /*$type*/ AS t0, /*$entity*/ AS t1, /*$currency*/ AS t2, /*$booked*/ AS booked, /*$latest*/ AS latest/*$extra*/
FROM res_r r
WHERE r.rid NOT IN (SELECT rid FROM marks_r) AND r.rid NOT IN (SELECT r_rid FROM links)
  AND /*$no_identity*/ AND /*$status*/ <> 'failed'
