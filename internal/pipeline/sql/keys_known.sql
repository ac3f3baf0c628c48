-- The asked keys of one pass that former runs read (V31). Few are asked: they are told to
-- the reader of the files, which passes over what cannot hold them.
INSERT INTO former_keys
SELECT DISTINCT a.pass, a.key
FROM read_parquet([/*$files*/]) f JOIN asked_keys a ON a.fingerprint = f.fingerprint
WHERE a.pass = /*$pass*/ AND f.key = /*$key*/ /*$few*/
