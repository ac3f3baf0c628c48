// Package classify gives every row its one verdict (verdicts.md C, F, G), applies
// the policy and the guard (H), and leaves the relations that reports read.
//
// # Relations in the scratch database afterwards
//
//	rows_operations, rows_results   views over every staged row:
//	    rid BIGINT, file_no INTEGER, rec BIGINT, class, reason (ENUM), pass VARCHAR
//	    (name, NULL where no pass linked it), link UBIGINT (equal on the rows of one
//	    link, NULL), once ENUM (proven, not_proven; NULL unless correct),
//	    in_period BOOLEAN. A plain pair is correct/equal, in the period and proven by
//	    construction, and the fingerprint of its key is its link
//	row_counts_operations, row_counts_results   views: file_no, class, reason, pass, once,
//	    in_period, n BIGINT: the rows of rows_<side> counted, several rows may be one group
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
//	items                           view: the queue items, one row each:
//	    item_id VARCHAR, case_id VARCHAR, queue ENUM (confirm, requeue, compensate,
//	    review, close), o_rid BIGINT, r_rid BIGINT (one of them may be NULL),
//	    set_id BIGINT, keep_remote_id VARCHAR, class, reason (ENUM), fields VARCHAR,
//	    refused_bits BIGINT (Check), refused VARCHAR (its codes joined by ';', or
//	    budget), rule ENUM, next_attempt_us BIGINT, expiry_us BIGINT, approvals BIGINT,
//	    due_us BIGINT, candidates BIGINT, observe_only BOOLEAN, deferred BOOLEAN,
//	    currency VARCHAR, value DECIMAL(38,s) (the exact amount; NULL where a side does
//	    not declare its decimals), since_us BIGINT (the instant that its age goes by).
//	    The item of a correct pair names its operation alone: r_rid and set_id are NULL
//	items_wide                      view: the same with what the rows behind an item
//	    say: operation_id, idempotency_key, remote_id, type, entity, version, amount,
//	    state, destination VARCHAR, next_state ENUM, risk ENUM (duplication risk in
//	    words), attempts BIGINT, owner VARCHAR
//
// Beside them stay the steps on the way, which explain reads: facts and open_o by
// operation, pairs, linked and effects by link, open_r by result, set_of.
package classify
