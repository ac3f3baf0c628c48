package rules

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// types reads the policies; "*" is merged into the others key by key, and what a
// type says wins.
func (d *decoder) types(root *object) map[string]TypePolicy {
	n := root.node("types")
	if n == nil {
		return nil
	}
	out := map[string]TypePolicy{}
	var base *yaml.Node
	if n.Kind == yaml.MappingNode {
		base = lookup(n, "*")
	}
	d.free(n, root.at("types"), func(name string, _, v *yaml.Node, path string) {
		if name != "*" {
			v = overlay(base, v)
		}
		if o := d.object(v, typeShape, path); o != nil {
			out[name] = d.policy(name, o)
		}
	})
	return out
}

func (d *decoder) policy(name string, o *object) TypePolicy {
	p := TypePolicy{
		Type:           name,
		EffectIs:       choice(o, "effect_is", "", "settlement"),
		Idempotent:     o.boolean("idempotent", false),
		KeyTTL:         o.duration("idempotency_key_ttl", 0),
		Risk:           choice(o, "risk", "none", risks...),
		CompensateWith: o.text("compensate_with", ""),
		Owner:          o.text("owner", ""),
		ReplyBy:        o.duration("reply_by", 0),
		OncePer:        o.texts("once_per"),
		ExportAge:      o.duration("export_age", 0),
		ProofValid:     o.duration("proof_valid", 0),
		Backoff:        defaultBackoff,
	}
	if w := o.sub("window", windowShape); w != nil {
		p.HasWindow = true
		p.Expected, p.Deadline = w.duration("expected", 0), w.duration("deadline", 0)
		if w.has("deadline") && p.Deadline < p.Expected {
			w.fail("deadline", "the deadline counts from the creation and is the longer of the two", "the deadline of %s is before a result is expected", name)
		}
	}
	if r := o.sub("retry", retryShape); r != nil {
		p.MaxAttempts = int(r.integer("max_attempts", 0, 1, 1_000_000))
		p.MaxDuration = r.duration("max_duration", 0)
		p.Retryable = r.texts("retryable")
		if b := r.sub("backoff", backoffShape); b != nil {
			p.Backoff = Backoff{
				Initial: b.duration("initial", defaultBackoff.Initial), Max: b.duration("max", defaultBackoff.Max),
				Factor: b.number("factor", defaultBackoff.Factor, 1, 100), Jitter: b.number("jitter", defaultBackoff.Jitter, 0, 1),
			}
			if p.Backoff.Max < p.Backoff.Initial {
				b.fail("max", "", "the longest step of %s is shorter than the first", name)
			}
		}
	}
	if a := o.sub("approvals", approvalsShape); a != nil {
		p.Approvals = &Approvals{Over: d.amounts(a, "over"), Approvers: int(a.integer("approvers", 1, 1, 100))}
	}
	if x := o.sub("describe", describeShape); x != nil {
		p.Describe = Describe{Effect: x.text("effect", ""), Truth: x.text("truth", ""), ClosesWhen: x.text("closes_when", "")}
	}
	d.keyLifetime(name, o.path, p)
	return p
}

// defaultBackoff holds for types that declare no other.
var defaultBackoff = Backoff{Initial: 10e9, Max: 3600e9, Factor: 2, Jitter: 0}

// keyLifetime refuses policies that could never requeue safely (V39).
func (d *decoder) keyLifetime(name, path string, p TypePolicy) {
	if p.KeyTTL == 0 || !p.Idempotent {
		return
	}
	if p.HasWindow && p.Deadline >= p.KeyTTL {
		d.fail(join(join(path, "window"), "deadline"), "shorten the deadline: an absence must be known while the key still protects a requeue",
			"the deadline of %s (%s) is not before the end of its idempotency key (%s), so that nothing could be requeued (V39)", name, formatDuration(p.Deadline), formatDuration(p.KeyTTL))
	}
	if p.MaxDuration > p.KeyTTL {
		d.warn(join(join(path, "retry"), "max_duration"), "no attempt is proposed after the end of the key",
			"the longest duration of %s (%s) ends after its idempotency key (%s)", name, formatDuration(p.MaxDuration), formatDuration(p.KeyTTL))
	}
}

// number reads a plain number that is neither money nor compared.
func (o *object) number(name string, def, minimum, maximum float64) float64 {
	n := o.node(name)
	if n == nil {
		return def
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || !(v >= minimum && v <= maximum) {
		o.fail(name, "", "%s is not a number from %g to %g", o.at(name), minimum, maximum)
		return def
	}
	return v
}

// amounts reads currency → amount. An amount alone is refused: it has no meaning
// without its currency (V39).
func (d *decoder) amounts(o *object, name string) map[string]string {
	n := o.node(name)
	if n == nil {
		return nil
	}
	path := o.at(name)
	if n.Kind != yaml.MappingNode {
		d.failAt(at(n), path, `write {EUR: "1000.00"}`, "%s is an amount without its currency (V39)", path)
		return nil
	}
	out := map[string]string{}
	d.free(n, path, func(currency string, k, v *yaml.Node, p string) {
		if !currencyCode.MatchString(currency) {
			d.failAt(at(k), p, "three capital letters (ISO 4217): EUR", "%s: %q is no currency", path, currency)
			return
		}
		text, ok := d.scalar(v, p)
		if !ok {
			return
		}
		x, err := parseDecimal(text)
		if err != nil || x.Negative {
			d.failAt(at(v), p, `an amount that is not negative, such as "1000.00"`, "%s: %q is no amount", p, text)
			return
		}
		out[currency] = CanonicalDecimal(x)
	})
	return out
}

// The default states (design.md, section 4).
var (
	defaultStates = []string{
		"pending", "processing", "awaiting_confirmation", "confirmed", "retry_scheduled", "manual_review", "compensated",
		"not_applicable", "cancelled", "superseded",
	}
	defaultFinal       = []string{"confirmed", "compensated", "not_applicable", "cancelled", "superseded"}
	defaultTransitions = map[string][]string{
		"confirmed":       {"pending", "processing", "awaiting_confirmation", "retry_scheduled", "manual_review"},
		"retry_scheduled": {"pending", "processing", "awaiting_confirmation", "retry_scheduled"},
		"not_applicable":  {"pending", "processing", "awaiting_confirmation", "retry_scheduled"},
		"compensated":     {"confirmed", "manual_review", "awaiting_confirmation", "processing", "pending", "retry_scheduled"},
	}
)

func (d *decoder) states(o *object) States {
	s := States{All: slices.Clone(defaultStates)}
	if o != nil {
		s.Declared = true
		if o.has("all") {
			s.All = o.texts("all")
		}
	}
	known := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(s.All, n) })
	}
	s.Final = known(defaultFinal)
	s.Transitions = map[string][]string{}
	if o == nil || !o.has("transitions") {
		for to, from := range defaultTransitions {
			if from := known(from); len(from) > 0 && slices.Contains(s.All, to) {
				s.Transitions[to] = from
			}
		}
	}
	if o == nil {
		return s
	}
	check := func(state, path string) {
		if !slices.Contains(s.All, state) {
			d.fail(path, didYouMean(state, s.All), "%s: %q is no state", path, state)
		}
	}
	if n := o.node("final"); n != nil {
		s.Final = o.texts("final")
		for i, x := range s.Final {
			check(x, index(o.at("final"), i))
		}
	}
	if n := o.node("transitions"); n != nil {
		d.free(n, o.at("transitions"), func(to string, _, v *yaml.Node, p string) {
			check(to, p)
			from := d.texts(v, p)
			for i, x := range from {
				check(x, index(p, i))
			}
			s.Transitions[to] = from
		})
	}
	return s
}

func (d *decoder) limits(o *object) Limits {
	l := Limits{BlastRadius: map[string]BlastLimit{}}
	if o == nil {
		return l
	}
	if b := o.sub("retry_budget", retryBudgetShape); b != nil {
		l.RetryRows, l.RetryPer = b.integer("rows", 0, 1, 1<<40), b.duration("per", 0)
	}
	if n := o.node("blast_radius"); n != nil {
		d.free(n, o.at("blast_radius"), func(queue string, k, v *yaml.Node, p string) {
			if !slices.Contains(actingQueues, queue) {
				d.failAt(at(k), p, didYouMean(queue, actingQueues), "%q is no acting queue", queue)
				return
			}
			b := d.object(v, blastShape, p)
			if b == nil {
				return
			}
			x := BlastLimit{Rows: b.integer("rows", 0, 1, 1<<40), Amount: d.amounts(b, "amount")}
			if b.has("share") {
				text := b.text("share", "")
				share, err := parsePercent(text)
				if err != nil || share == 0 {
					b.fail("share", "a percentage such as 2%", "%s: %q is no share", b.at("share"), text)
				}
				x.Share = share
			}
			l.BlastRadius[queue] = x
		})
	}
	return l
}
