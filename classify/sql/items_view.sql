-- All queue items, without what the rows behind them say.
CREATE OR REPLACE VIEW items AS
SELECT item_id, case_id, queue, o_rid, r_rid, set_id, keep_remote_id, class, reason, fields, refused_bits, refused, rule, rule_no,
  next_attempt_us, expiry_us, release, closing_reason, approvals, due_us, candidates, observe_only, deferred, currency, value, since_us
FROM residual_items
/*$plain*/
