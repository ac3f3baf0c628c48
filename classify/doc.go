// Package classify gives every row its one verdict (verdicts.md C, F, G), applies
// the policy and the guard (H), and leaves the relations that reports read.
//
// # Relations in the scratch database afterwards
//
//	rows_operations, rows_results   views over every staged row:
//	    rid BIGINT, file_no INTEGER, rec BIGINT, class, reason (ENUM), pass VARCHAR
//	    (name, NULL where no pass linked it), link UBIGINT (equal on the rows of one
//	    link, NULL), once VARCHAR (proven, not_proven; NULL unless correct),
//	    in_period BOOLEAN
//	verdicts_o, verdicts_r          tables of the residual rows: rid, class, reason,
//	    pass INTEGER, link UBIGINT, once BOOLEAN, fields VARCHAR (names joined by ';' in
//	    declared order), set_id BIGINT, candidates BIGINT (V27; NULL), in_period BOOLEAN
//	links                           as match left them, plus link UBIGINT
//	totals                          side VARCHAR, in_period BOOLEAN, class, reason,
//	    currency VARCHAR ('' none), rows BIGINT, amount DECIMAL(38,s) (NULL where no
//	    amount field is declared): over every row of both sides
//	items                           the queue items, one row each:
//	    item_id VARCHAR, case_id VARCHAR, queue VARCHAR (confirm, requeue, compensate,
//	    review, close), o_rid BIGINT, r_rid BIGINT (one of them may be NULL),
//	    set_id BIGINT, operation_id, idempotency_key, remote_id, keep_remote_id, type, entity,
//	    version, amount, currency, state, next_state, destination VARCHAR, class, reason,
//	    fields VARCHAR, refused VARCHAR (codes joined by ';'), rule VARCHAR,
//	    risk VARCHAR (duplication risk in words), attempts BIGINT, next_attempt_us BIGINT,
//	    expiry_us BIGINT, approvals BIGINT, owner VARCHAR, due_us BIGINT,
//	    candidates BIGINT, observe_only BOOLEAN, deferred BOOLEAN
//
// A residual row of verdicts_o appears in exactly one of: links (by o_rid), a set
// (set_id), or alone.
package classify
