package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// maxGroups bounds the combinations of type, state and currency that are counted
// apart; the rest is counted together.
const maxGroups = 5000

// Inventory counts what a job table or an export of operations holds.
type Inventory struct {
	SchemaVersion int     `json:"schema_version"`
	File          string  `json:"file"`
	Records       int64   `json:"records"`
	Type          string  `json:"type_column"` // "" where none was found
	State         string  `json:"state_column"`
	Amount        string  `json:"amount_column"`
	Currency      string  `json:"currency_column"`
	Created       string  `json:"created_column"`
	Oldest        string  `json:"oldest,omitempty"`
	Newest        string  `json:"newest,omitempty"`
	OldestOpen    string  `json:"oldest_open,omitempty"` // of the records in states that are not final
	Groups        []Group `json:"groups"`
	Keys          []Key   `json:"keys"`
	Start         []Step  `json:"start"`
	Report        *Report `json:"-"`
}

// Group are the records of one type, state and currency.
type Group struct {
	Type       string `json:"type"`
	State      string `json:"state"`
	Currency   string `json:"currency"`
	Records    int64  `json:"records"`
	Sum        string `json:"sum,omitempty"` // of the readable amounts, exact
	Unreadable int64  `json:"unreadable_amounts"`
	Open       bool   `json:"open"` // a guess by the name of the state: work is left
}

// Key is a column that could be a key.
type Key struct {
	Column   string `json:"column"`
	Filled   int64  `json:"filled"`
	Distinct int64  `json:"distinct"`
	Compared int64  `json:"compared"`
	Use      string `json:"use"` // identity, part, none
	Why      string `json:"why"`
}

// Step is a piece of advice.
type Step struct {
	Text string `json:"text"`
	YAML string `json:"yaml,omitempty"`
}

// TakeInventory looks at a file and counts its records.
func TakeInventory(ctx context.Context, path string, opt Options) (*Inventory, error) {
	opt.Side, opt.NoPreset = rules.Operations, true
	r, err := Look(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	if r.Problem != "" {
		e := fail.New(fail.Input, "%s", r.Problem)
		e.Hint = r.Hint
		return nil, e
	}
	fields := r.fieldColumns()
	v := &Inventory{
		SchemaVersion: 1, File: path, Records: r.Records, Report: r, Groups: []Group{}, Keys: []Key{}, Start: []Step{},
		Type: fields["type"], State: fields["state"], Amount: fields["amount"], Currency: fields["currency"], Created: fields["created_at"],
	}
	if c := slices.DeleteFunc(slices.Clone(r.Columns), func(c Column) bool { return c.Field != "amount" }); len(c) > 1 {
		v.Amount = "" // in two columns: which sums say nothing of each other
	}
	if err := v.count(ctx, path); err != nil {
		return nil, err
	}
	v.keys()
	v.start()
	return v, nil
}

// group adds up while the file is read.
type group struct {
	Group
	sum *extract.Decimals
}

// count reads the file once more, by the columns that are known now.
func (v *Inventory) count(ctx context.Context, path string) error {
	l := v.Report.look
	f, err := os.Open(path)
	if err != nil {
		return fail.Wrap(fail.Input, err, "%s cannot be read", path)
	}
	defer f.Close()
	l.f, l.ctx = f, ctx
	defer func() { l.f = nil }()
	form, times := v.forms()
	groups := map[[3]string]*group{}
	var oldest, newest, open time.Time
	err = l.each(func(get func(string) string) {
		key := [3]string{get(v.Type), get(v.State), strings.ToUpper(get(v.Currency))}
		g := groups[key]
		if g == nil {
			if len(groups) >= maxGroups {
				key = [3]string{"(others)", "", key[2]}
			}
			if g = groups[key]; g == nil {
				g = &group{Group: Group{Type: key[0], State: key[1], Currency: key[2], Open: isOpen(key[1])}, sum: extract.NewDecimals(form, nil)}
				groups[key] = g
			}
		}
		g.Records++
		if v.Amount != "" {
			if text := get(v.Amount); text != "" {
				if _, ok := g.sum.Add([]byte(text)); !ok {
					g.Unreadable++
				}
			}
		}
		if times == nil {
			return
		}
		if t, ok := times.Read([]byte(get(v.Created))); ok {
			if oldest.IsZero() || t.Before(oldest) {
				oldest = t
			}
			if t.After(newest) {
				newest = t
			}
			if g.Open && (open.IsZero() || t.Before(open)) {
				open = t
			}
		}
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		if v.Amount != "" {
			g.Sum = ratText(g.sum.Sum())
		}
		v.Groups = append(v.Groups, g.Group)
	}
	slices.SortFunc(v.Groups, func(a, b Group) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), -cmp.Compare(a.Records, b.Records), strings.Compare(a.State, b.State), strings.Compare(a.Currency, b.Currency))
	})
	if !oldest.IsZero() {
		typ := rules.FieldType(v.Report.Column(v.Created).Looks)
		v.Oldest, v.Newest = timeText(oldest, typ), timeText(newest, typ)
		if v.State != "" && !open.IsZero() {
			v.OldestOpen = timeText(open, typ)
		}
	}
	return nil
}

// forms are those of the amount and of the time of creation.
func (v *Inventory) forms() (amount rules.Field, created *extract.Times) {
	l := v.Report.look
	if v.Amount != "" {
		if best, _ := l.column(v.Report.Column(v.Amount)).bestNumber(); best != nil {
			f := numberForms[best.form]
			amount = rules.Field{DecimalMark: f.mark, GroupMark: f.group, Notation: []string{"parentheses", "trailing_minus"}}
		}
	}
	if v.Created != "" {
		if best, _ := l.column(v.Report.Column(v.Created)).bestTime(); best != nil {
			created = best.read
		}
	}
	return amount, created
}

// each calls do for every record that can be read; get gives the text of a column.
func (l *look) each(do func(get func(string) string)) error {
	r, err := l.reader(l.src, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	index := map[string]int{}
	for i, h := range r.Header() {
		if _, ok := index[h]; !ok {
			index[h] = i
		}
	}
	for n := 0; ; n++ {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if _, bad := errors.AsType[*extract.RecordError](err); bad {
			continue
		}
		if err != nil {
			return err
		}
		if n%4096 == 0 && l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		do(func(name string) string {
			if i, ok := index[name]; ok {
				return string(rec.Cells[i].Text)
			}
			for i := range rec.Extra {
				if rec.Extra[i].Name == name {
					return string(rec.Extra[i].Text)
				}
			}
			return ""
		})
	}
}

func isOpen(state string) bool { return !slices.Contains(finalStates, plainName(state)) }

// keys judges the columns that could link records.
func (v *Inventory) keys() {
	for _, c := range v.Report.Columns {
		if c.Filled == 0 || c.Looks != "text" && c.Looks != "integer" || !idName(c.Name) && !(c.Unique() && c.Filled*10 > v.Records*9) {
			continue
		}
		k := Key{Column: c.Name, Filled: c.Filled, Distinct: c.Distinct, Compared: c.Compared}
		switch {
		case c.Unique() && c.Field == "entity":
			k.Use, k.Why = "part", "never twice here; but an order, invoice or customer may have several operations"
		case c.Unique() && c.Filled == v.Records:
			k.Use, k.Why = "identity", "in every record, and never twice"
		case c.Unique() && c.Filled*2 > v.Records:
			k.Use, k.Why = "identity", "never twice; "+plural(v.Records-c.Filled, "record")+" have none"
		case (c.Field == "operation_id" || c.Field == "idempotency_key") && c.Distinct*10 > c.Compared*9:
			k.Use, k.Why = "identity", plural(c.Compared-c.Distinct, "text")+" repeat one before: attempts or copies, which a run tells apart"
		case c.Unique():
			k.Use, k.Why = "none", "never twice, but "+plural(v.Records-c.Filled, "record")+" have none"
		case c.Distinct*10 > c.Compared*9:
			k.Use, k.Why = "part", plural(c.Compared-c.Distinct, "text")+" repeat one before: retries under one id, or real copies"
		case c.Distinct*3 > c.Compared:
			k.Use, k.Why = "part", "several records share a text: together with amount and currency only"
		default:
			k.Use, k.Why = "none", "too few different texts"
		}
		v.Keys = append(v.Keys, k)
	}
	rank := map[string]int{"identity": 0, "part": 1, "none": 2}
	slices.SortStableFunc(v.Keys, func(a, b Key) int {
		return cmp.Or(rank[a.Use]-rank[b.Use], fieldPlace(v.field(a.Column))-fieldPlace(v.field(b.Column)), -cmp.Compare(a.Filled, b.Filled), -cmp.Compare(a.Distinct, b.Distinct))
	})
}

// start says what to do first.
func (v *Inventory) start() {
	var passes, parts []string
	for _, k := range v.Keys {
		switch {
		case k.Use == "identity" && len(passes) < 3:
			passes = append(passes, k.Column)
		case k.Use == "part":
			parts = append(parts, k.Column)
		}
	}
	if len(passes) > 0 {
		text := "link by " + passes[0] + " first"
		if len(passes) > 1 {
			text += ", then by " + strings.Join(passes[1:], ", then by ")
		}
		var yaml []string
		for _, p := range passes {
			name := v.field(p)
			yaml = append(yaml, flow(pairs{{"pass", name}, {"on", []string{name}}, {"identity", true}}))
		}
		v.Start = append(v.Start, Step{text + ": ask the provider which of them its files have", "match: [" + strings.Join(yaml, ", ") + "]"})
	} else {
		v.Start = append(v.Start, Step{Text: "no column is a key of its own: look for an export that has the ids which were sent to the provider"})
	}
	if len(parts) > 0 && v.Amount != "" {
		v.Start = append(v.Start, Step{Text: "then by " + parts[0] + " with amount and currency, for records that carry no id"})
	}
	if open := v.atRisk(); len(open) > 0 {
		for i, o := range open {
			if i == 3 {
				break
			}
			v.Start = append(v.Start, Step{Text: o})
		}
	} else if v.State == "" {
		v.Start = append(v.Start, Step{Text: "no column says the state of a record: which of them are done cannot be told"})
	}
}

// field is the product field that a column gives, or a name made of it.
func (v *Inventory) field(column string) string {
	if c := v.Report.Column(column); c != nil && c.Field != "" {
		return c.Field
	}
	return plainName(column)
}

// atRisk names the types with the most money in states that are not final, and
// those with the most records where there is no money.
func (v *Inventory) atRisk() []string {
	if v.State == "" {
		return nil
	}
	type risk struct {
		name    string
		records int64
		sums    map[string]*big.Rat
		most    *big.Rat
	}
	by := map[string]*risk{}
	for _, g := range v.Groups {
		if !g.Open {
			continue
		}
		k := by[g.Type]
		if k == nil {
			k = &risk{name: g.Type, sums: map[string]*big.Rat{}, most: new(big.Rat)}
			by[g.Type] = k
		}
		k.records += g.Records
		if sum, ok := new(big.Rat).SetString(g.Sum); ok && sum.Sign() != 0 {
			if k.sums[g.Currency] == nil {
				k.sums[g.Currency] = new(big.Rat)
			}
			k.sums[g.Currency].Add(k.sums[g.Currency], sum)
		}
	}
	order := make([]*risk, 0, len(by))
	for _, k := range by {
		for _, s := range k.sums {
			if a := new(big.Rat).Abs(s); a.Cmp(k.most) > 0 {
				k.most = a
			}
		}
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b *risk) int {
		return cmp.Or(-a.most.Cmp(b.most), -cmp.Compare(a.records, b.records), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, k := range order {
		name := "the records"
		if v.Type != "" {
			name = "type " + quoted(k.name)
		}
		verb := "begin with "
		if len(out) > 0 {
			verb = "then "
		}
		text := fmt.Sprintf("%s%s: %s open", verb, name, plural(k.records, "record"))
		var money []string
		for c, s := range k.sums {
			money = append(money, strings.TrimSpace(c+" "+moneyText(s, c)))
		}
		slices.Sort(money)
		if len(money) > 0 {
			text += ", " + list(money, 4)
		}
		out = append(out, text)
	}
	return out
}

// moneyText writes an amount with the decimals of its currency at least, and groups.
func moneyText(r *big.Rat, currency string) string {
	least, ok := extract.MinorUnit(currency)
	if !ok {
		least = 2
	}
	n, exact := r.FloatPrec()
	if !exact {
		return r.FloatString(4)
	}
	whole, rest, point := strings.Cut(r.FloatString(max(n, least)), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if !point {
		return sign + whole
	}
	return sign + whole + "." + rest
}
