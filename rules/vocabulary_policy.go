package rules

// The shapes of the policy: what may be done about an operation, by whom, and
// within which bounds. The first part is what the job says of a type.

var operationsKeys = []key{
	{name: "profile", doc: "register: every operation. recovery_queue: those that were put aside in a dead-letter store; its field names and states are understood.", def: "register", value: enumValue(Register, RecoveryQueue)},
	{name: "whole_register", doc: "Nothing is in flight that the exports do not hold, and no operation leaves them before a run has read it. Needed before an unexpected effect is compensated (V31).", def: "false", value: boolValue()},
	{name: "local_ref", doc: "Product fields that every item carries for whoever acts on it, such as an order number.", def: "none", value: listValue(patternValue(namePattern))},
}

var typeShape = &shape{
	name: "type", doc: "Policy of one type of operation.",
	keys: []key{
		{name: "window", doc: "When a result is due (V25).", def: "every operation is due", value: shapeValue(windowShape)},
		{name: "effect_is", doc: "settlement: sources that prove settlements alone prove its absence (V26).", def: "every outcome counts", value: enumValue("settlement")},
		{name: "idempotent", doc: "The same idempotency key may be sent again without a second effect.", def: "false", value: boolValue()},
		{name: "idempotency_key_ttl", doc: "The provider forgets the key after this; no requeue reaches it.", def: "not declared", value: durationValue()},
		{name: "retry", doc: "Attempts and their schedule.", value: shapeValue(retryShape)},
		{name: "errors", doc: "What the codes of the field error_code say about another attempt; used where the field error_class is empty.", def: "none: a code is ambiguous", value: shapeValue(errorsShape)},
		{name: "risk", doc: "What a second effect would mean. irreversible and regulated go to a person at the first failure.", def: "none", value: enumValue(risks...)},
		{name: "compensate_with", doc: "The business operation that undoes the effect, or {operation, parameters}.", def: "none: nothing is compensated", value: anyValue(patternValue(namePattern), shapeValue(compensationShape))},
		{name: "unexpected", doc: "How an effect that nobody asked for is compensated; needs `whole_register: true` (V31).", def: "such effects go to review", value: shapeValue(unexpectedShape)},
		{name: "approvals", doc: "Approvals over an amount.", value: shapeValue(approvalsShape)},
		{name: "authority", doc: "Compared field → the side that is right when it differs: operations advises to send again, results to correct locally.", def: "none: a person decides", value: mapValue(enumValue(Operations, Results))},
		{name: "when_overtaken", doc: "What becomes of an absent operation of which a newer version exists: review, close, or send_newest.", def: "review", value: enumValue(overtakings...)},
		{name: "enforce", doc: "Proposals that are acted on: confirm, requeue, compensate, close. The items of others are marked observe_only; [] is none.", def: "as the mode of the job", value: listValue(enumValue(actingQueues...))},
		{name: "owner", doc: "Who works on its items. Required where the type may act.", value: textValue()},
		{name: "reply_by", doc: "Time to answer an item, from the reference time. Required where the type may act.", def: "not declared", value: durationValue()},
		{name: "once_per", doc: "Product fields of the operations: at most one effect for each set of their values; a sibling with an effect stops a requeue.", def: "with `risk: financial` entity, amount and currency, as far as they are declared; else none", value: listValue(patternValue(namePattern))},
		{name: "export_age", doc: "An older operations export stops a requeue.", def: "not declared", value: durationValue()},
		{name: "proof_valid", doc: "How long after the reference time the proof of an absence holds.", def: "not declared", value: durationValue()},
		{name: "describe", doc: "What the effect is, in words.", value: shapeValue(describeShape)},
	},
}

var risks = []string{"none", "customer-visible", "financial", "irreversible", "regulated"}

var overtakings = []string{"review", "close", "send_newest"}

var windowShape = &shape{
	name: "window", doc: "When the absence of a result becomes meaningful: at max(created + deadline, last attempt + expected).",
	keys: []key{
		{name: "expected", doc: "Time from the last attempt in which a result is expected: a duration, or {business_days: 1}.", def: "0s", value: anyValue(durationValue(), shapeValue(businessDaysShape))},
		{name: "deadline", doc: "Time from the creation after which a result is due: a duration, or {business_days: 2}.", required: true, value: anyValue(durationValue(), shapeValue(businessDaysShape))},
		{name: "calendar", doc: "The calendar that business days are counted by.", def: "none", value: patternValue(calendarNamePattern)},
	},
}

var businessDaysShape = &shape{
	name: "business_days", doc: "A time in business days of the calendar of the window.",
	keys: []key{
		{name: "business_days", doc: "How many.", required: true, value: schema{"type": "integer", "minimum": 1, "maximum": maxBusinessDays}},
	},
}

// maxBusinessDays bounds a window: a year of business days is past any window that
// is meant.
const maxBusinessDays = 366

var retryShape = &shape{
	name: "retry", doc: "Attempts of an operation.",
	keys: []key{
		{name: "max_attempts", doc: "Attempts in all.", def: "not limited", value: intValue(1)},
		{name: "max_duration", doc: "From the first failure to the last attempt.", def: "not limited", value: durationValue()},
		{name: "backoff", doc: "Time to the next attempt.", value: shapeValue(backoffShape)},
		{name: "retryable", doc: "Texts of the provider's status, refusals after which another attempt makes sense.", def: "none", value: listValue(textValue())},
	},
}

var backoffShape = &shape{
	name: "backoff", doc: "initial × factor^attempts, at most max, then up to jitter of it more or less, derived from the operation id.",
	keys: []key{
		{name: "initial", doc: "First step.", def: "10s", value: durationValue()},
		{name: "factor", doc: "Growth of each step, from 1 to 100.", def: "2", value: schema{"type": "number", "minimum": 1, "maximum": 100}},
		{name: "max", doc: "Longest step.", def: "1h", value: durationValue()},
		{name: "jitter", doc: "Share of the step, from 0 to 1.", def: "0", value: schema{"type": "number", "minimum": 0, "maximum": 1}},
	},
}

var errorsShape = &shape{
	name: "errors", doc: "Codes of errors by what they say about another attempt. A code that is not listed is ambiguous.",
	keys: []key{
		{name: "transient", doc: "It may pass: another attempt makes sense.", def: "none", value: listValue(textValue())},
		{name: "permanent", doc: "It will not pass: the item goes to review.", def: "none", value: listValue(textValue())},
		{name: "ambiguous", doc: "The effect may be there: the item goes to review.", def: "none", value: listValue(textValue())},
		{name: "critical", doc: "A person looks at it at once: its item is due at the reference time.", def: "none", value: listValue(textValue())},
	},
}

var compensationShape = &shape{
	name: "compensation", doc: "A business operation that undoes an effect.",
	keys: []key{
		{name: "operation", doc: "Its name.", required: true, value: patternValue(namePattern)},
		{name: "parameters", doc: "Parameter → product field of the surplus result, or a text in single quotes.", def: "none", value: mapValue(textValue())},
	},
}

var unexpectedShape = &shape{
	name: "unexpected", doc: "The way of an effect that nobody asked for (V31).",
	keys: []key{
		{name: "owner", doc: "Who works on its items.", required: true, value: textValue()},
		{name: "compensate_with", doc: "The business operation that undoes the effect, or {operation, parameters}.", required: true, value: anyValue(patternValue(namePattern), shapeValue(compensationShape))},
	},
}

var approvalsShape = &shape{
	name: "approvals", doc: "Approvals over an amount.",
	keys: []key{
		{name: "over", doc: "Currency → amount above which approvals are needed.", required: true, value: amountsValue()},
		{name: "approvers", doc: "How many people.", def: "1", value: intValue(1)},
	},
}

var describeShape = &shape{
	name: "describe", doc: "The effect in words, for explain, items and report.",
	keys: []key{
		{name: "effect", doc: "What exists when it worked.", value: textValue()},
		{name: "truth", doc: "Whose records decide.", value: textValue()},
		{name: "closes_when", doc: "What ends a case.", value: textValue()},
	},
}
