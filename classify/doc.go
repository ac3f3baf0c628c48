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
//	plain_pass                      one row: pass INTEGER, the index of the pass that links plain
//	    pairs; -1 where there are none
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
//	    budget), rule ENUM (the rule of the job that fits, else types.<type>, none),
//	    rule_no SMALLINT (index of Job.PolicyRules from 1; NULL where none fits),
//	    next_attempt_us BIGINT, expiry_us BIGINT, release VARCHAR (the ids of the
//	    releases without which a requeue would be refused, joined by ';'),
//	    closing_reason VARCHAR (of a closing: the reason of the verdict, or
//	    newer_version), approvals BIGINT, due_us BIGINT, candidates BIGINT,
//	    observe_only BOOLEAN, deferred BOOLEAN, currency VARCHAR, value DECIMAL(38,s)
//	    (the exact amount; NULL where a side does not declare its decimals), since_us
//	    BIGINT (the instant that its age goes by). The item of a correct pair names its
//	    operation alone: r_rid and set_id are NULL
//	items_wide                      view: the same with what the rows behind an item
//	    say: operation_id, idempotency_key, remote_id, type (of the operation, else of
//	    the result), entity, version, amount, state, destination VARCHAR, attempts
//	    BIGINT, risk ENUM (duplication risk in words); and what the policy says:
//	      owner VARCHAR             the rule's, else the type's
//	      because VARCHAR           the sentence of the rule that fits
//	      next_state ENUM           in the job's own text; NULL for a review, and for an
//	                                effect that belongs to no operation
//	      recheck ENUM              in words what to look at again before acting; it names
//	                                columns and holds no value
//	      recheck_key VARCHAR, recheck_since_us BIGINT
//	                                of a requeue: no result under this key since then. The
//	                                key is the idempotency key: hide it where that is hidden
//	      business_operation VARCHAR, parameters VARCHAR
//	                                of a compensation: what undoes the effect, and the text
//	                                of a JSON object with its parameters, all of them texts;
//	                                their values are product fields of the result, or
//	                                texts of the job (TypePolicy.CompensateParameters)
//	      advice VARCHAR            of a divergent pair: for each differing field with a
//	                                declared authority to send again or correct locally;
//	                                of a group or of what is left over a hint, see hints
//
//	hints                           whose VARCHAR (operations, results, set), id BIGINT (row
//	    id, number of the set), text VARCHAR: which rows that are left over probably
//	    belong together (package match/near), or why that was not searched to the end
//	outages                         item_id VARCHAR: items that are undecided since a
//	    source proves nothing for their time
//	obstacles                       o_rid, r_rid BIGINT (one of them NULL), code VARCHAR, no
//	    BIGINT, what VARCHAR: each row in the period that the data do not decide or that
//	    has an unreadable value, and what alone holds it (obstacles.sql)
//	canaries                        of a job with planted operations: no INTEGER (index
//	    of Job.Canaries), operation_id, expect VARCHAR, rid BIGINT (NULL: missing),
//	    class, reason VARCHAR, in_period BOOLEAN; one row for each record
//	budget_turns                    of a job with a retry budget: item_id, account
//	    VARCHAR, observed BOOLEAN, own_us, turn_us BIGINT, late BOOLEAN; every requeue
//
// Beside them stay the steps on the way, which explain reads: facts and open_o by
// operation, pairs, linked and effects by link, open_r by result, set_of; of the guard
// requeue_facts, siblings, replay_ids, replaced and newest by operation, surplus_facts and
// unexpected_facts by result, asked_keys (see Former), and overtaken: the operations that
// their policy closes.
//
// A relation may be there before, or is made on the way by who asks former runs (Former):
// FormerKeys, what they know.
package classify
