package doctor

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// PairOptions say what is known of two files.
type PairOptions struct {
	Left, Right Options // their sides are set: operations and results
	// Key names columns of both files, "op_id=reference" where they differ; several
	// are one key together. Empty: found by the texts that both files have.
	Key []string
	// Compare names columns of both files, "amount=gross" where they differ. Nil: what
	// both files seem to have of amount, currency and status.
	Compare []string
	// Plain: the key is the only pass, and no preset is used.
	Plain bool
	// Name of the job; made of the names of the files where it is "".
	Name string
}

// Pair is a job of two files.
type Pair struct {
	Left    *Report  `json:"operations"`
	Right   *Report  `json:"results"`
	Assumed []string `json:"assumed"`
	Job     string   `json:"job_file"`
	Day     string   `json:"day,omitempty"` // newest day of the records, "" where they have none

	opt     PairOptions
	keys    [][2]*Column // columns of the key, where it is of columns
	match   []line
	compare []line
}

// Join looks at two files and makes a job of them: what the left one lists was
// intended, what the right one lists is what happened. Errors are those of Look, and
// of class Usage where a named column is not there.
func Join(ctx context.Context, left, right string, opt PairOptions) (*Pair, error) {
	opt.Left.Side, opt.Right.Side = rules.Operations, rules.Results
	opt.Left.NoPreset, opt.Right.NoPreset = opt.Plain, opt.Plain
	p := &Pair{opt: opt, Assumed: []string{}}
	var err error
	for _, f := range []struct {
		path string
		opt  Options
		to   **Report
	}{{left, opt.Left, &p.Left}, {right, opt.Right, &p.Right}} {
		if *f.to, err = Look(ctx, f.path, f.opt); err != nil {
			return nil, err
		}
		if r := *f.to; r.Problem != "" || r.Fragment == "" {
			e := fail.New(fail.Input, "%s", r.Problem)
			if r.Problem == "" {
				e = fail.New(fail.Input, "%s: no column of it can be used", f.path)
			}
			return nil, e.WithHint("%s", cmp.Or(r.Hint, "`recon-batch doctor` says more about the file"))
		}
	}
	p.assume("%s lists what you intended (operations), %s what happened (results)", quoted(left), quoted(right))
	if err := p.key(); err != nil {
		return nil, err
	}
	if err := p.compared(); err != nil {
		return nil, err
	}
	if err := p.signs(); err != nil {
		return nil, err
	}
	p.units()
	p.assumeForms()
	p.days()
	return p, p.write()
}

func (p *Pair) assume(format string, args ...any) {
	p.Assumed = append(p.Assumed, fmt.Sprintf(format, args...))
}

// key finds the passes.
func (p *Pair) key() error {
	if len(p.opt.Key) > 0 {
		return p.namedKey()
	}
	l, r, both, of := p.bestKey()
	if l == nil && p.presetKey() {
		return nil
	}
	if l == nil && p.opt.Plain {
		return fail.New(fail.Usage, "the two files have no id in common: no text of a column of the one that tells its records apart is in the other").
			WithHint("name the columns by --key left=right, several with commas; `recon-batch init --from` writes a job to edit, and `recon-batch doctor` shows the columns")
	}
	if l == nil {
		l, r = p.Left.Column(p.Left.fieldColumns()["operation_id"]), p.Right.Column(p.Right.fieldColumns()["operation_id"])
		if l != nil && r != nil {
			p.assume("unsure: the key is %s and %s, though no text of the one is in the other: check it", quoted(l.Name), quoted(r.Name))
			p.bind("operation_id", l, r)
			p.match = append(p.match, line{"- " + flow(pairs{{"pass", "operation_id"}, {"on", []string{"operation_id"}}, {"identity", true}}), "GUESS, unsure: the files have no id in common"})
			return nil
		}
		return fail.New(fail.Usage, "no column of the two files can be a key of both").
			WithHint("name it by --key, such as --key id or --key op_id=reference")
	}
	share := fmt.Sprintf("%s of %s texts of %s are in %s", grouped(both), grouped(of), quoted(l.Name), quoted(r.Name))
	p.assume("the key is %s: %s", keyText(l, r), share)
	p.keys = [][2]*Column{{l, r}}
	p.bind("operation_id", l, r)
	p.match = append(p.match, line{"- " + flow(pairs{{"pass", "operation_id"}, {"on", []string{"operation_id"}}, {"identity", true}}), "GUESS, likely: " + share})
	if !p.opt.Plain {
		p.morePasses()
	}
	return nil
}

// presetKey takes the operation id that a preset finds inside a column, where no
// column as a whole is a key.
func (p *Pair) presetKey() bool {
	if p.Left.look.d.preset == nil && p.Right.look.d.preset == nil || !p.Left.look.gives("operation_id") || !p.Right.look.gives("operation_id") {
		return false
	}
	p.assume("the key is operation_id, as the preset finds it in the file")
	p.match = append(p.match, line{"- " + flow(pairs{{"pass", "operation_id"}, {"on", []string{"operation_id"}}, {"identity", true}}), "GUESS, unsure: by the preset"})
	return true
}

// gives tells whether the source has a product field, by itself or by its preset.
func (l *look) gives(name string) bool {
	if slices.ContainsFunc(l.d.fields, func(f field) bool { return f.name == name }) {
		return true
	}
	if l.d.preset == nil {
		return false
	}
	job, _, err := l.withPreset(l.d.preset)
	return err == nil && job.Spec(l.d.preset.Side).Field(name) != nil
}

// units looks whether one side writes its amounts in minor units: whole numbers that
// are about a hundred times those of the other side.
func (p *Pair) units() {
	l, r := p.Left.Column(p.Left.fieldColumns()["amount"]), p.Right.Column(p.Right.fieldColumns()["amount"])
	if l == nil || r == nil || p.Left.look.d.preset != nil || p.Right.look.d.preset != nil {
		return
	}
	for _, x := range []struct {
		whole, other *Column
		look         *look
	}{{l, r, p.Left.look}, {r, l, p.Right.look}} {
		if x.whole.Looks != "integer" || x.other.Looks != "decimal" || x.look.r.fieldColumns()["currency"] == "" {
			continue
		}
		a, okA := new(big.Rat).SetString(x.whole.Sum)
		b, okB := new(big.Rat).SetString(x.other.Sum)
		if !okA || !okB || b.Sign() == 0 || x.whole.Filled == 0 {
			continue
		}
		times, _ := new(big.Rat).Quo(new(big.Rat).Mul(a, big.NewRat(x.other.Filled, 1)), new(big.Rat).Mul(b, big.NewRat(x.whole.Filled, 1))).Float64()
		if times < 40 || times > 250 {
			continue
		}
		for i := range x.look.d.fields {
			f := &x.look.d.fields[i]
			if v, ok := f.value.(pairs); ok && f.name == "amount" {
				v.set("minor_units_of", "currency")
				f.value, f.comment = v, "GUESS, unsure: whole numbers, a hundred times those of the other side"
				p.assume("%s of %s is in minor units, such as cents: whole numbers, about a hundred times those of the other side", quoted(x.whole.Name), quoted(x.look.r.File))
			}
		}
	}
}

func keyText(l, r *Column) string {
	if l.Name == r.Name {
		return quoted(l.Name)
	}
	return quoted(l.Name) + " = " + quoted(r.Name)
}

// namedKey takes the columns that were named.
func (p *Pair) namedKey() error {
	var fields []string
	for i, k := range p.opt.Key {
		l, r, err := p.columns(k, "--key")
		if err != nil {
			return err
		}
		name := "operation_id"
		if len(p.opt.Key) > 1 {
			name = fieldName(l.Name, i)
			p.define(name, l, r)
		} else {
			p.bind(name, l, r)
		}
		fields, p.keys = append(fields, name), append(p.keys, [2]*Column{l, r})
		both, of := p.common(l, r)
		p.assume("%s is a key of both: %s of %s different texts of %s are in %s", keyText(l, r), grouped(both), grouped(of), quoted(l.Name), quoted(r.Name))
	}
	name := "key"
	if len(fields) == 1 {
		name = fields[0]
	}
	p.match = append(p.match, line{"- " + flow(pairs{{"pass", name}, {"on", fields}, {"identity", true}}), "as named"})
	return nil
}

// columns finds the columns of "name" or "left=right".
func (p *Pair) columns(spec, flag string) (l, r *Column, err error) {
	left, right, two := strings.Cut(spec, "=")
	if !two {
		right = left
	}
	find := func(rep *Report, name string) (*Column, error) {
		if c := rep.Column(name); c != nil {
			return c, nil
		}
		for i := range rep.Columns {
			if c := &rep.Columns[i]; plainName(c.Name) == plainName(name) {
				return c, nil
			}
		}
		if column := rep.fieldColumns()[name]; column != "" {
			return rep.Column(column), nil
		}
		var names []string
		for _, c := range rep.Columns {
			names = append(names, quoted(c.Name))
		}
		return nil, fail.New(fail.Usage, "%s has no column %s", rep.File, quoted(name)).
			WithHint("its columns are %s; where the two files differ write %s left=right", list(names, 20), flag)
	}
	if l, err = find(p.Left, left); err == nil {
		r, err = find(p.Right, right)
	}
	return l, r, err
}

// fieldName makes a name for a product field.
func fieldName(column string, i int) string {
	if name := plainName(column); name != "" && name[0] >= 'a' {
		return name
	}
	return fmt.Sprintf("key_%d", i+1)
}

// maxCommon bounds the fingerprints of one column that are looked up.
const maxCommon = 50_000

// common counts the different texts of one column that the other has, among those
// that were compared.
func (p *Pair) common(l, r *Column) (both, of int64) {
	a, b := p.Left.look.column(l).marks, p.Right.look.column(r).marks
	step := uint64(len(a)/maxCommon + 1)
	for m := range a {
		if m%step != 0 {
			continue
		}
		of++
		if _, ok := b[m]; ok {
			both++
		}
	}
	return both, of
}

// bestKey finds the pair of columns that have the most texts in common, among those
// whose texts tell records apart.
func (p *Pair) bestKey() (bl, br *Column, both, of int64) {
	candidates := func(r *Report) (out []*Column) {
		for i := range r.Columns {
			c := &r.Columns[i]
			if c.Filled > 0 && c.Distinct*3 > c.Compared && (c.Looks == "text" || c.Looks == "integer" && (idName(c.Name) || c.Unique())) && c.Field != "amount" && !r.look.duplicate(c.Name) && r.look.column(c).marks != nil {
				out = append(out, c)
			}
		}
		return out
	}
	best := 0.0
	for _, l := range candidates(p.Left) {
		for _, r := range candidates(p.Right) {
			b, o := p.common(l, r)
			if b == 0 || b < 2 && min(l.Distinct, r.Distinct) > 2 {
				continue
			}
			small := max(1, min(o, r.Distinct))
			score := min(1, float64(b)/float64(small)) * float64(l.Distinct) / float64(l.Compared) * float64(r.Distinct) / float64(r.Compared) *
				min(1, float64(l.Filled)/float64(max(1, p.Left.Records))+0.2)
			if idName(l.Name) || idName(r.Name) {
				score *= 1.2
			}
			if l.Field == "operation_id" || r.Field == "operation_id" {
				score *= 1.2
			}
			if score > best {
				bl, br, both, of, best = l, r, b, o, score
			}
		}
	}
	if best < 0.05 {
		return nil, nil, 0, 0
	}
	return bl, br, both, of
}

// morePasses adds what both sides have besides the key.
func (p *Pair) morePasses() {
	l, r := p.Left.fieldColumns(), p.Right.fieldColumns()
	if a, b := p.Left.Column(l["idempotency_key"]), p.Right.Column(r["idempotency_key"]); a != nil && b != nil {
		if both, of := p.common(a, b); both > 0 {
			p.match = append(p.match, line{"- " + flow(pairs{{"pass", "idempotency_key"}, {"on", []string{"idempotency_key"}}, {"identity", true}}),
				fmt.Sprintf("GUESS, likely: %s of %s texts are on both sides", grouped(both), grouped(of))})
		}
	}
	a, b := p.Left.Column(l["entity"]), p.Right.Column(r["entity"])
	if a == nil || b == nil || l["amount"] == "" || r["amount"] == "" || l["currency"] == "" || r["currency"] == "" {
		return
	}
	if both, of := p.common(a, b); both > 0 {
		p.match = append(p.match, line{"- " + flow(pairs{{"pass", "business_key"}, {"on", []string{"entity", "currency", "amount"}}}),
			fmt.Sprintf("GUESS, unsure: %s of %s texts of %s are on both sides; for records that carry no id", grouped(both), grouped(of), quoted(a.Name))})
	}
}

// bind gives a product field its columns on both sides.
func (p *Pair) bind(name string, l, r *Column) {
	p.Left.look.rebind(name, l)
	p.Right.look.rebind(name, r)
}

// define adds a field that both sides have in the same type.
func (p *Pair) define(name string, l, r *Column) {
	for _, x := range []struct {
		look *look
		col  *Column
	}{{p.Left.look, l}, {p.Right.look, r}} {
		x.look.d.fields = slices.DeleteFunc(x.look.d.fields, func(f field) bool { return f.name == name })
		long := pairs{{"column", x.col.Name}}
		switch {
		case l.Looks == "decimal" || r.Looks == "decimal", l.Looks == "integer" && r.Looks == "integer" && fieldOfName(l.Name) == "amount":
			if numberColumn(l) && numberColumn(r) {
				long.set("type", "decimal")
				x.look.numberKeys(&long, x.look.column(x.col))
			}
		case l.Looks == "currency" && r.Looks == "currency":
			long.set("type", "currency")
		case l.Looks == r.Looks && (l.Looks == "date" || l.Looks == "timestamp"):
			x.look.timeKeys(&long, x.col, x.look.column(x.col), "")
		}
		var value any = long
		if len(long) == 1 {
			value = x.col.Name
		}
		x.look.d.fields = append(x.look.d.fields, field{name, value, "compared"})
	}
}

func numberColumn(c *Column) bool { return c.Looks == "decimal" || c.Looks == "integer" }

// rebind gives a field another column.
func (l *look) rebind(name string, c *Column) {
	for i := range l.r.Columns {
		if o := &l.r.Columns[i]; o.Field == name && o != c {
			o.Field = ""
		}
	}
	l.d.fields = slices.DeleteFunc(l.d.fields, func(f field) bool {
		column, _ := f.value.(string)
		return f.name == name || column == c.Name && (f.name == "remote_id" || f.name == "entity")
	})
	c.Field = ""
	l.addField(name, c, "")
	slices.SortStableFunc(l.d.fields, func(a, b field) int { return fieldPlace(a.name) - fieldPlace(b.name) })
}
