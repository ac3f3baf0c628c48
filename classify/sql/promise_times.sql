-- V33: requeues whose next attempt does not lie after the reference time and before
-- their expiry, or that do not end before their key does. Out: one number.
SELECT count(*)
FROM items i JOIN operations o ON o.rid = i.o_rid
WHERE i.queue = 'requeue'
  AND NOT coalesce(i.next_attempt_us > /*$as_of*/ AND i.expiry_us > i.next_attempt_us AND i.expiry_us < /*$first_use*/ + /*$ttl*/, false)
