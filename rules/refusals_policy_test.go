package rules_test

import "maps"

func init() { maps.Copy(refusals, policyRefusals) }

// policyRefusals has the faults of the policy: types, windows by calendar, states,
// rules, releases, pilots, limits and policy files.
var policyRefusals = map[string][]string{
	"deadline_days_before_expected": {
		`48:54: the deadline of charge is before a result is expected | the deadline counts from the creation and is the longer of the two`,
	},
	"deadline_days_before_hours": {
		`48:39: the deadline of charge is before a result is expected | the deadline counts from the creation and is the longer of the two`,
	},
	"deadline_hours_before_days": {
		`48:54: the deadline of charge is before a result is expected | the deadline counts from the creation and is the longer of the two`,
	},
	"deadline_days_past_key": {
		`48:24: the deadline of charge (3 business days) is not before the end of its idempotency key (3d), so that nothing could be requeued (V39) | shorten the deadline: an absence must be known while the key still protects a requeue`,
	},
	"days_without_calendar": {
		"48:24: types.charge.window.deadline counts business days, but the window names no calendar | add `calendar: name`, and declare it under `calendars:`",
	},
	"unknown_calendar": {
		`48:54: types.charge.window.calendar: there is no calendar "baking" | did you mean "banking"?`,
	},
	"days_zero": {
		`48:40: types.charge.window.deadline.business_days is not a whole number from 1 to 366`,
	},
	"first_retry_past_key": {
		`53:68: the first retry of charge (3d) is not before the end of its idempotency key (3d) (V39) | shorten the first step: the attempt must lie within the lifetime of the key`,
	},
	"holiday_no_date": {
		`60:48: calendars.banking.holidays: "2026-02-30" is no date | a date: "2026-12-25"`,
	},
	"holiday_file_no_date": {
		`3:1: "25.12.2027" is no date | one date a line: 2026-12-25`,
	},
	"holiday_file_missing": {
		`60:38: testdata/policies/holliday.txt cannot be read: no such file or directory | paths are relative to the file that names them`,
	},
	"calendar_zone": {
		`60:29: calendars.banking.zone: the time zone "Europe/Pariss" is not known | an IANA name such as Europe/Paris or UTC`,
	},
	"calendar_weekday": {
		`60:41: calendars.banking.weekend: "saterday" is not known here | did you mean "saturday"?`,
	},
	"calendar_no_business_day": {
		`60:32: the calendar banking has no business day | leave the business days out`,
	},
	"calendar_cut_off": {
		`60:32: calendars.banking.cut_off: "25:00" is no time of day | a time of day: "17:00"`,
	},
	"calendar_cut_off_midnight": {
		`60:32: a cut-off at 00:00 leaves no time of the day before it | leave it out for the end of the day`,
	},
	"calendar_name": {
		`60:13: "Banking" is no name of a calendar | lower-case letters, digits, hyphens and underscores`,
	},
	"error_code_twice": {
		`52:62: the code "timeout" is transient and ambiguous | keep the one that holds; ambiguous where both may be`,
	},
	"compensation_parameter": {
		`51:70: types.charge.compensate_with.parameters.charge: the results declare no field "remot_id" | did you mean "remote_id"? (a fixed text is in single quotes: "'remot_id'")`,
		"51:88: types.charge.compensate_with.parameters.reason: the results declare no field \"duplicate\" | add `duplicate: column` to results.fields (a fixed text is in single quotes: \"'duplicate'\")",
	},
	"unexpected_without_owner": {
		"52:17: types.charge.unexpected has no \"owner\" | add `owner:`: Who works on its items.",
	},
	"authority_not_compared": {
		`51:17: types.charge.authority: "amunt" is no compared field, so that no side can be right | did you mean "amount"?`,
	},
	"authority_of_nothing": {
		"51:17: types.charge.authority: \"entity\" is no compared field, so that no side can be right | add `- {field: entity}` to compare, or remove it here",
	},
	"authority_side": {
		`51:25: types.charge.authority.amount: "result" is no side | did you mean "results"?`,
	},
	"when_overtaken": {
		`51:21: types.charge.when_overtaken: "send-newest" is not known here | did you mean "send_newest"?`,
	},
	"enforce_unknown": {
		`51:24: types.charge.enforce: "clse" is not known here | did you mean "close"?`,
	},
	"enforce_review": {
		`51:15: types.charge.enforce: "review" is not known here | known: confirm, requeue, compensate, close`,
	},
	"risk_unknown": {
		`51:11: types.charge.risk: "customer_visible" is not known here | did you mean "customer-visible"?`,
	},
	"grave_without_owner": {
		"47:3: charge may act, but does not say who answers for it until when: it has no owner and no reply_by, and its risk is irreversible | add `owner: team` and `reply_by: 2d`, or `mode: observe` to the job",
	},
	"grave_without_reply_by": {
		"47:3: charge may act, but does not say who answers for it until when: it has no reply_by, and its risk is financial | add `reply_by: 2d`, or `mode: observe` to the job",
	},
	"local_ref_unknown": {
		"4:23: the operations declare no field \"order_no\" | add `order_no: column` to operations.fields",
	},
	"profile_unknown": {
		`4:12: operations.profile: "recovery-queue" is not known here | did you mean "recovery_queue"?`,
	},
	"dead_letter_name": {
		`46:43: scope[0].when: there is no field "workflow" | write type: a recovery queue's workflow is read as the field type`,
	},
	"dead_letter_key": {
		"62:30: neither side declares the field \"external_reference\" | write `remote_id`: a recovery queue's external_reference is read as the field remote_id",
	},
	"hold_of_numbers": {
		"14:11: the field hold of the operations is integer, it must be text or boolean | remove the type, or add `type: boolean`",
	},
	"next_attempt_text": {
		"14:22: the field next_attempt_at of the operations is text, it must be timestamp | add `type: timestamp`",
	},
	"error_code_number": {
		"14:17: the field error_code of the operations is integer, it must be text | add `type: text`",
	},
	"rule_field": {
		`61:22: policy[0].when: there is no field "amunt" | did you mean "amount"?`,
	},
	"rule_result_field": {
		`61:22: policy[0].when: there is no field "r_verzion" | did you mean "r_version"?`,
	},
	"rule_type": {
		`61:31: policy[0].when: a text beside a number | compare values of one type; nothing is converted`,
	},
	"rule_class": {
		`61:30: policy[0].when: 'abscent' is no class | did you mean "absent"?`,
	},
	"rule_reason": {
		`61:46: policy[0].when: 'fee_rows' is no reason | did you mean "fee_row"?`,
	},
	"rule_proposal": {
		`61:22: policy[0].when: 'send' is no proposal | known: confirm, requeue, compensate, review, close, none`,
	},
	"rule_division": {
		`61:29: policy[0].when: expressions do not divide: a divisor may be zero | compare without division: fee > 10 in place of fee / amount > 0.1, or add the quotient to the export`,
	},
	"rule_propose": {
		`61:45: policy[0].propose: "closed" is not known here | did you mean "close"?`,
	},
	"rule_never": {
		`61:21: the rule a never fits | remove the rule`,
	},
	"rule_twice": {
		`62:12: two policy rules are named "a" | give each rule a name of its own`,
	},
	"release_self_approved": {
		`60:104: the release outage is approved by the person who asks for it | name another person`,
	},
	"release_lifts_nothing": {
		"60:12: the release outage lifts nothing | add `attempts: +2`, or `duration: 24h`",
	},
	"release_twice": {
		`60:131: two releases have the id "outage" | give each release an id of its own`,
	},
	"release_without_reason": {
		"60:12: releases[0] has no \"reason\" | add `reason:`: Why.",
	},
	"release_until": {
		`60:68: releases[0].until: "5 December" is no instant | a day or a local time: "2026-12-05T00:00"; with an offset an instant anywhere: "2026-12-05T00:00Z"`,
	},
	"release_until_twice": {
		`60:68: releases[0].until: the local time 2026-10-25 02:30:00 exists twice in Europe/Paris | write it with its offset, as 2026-10-25T02:30+01:00 or …Z`,
	},
	"release_cohort": {
		`60:32: releases[0].when: there is no field "atempts" | did you mean "attempts"?`,
	},
	"pilot_without_mode": {
		"60:8: the job has a pilot, but its mode is enforce | write `mode: pilot`, or remove it",
	},
	"mode_without_pilot": {
		"60:7: a pilot does not say who is acted on | add `pilot: {types: […]}`, or a share: `pilot: {share: 10%}`",
	},
	"pilot_without_condition": {
		`61:8: the pilot first has no condition, so that it would act on everything | add types, from, until or share`,
	},
	"pilot_type": {
		`61:17: no policy names the type "chrge", so that the pilot acts on none | did you mean "charge"?`,
	},
	"pilot_share": {
		`61:16: pilot.share: "101%" is no share | a percentage from 0% to 100%, such as 2%`,
	},
	"canary_class": {
		`60:40: canaries[0].expect: "missing" is not known here | known: correct, divergent, absent, ambiguous, not_applicable, not_due, duplicate, unexpected`,
	},
	"canary_twice": {
		`60:64: the canary "c-1" is there twice | keep one of the two`,
	},
	"transition_short": {
		`60:24: states.transitions.confirmed names neither its owner nor its condition | write {from: [pending], owner: reconciliation, condition: a settled result under the same key}`,
	},
	"transition_without_owner": {
		"60:35: states.transitions.confirmed has no \"condition\" | add `condition:`: When it may be made, a sentence for people.",
		"60:35: states.transitions.confirmed has no \"owner\" | add `owner:`: Who makes the transition.",
	},
	"transition_unknown": {
		`60:34: states.transitions.confirmd: "confirmd" is no state | did you mean "confirmed"?`,
		`60:42: states.transitions.confirmd.from[0]: "pendin" is no state | did you mean "pending"?`,
	},
	"transitions_empty": {
		`60:23: states.transitions is empty | name at least one, or leave the key out`,
	},
	"map_unknown": {
		`60:36: states.map.done: "confirmd" is no state of the default set | did you mean "confirmed"?`,
	},
	"map_two_targets": {
		"60:15: \"done\" and \"paid\" both stand for confirmed, so that it is open where confirm leads to | add `targets: {confirm: done}`",
	},
	"map_outside": {
		"60:48: states.map: \"done\" is not in `all` | known: new",
	},
	"map_empty": {
		`60:15: states.map is empty | name the states of the export, or leave the key out`,
	},
	"target_unknown": {
		`60:67: states.targets.confirm: "don" is no state | did you mean "done"?`,
	},
	"target_queue": {
		`60:20: "review" is no acting queue | known: confirm, requeue, compensate, close`,
	},
	"requeue_to_final": {
		`60:29: requeue leads to "confirmed", which is final | name the state of operations that wait for their next attempt`,
	},
	"budget_account": {
		`57:44: limits.retry_budget.by: no source of the results has the account "pspp" | did you mean "psp"?`,
	},
	"budget_no_time": {
		`57:34: limits.retry_budget.per is no time at all | a time such as 10m`,
	},
	"share_too_large": {
		`56:46: limits.blast_radius.requeue.share: "102%" is no share | a percentage from 0% to 100%, such as 2%`,
	},
	"baseline_half": {
		"56:60: limits.blast_radius.requeue.baseline has no \"factor\" | add `factor:`: How many times the median is too much, from 1 to 1000.",
	},
	"baseline_factor": {
		`56:79: limits.blast_radius.requeue.baseline.factor is not a number from 1 to 1000`,
	},
	"extends_circle": {
		`2:11: policy files extend each other in a circle: job.yaml → testdata/policies/bad/circle.yaml → testdata/policies/bad/round.yaml → testdata/policies/bad/circle.yaml | take one of them out`,
	},
	"extends_missing": {
		`60:10: testdata/policies/windows.yaml cannot be read: no such file or directory | paths are relative to the file that names them`,
	},
	"extends_leaves": {
		`60:10: extends: "../rules/testdata/policies/window.yaml" leaves the folder of the job | name a file in the folder of the job or below, or write an absolute path`,
	},
	"extends_key": {
		`4:1: unknown key "compare" in the policy file | known: extends, types, calendars, policy, states, limits, releases, unattributed, redact`,
	},
	"extends_fault": {
		`4:38: the deadline of charge is before a result is expected | the deadline counts from the creation and is the longer of the two`,
	},
	"extends_digest": {
		`60:57: the policy file testdata/policies/window.yaml is not the one that is named | its sha256 is 14528a9cec30c6e8475cd7d13c123643b0c8c47dfee8d1ab94e77d8c78ed8490`,
	},
	"extends_digest_form": {
		`60:57: extends[0].sha256: "abc" is no SHA-256 | 64 hexadecimal digits`,
	},
	"extends_written_out": {
		`60:62: extends[0]: a file whose keys are written out is named with its sha256 | leave written_out away: the file is then read`,
	},
}
