-- Reads   links. By type and account: those that were confirmed after they were due,
--         under the declared window (NULL where none holds) and under another one.
SELECT type, account, count(due_us), count(*) FILTER (WHERE result_us > due_us),
       count(*) FILTER (WHERE result_us > greatest(created_us + /*$deadline*/, coalesce(last_us + /*$expected*/, created_us))),
       count(*) FILTER (WHERE lease_us > last_us AND last_us <= result_us + /*$skew*/ AND result_us > lease_us)
FROM links
GROUP BY type, account ORDER BY type, account
