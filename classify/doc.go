// Package classify gives every row its one verdict (verdicts.md C, F, G), applies
// the policy and the guard (H), and leaves the relations that reports read.
//
// # Relations in the scratch database afterwards
//
//	rows_operations, rows_results   views over every staged row:
//	    rid BIGINT, file_no INTEGER, rec BIGINT, class, reason (ENUM), pass VARCHAR
//	    (name, NULL where no pass linked it), link UBIGINT (equal on the rows of one
//	    link, NULL), once VARCHAR (proven, not_proven; NULL unless correct),
//	    in_period BOOLEAN. A plain pair is correct/equal, in the period and proven by
//	    construction, and the fingerprint of its key is its link
//	verdicts_o, verdicts_r          tables of the residual rows: rid, class, reason,
//	    pass INTEGER (index of Job.Match), link UBIGINT, once BOOLEAN (NULL unless
//	    correct), fields VARCHAR (names joined by ';' in declared order), set_id BIGINT
//	    (NULL unless ambiguous or conflicting copies), candidates BIGINT (V27; NULL),
//	    in_period BOOLEAN
//	links                           as match left them, with link UBIGINT, and partner
//	    BOOLEAN: false for an attempt that failed beside an effect, whose row shows no link
//	totals                          side VARCHAR, in_period BOOLEAN, class, reason,
//	    currency VARCHAR ('' none), rows BIGINT, amount DECIMAL(38,s), s enough for both
//	    sides: over every row of both. Unreadable and empty amounts add nothing; the sum
//	    of residual rows without any amount is NULL. Of no meaning where the side
//	    declares no decimal field amount
//	items                           the queue items, one row each:
//	    item_id VARCHAR, case_id VARCHAR, queue VARCHAR (confirm, requeue, compensate,
//	    review, close), o_rid BIGINT, r_rid BIGINT (one of them may be NULL),
//	    set_id BIGINT, operation_id, idempotency_key, remote_id, keep_remote_id, type, entity,
//	    version, amount, currency, state, next_state, destination VARCHAR, class, reason,
//	    fields VARCHAR, refused_bits BIGINT (Check), refused VARCHAR (its codes joined by
//	    ';', or budget), rule VARCHAR,
//	    risk VARCHAR (duplication risk in words), attempts BIGINT, next_attempt_us BIGINT,
//	    expiry_us BIGINT, approvals BIGINT, owner VARCHAR, due_us BIGINT,
//	    candidates BIGINT, observe_only BOOLEAN, deferred BOOLEAN. The item of a correct
//	    pair names its operation alone: r_rid, remote_id and set_id are NULL
//
// Beside them stay the steps on the way, which explain reads: facts and open_o by
// operation, pairs, linked and effects by link, open_r by result, set_of.
package classify
