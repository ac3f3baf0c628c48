package rules

// The shapes of the policy of a whole job: files that it extends, its states and
// rules, calendars, limits, releases.

var extendsShape = &shape{
	name: "extends", doc: "A policy file. `config show --effective` writes what was read in this form.",
	keys: []key{
		{name: "file", doc: "Its path.", required: true, value: textValue()},
		{name: "sha256", doc: "SHA-256 of the file; another one is refused.", def: "the file's", value: patternValue(sha256Pattern)},
		{name: "written_out", doc: "The keys of the file are written out in this job already, as in an effective job: it is not read.", def: "false", value: boolValue()},
	},
}

const sha256Pattern = `^[0-9a-f]{64}$`

// policyFileShape is what a policy file may hold: what several jobs share. What is
// read, compared and written stays in the job.
var policyFileShape = &shape{
	name: "policy_file", doc: "A policy file that jobs extend. Its keys mean what they mean in a job.",
	keys: []key{
		{name: "extends", doc: "Policy files that stand under this one.", def: "none", value: anyValue(textValue(), listValue(anyValue(textValue(), shapeValue(extendsShape))))},
		{name: "types", doc: "Policy by type of operation.", def: "none", value: mapValue(shapeValue(typeShape))},
		{name: "calendars", doc: "Business calendars by name.", def: "none", value: mapValue(shapeValue(calendarShape))},
		{name: "policy", doc: "Rules, after those of the job.", def: "none", value: listValue(shapeValue(policyRuleShape))},
		{name: "states", doc: "The local states of operations.", value: shapeValue(statesShape)},
		{name: "limits", doc: "What one run may propose.", value: shapeValue(limitsShape)},
		{name: "releases", doc: "Releases, after those of the job.", def: "none", value: listValue(shapeValue(releaseShape))},
		{name: "unattributed", doc: "Narrows which operations a result without identity stands against (V27).", value: shapeValue(unattributedShape)},
		{name: "redact", doc: "How personal fields appear in outputs.", value: shapeValue(redactShape)},
	},
}

var pilotShape = &shape{
	name: "pilot", doc: "Who is acted on in a pilot; at least one condition.",
	keys: []key{
		{name: "name", doc: "Name of the series of runs: a pilot withdraws items only in its own.", def: "pilot", value: patternValue(jobNamePattern)},
		{name: "types", doc: "Types of operation.", def: "all", value: listValue(textValue())},
		{name: "from", doc: "First creation, included; with {date}.", def: "open", value: schema{"type": "string"}},
		{name: "until", doc: "First creation after it.", def: "open", value: schema{"type": "string"}},
		{name: "share", doc: "Share of the operations, chosen by a hash of the operation id: 10%.", def: "all", value: patternValue(percentPattern)},
	},
}

const calendarNamePattern = `^[a-z][a-z0-9_-]{0,62}$`

var weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

var calendarShape = &shape{
	name: "calendar", doc: "Which days are business days.",
	keys: []key{
		{name: "zone", doc: "IANA name of the zone in which its days begin.", def: "the job's timezone", value: schema{"type": "string"}},
		{name: "weekend", doc: "Days of the week that are no business days: names in English, or none.", def: "saturday, sunday", value: anyValue(schema{"const": "none"}, listValue(enumValue(weekdayNames...)))},
		{name: "holidays", doc: "Dates that are no business days.", def: "none", value: listValue(patternValue(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`))},
		{name: "holidays_file", doc: "File with further dates, one a line, # before a comment; relative to the file that names it.", def: "none", value: textValue()},
		{name: "cut_off", doc: "Local time of day after which an instant counts as of the next business day.", def: "the end of the day", value: patternValue(clockPattern)},
	},
}

const clockPattern = `^([01][0-9]|2[0-3]):[0-5][0-9]$`

var policyRuleShape = &shape{
	name: "policy_rule", doc: "A rule that names the proposal of the rows that it fits. The guard has the last word.",
	keys: []key{
		{name: "rule", doc: "Name of the rule, unique in the job and its policy files.", required: true, value: patternValue(ruleNamePattern)},
		{name: "when", doc: "Expression over the product fields of the operations, class, reason, proposal (what the type's policy would propose), case_id, and r_ before a product field of the results. The rule fits only where it is true.", def: "it fits always", value: schema{"type": []any{"string", "boolean"}}},
		{name: "propose", doc: "What is proposed instead; none only takes away a review.", required: true, value: enumValue(ruleProposals...)},
		{name: "owner", doc: "Who works on the items, in place of the owner of the type.", def: "the type's", value: textValue()},
		{name: "because", doc: "The reason, a sentence for people.", value: textValue()},
	},
}

var ruleProposals = []string{"confirm", "requeue", "compensate", "review", "close", "none"}

var statesShape = &shape{
	name: "states", doc: "The local state machine.",
	keys: []key{
		{name: "all", doc: "Every state. A state outside has no legal transition (V33).", def: "those of map, else the default set", value: listValue(textValue())},
		{name: "map", doc: "State of the job → state of the default set. Final states, transitions and targets follow from it.", def: "the texts are those of the default set", value: mapValue(textValue())},
		{name: "final", doc: "States in which nothing more is done.", def: "of the default set, those that are in all", value: listValue(textValue())},
		{name: "targets", doc: "Proposal → the state that it leads to.", def: "confirm: confirmed, requeue: retry_scheduled, close: not_applicable, compensate: compensated", value: schema{"type": "object", "propertyNames": enumValue(actingQueues...), "additionalProperties": textValue()}},
		{name: "transitions", doc: "Target state → from which states, by whom, and on which condition.", def: "those of the default set between states in all", value: mapValue(shapeValue(transitionShape))},
	},
}

var transitionShape = &shape{
	name: "transition", doc: "How a state is reached.",
	keys: []key{
		{name: "from", doc: "States that may move there.", required: true, value: listValue(textValue())},
		{name: "owner", doc: "Who makes the transition.", required: true, value: textValue()},
		{name: "condition", doc: "When it may be made, a sentence for people.", required: true, value: textValue()},
	},
}

var limitsShape = &shape{
	name: "limits", doc: "Limits of a run.",
	keys: []key{
		{name: "retry_budget", doc: "Requeues in a time; what is over is deferred to the next run (V34).", value: shapeValue(retryBudgetShape)},
		{name: "blast_radius", doc: "By acting queue: past a limit no acting queue is written (exit 9).", value: schema{"type": "object", "propertyNames": enumValue(actingQueues...), "additionalProperties": shapeValue(blastShape)}},
	},
}

var actingQueues = []string{"confirm", "requeue", "compensate", "close"}

var retryBudgetShape = &shape{
	name: "retry_budget", doc: "Requeues in a time.",
	keys: []key{
		{name: "rows", doc: "How many.", required: true, value: intValue(1)},
		{name: "per", doc: "In which time.", required: true, value: durationValue()},
		{name: "by", doc: "Account of the results (coverage.account) → its own rate; the plain rate holds for the others.", def: "one rate for all", value: mapValue(shapeValue(retryRateShape))},
	},
}

var retryRateShape = &shape{
	name: "retry_rate", doc: "The rate of one provider.",
	keys: []key{
		{name: "rows", doc: "How many.", required: true, value: intValue(1)},
		{name: "per", doc: "In which time.", required: true, value: durationValue()},
	},
}

var blastShape = &shape{
	name: "blast_limit", doc: "Limits of one acting queue.",
	keys: []key{
		{name: "rows", doc: "Items.", value: intValue(1)},
		{name: "share", doc: "Share of the operations in the period: 2%.", value: patternValue(percentPattern)},
		{name: "amount", doc: "Currency → sum of the amounts.", value: amountsValue()},
		{name: "baseline", doc: "More than this beside former runs of the job is too much.", def: "not compared", value: shapeValue(baselineShape)},
	},
}

var baselineShape = &shape{
	name: "baseline", doc: "Against the median of former runs of earlier business dates.",
	keys: []key{
		{name: "runs", doc: "How many former runs.", required: true, value: intValue(1)},
		{name: "factor", doc: "How many times the median is too much, from 1 to 1000.", required: true, value: schema{"type": "number", "minimum": 1, "maximum": 1000}},
	},
}

var releaseShape = &shape{
	name: "release", doc: "A release of allowances for a cohort; attempts, duration or both.",
	keys: []key{
		{name: "id", doc: "Its name, unique in the job and its policy files.", required: true, value: patternValue(releaseIDPattern)},
		{name: "when", doc: "Expression over the product fields of the operations: the cohort.", required: true, value: schema{"type": "string"}},
		{name: "attempts", doc: "So many attempts more: +2.", def: "0", value: anyValue(intValue(1), patternValue(`^\+[0-9]+$`))},
		{name: "duration", doc: "So much longer since the first failure.", def: "0s", value: durationValue()},
		{name: "until", doc: "It holds for reference times before this.", required: true, value: schema{"type": "string"}},
		{name: "by", doc: "Who asked for it.", required: true, value: textValue()},
		{name: "approved_by", doc: "Who approved it: another person.", required: true, value: textValue()},
		{name: "reason", doc: "Why.", required: true, value: textValue()},
	},
}

const releaseIDPattern = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`

var canaryShape = &shape{
	name: "canary", doc: "A planted operation.",
	keys: []key{
		{name: "operation_id", doc: "Its operation id.", required: true, value: textValue()},
		{name: "expect", doc: "The class in which it must come out.", required: true, value: enumValue(Classes...)},
	},
}
