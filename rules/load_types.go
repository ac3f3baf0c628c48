package rules

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// types reads the policies; "*" is merged into the others key by key, and what a
// type says wins.
func (d *decoder) types(root *object, job *Job) map[string]TypePolicy {
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
			out[name] = d.policy(name, o, job)
		}
	})
	return out
}

func (d *decoder) policy(name string, o *object, job *Job) TypePolicy {
	p := TypePolicy{
		Type:          name,
		EffectIs:      choice(o, "effect_is", "", "settlement"),
		Idempotent:    o.boolean("idempotent", false),
		KeyTTL:        o.duration("idempotency_key_ttl", 0),
		Risk:          choice(o, "risk", "none", risks...),
		WhenOvertaken: choice(o, "when_overtaken", "review", overtakings...),
		Owner:         o.text("owner", ""),
		ReplyBy:       o.duration("reply_by", 0),
		OncePer:       o.texts("once_per"),
		ExportAge:     o.duration("export_age", 0),
		ProofValid:    o.duration("proof_valid", 0),
		Errors:        d.errorCodes(o.sub("errors", errorsShape)),
		Authority:     d.authority(o, job),
		Backoff:       defaultBackoff,
	}
	d.window(name, o.sub("window", windowShape), &p, job)
	d.retry(name, o.sub("retry", retryShape), &p)
	p.CompensateWith, p.CompensateParameters = d.compensation(o, job)
	if u := o.sub("unexpected", unexpectedShape); u != nil {
		p.Unexpected = &UnexpectedPolicy{Owner: u.text("owner", "")}
		p.Unexpected.CompensateWith, p.Unexpected.CompensateParameters = d.compensation(u, job)
	}
	if a := o.sub("approvals", approvalsShape); a != nil {
		p.Approvals = &Approvals{Over: d.amounts(a, "over"), Approvers: int(a.integer("approvers", 1, 1, 100))}
	}
	if x := o.sub("describe", describeShape); x != nil {
		p.Describe = Describe{Effect: x.text("effect", ""), Truth: x.text("truth", ""), ClosesWhen: x.text("closes_when", "")}
	}
	if n := o.node("enforce"); n != nil {
		p.EnforceDeclared, p.Enforce = true, []string{}
		if n.Kind != yaml.SequenceNode || len(n.Content) > 0 {
			p.Enforce = append(p.Enforce, enums(o, "enforce", actingQueues...)...)
		}
	}
	if p.OncePer == nil && p.Risk == "financial" && !o.has("once_per") {
		p.OncePer = siblingFields(job)
	}
	d.keyLifetime(name, o.path, p, job)
	return p
}

// siblingFields say when two financial operations are the same effect: the customer
// who has paid again by a new operation. Without an entity there are none, since
// amount and currency alone would make strangers siblings.
func siblingFields(job *Job) []string {
	if job.Operations.Field("entity") == nil {
		return nil
	}
	var out []string
	for _, f := range []string{"entity", "amount", "currency"} {
		if job.Operations.Field(f) != nil {
			out = append(out, f)
		}
	}
	return out
}

func (d *decoder) retry(name string, r *object, p *TypePolicy) {
	if r == nil {
		return
	}
	p.MaxAttempts = int(r.integer("max_attempts", 0, 1, 1_000_000))
	p.MaxDuration = r.duration("max_duration", 0)
	p.Retryable = r.texts("retryable")
	b := r.sub("backoff", backoffShape)
	if b == nil {
		return
	}
	p.Backoff = Backoff{
		Initial: b.duration("initial", defaultBackoff.Initial), Max: b.duration("max", defaultBackoff.Max),
		Factor: b.number("factor", defaultBackoff.Factor, 1, 100), Jitter: b.number("jitter", defaultBackoff.Jitter, 0, 1),
	}
	if p.Backoff.Max < p.Backoff.Initial {
		b.fail("max", "", "the longest step of %s is shorter than the first", name)
	}
}

// defaultBackoff holds for types that declare no other.
var defaultBackoff = Backoff{Initial: 10e9, Max: 3600e9, Factor: 2, Jitter: 0}

// errorCodes reads class → codes into code → class.
func (d *decoder) errorCodes(o *object) map[string]ErrorClass {
	if o == nil {
		return nil
	}
	out := map[string]ErrorClass{}
	for _, class := range []ErrorClass{ErrorTransient, ErrorPermanent, ErrorAmbiguous, ErrorCritical} {
		for i, code := range o.texts(string(class)) {
			if other, ok := out[code]; ok {
				p := o.at(string(class))
				if o.node(string(class)).Kind == yaml.SequenceNode {
					p = index(p, i)
				}
				d.fail(p, "keep the one that holds; ambiguous where both may be", "the code %q is %s and %s", code, other, class)
				continue
			}
			out[code] = class
		}
	}
	return out
}

// authority reads which side is right where a compared field differs.
func (d *decoder) authority(o *object, job *Job) map[string]Side {
	n := o.node("authority")
	if n == nil {
		return nil
	}
	out := map[string]Side{}
	known := compareNames(job.Compare)
	d.free(n, o.at("authority"), func(field string, k, v *yaml.Node, path string) {
		side, ok := d.scalar(v, path)
		if !ok {
			return
		}
		if !oneOf(side, Sides[:]) {
			d.failAt(at(v), path, didYouMean(side, names(Sides[:])), "%s: %q is no side", path, side)
			return
		}
		if !slices.Contains(known, field) && !d.faulty("compare") && !d.faultyBelow("compare") {
			hint := nearest(field, known)
			if hint == "" {
				hint = "add `- {field: " + field + "}` to compare, or remove it here"
			} else {
				hint = "did you mean \"" + hint + "\"?"
			}
			d.failAt(at(k), path, hint, "%s: %q is no compared field, so that no side can be right", o.at("authority"), field)
			return
		}
		out[field] = Side(side)
	})
	return out
}

// faultyBelow tells whether a member of the list at the path has a fault.
func (d *decoder) faultyBelow(path string) bool {
	return slices.ContainsFunc(d.errs, func(e Error) bool { return strings.HasPrefix(e.Path, path+"[") })
}

// compensation reads a business operation with its parameters.
func (d *decoder) compensation(o *object, job *Job) (operation string, parameters map[string]string) {
	n := o.node("compensate_with")
	if n == nil {
		return "", nil
	}
	path := o.at("compensate_with")
	if n.Kind != yaml.MappingNode {
		return o.text("compensate_with", ""), nil
	}
	c := d.object(n, compensationShape, path)
	if c == nil {
		return "", nil
	}
	if p := c.node("parameters"); p != nil {
		parameters = map[string]string{}
		d.free(p, c.at("parameters"), func(name string, k, v *yaml.Node, at string) {
			if !fieldName.MatchString(name) {
				d.fail(at, "lower-case letters, digits and underscores: charge_id", "%q is no name of a parameter", name)
				return
			}
			text, ok := d.scalar(v, at)
			if !ok {
				return
			}
			if len(text) < 2 || text[0] != '\'' || text[len(text)-1] != '\'' {
				f := job.Results.Field(text)
				if f == nil && !d.faulty("results.fields."+text) {
					d.fail(at, cmpHint(didYouMean(text, fieldNames(job.Results.Fields)), Results, text)+` (a fixed text is in single quotes: "'`+text+`'")`,
						"%s: the results declare no field %q", at, text)
					return
				}
			}
			parameters[name] = text
		})
	}
	return c.text("operation", ""), parameters
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

const day = 24 * time.Hour
