-- The keys of one pass that former runs are asked for: how many, and the list of their
-- fingerprints where they are few, else an empty text.
SELECT count(*), CASE WHEN count(*) <= /*$few*/ THEN coalesce(string_agg(DISTINCT CAST(fingerprint AS VARCHAR), ', '), '') ELSE '' END
FROM asked_keys WHERE pass = /*$pass*/
