package doctor

import (
	"fmt"
	"io"
	"math/big"
	"strings"
)

// InventoryText writes the inventory for people.
func InventoryText(w io.Writer, v *Inventory, color bool) error {
	p := &printer{color: color}
	p.line("%s  %s", p.paint("1", safe(v.File)), plural(v.Records, "record"))
	for _, c := range []struct{ what, column string }{{"type", v.Type}, {"state", v.State}, {"amount", v.Amount}, {"currency", v.Currency}, {"created", v.Created}} {
		text := "no column found"
		if c.column != "" {
			text = "column " + safe(quoted(c.column)) + "  " + p.sureText(Likely, "by its name")
		}
		p.line("  %-8s  %s", c.what, text)
	}
	if v.Oldest != "" {
		p.line("  %-8s  %s", "oldest", v.Oldest)
		p.line("  %-8s  %s", "newest", v.Newest)
		if v.OldestOpen != "" {
			p.line("  %-8s  %s", "open", v.OldestOpen+", the oldest record in a state that does not sound final")
		}
	}
	p.groups(v)
	p.head("Keys")
	rows := [][]string{{"column", "filled", "different", "use", ""}}
	for _, k := range v.Keys {
		different := grouped(k.Distinct)
		if k.Compared < k.Filled {
			different += " of the first " + grouped(k.Compared)
		}
		use := map[string]string{"identity": "identity key", "part": "part of a key", "none": "no key"}[k.Use]
		rows = append(rows, []string{cut(safe(k.Column), 36), share(k.Filled, v.Records), different, use, safe(k.Why)})
	}
	p.rows(rows, map[int]bool{1: true, 2: true})
	p.head("Where to start")
	for i, s := range v.Start {
		p.line("  %d. %s", i+1, safe(s.Text))
		if s.YAML != "" {
			p.line("     %s", p.paint("36", safe(s.YAML)))
		}
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// groups shows type by state, and the money of each.
func (p *printer) groups(v *Inventory) {
	type row struct {
		typ, state string
		open       bool
		records    int64
		unreadable int64
		money      []string
	}
	var rows []*row
	more := 0
	for _, g := range v.Groups {
		var at *row
		for _, r := range rows {
			if r.typ == g.Type && r.state == g.State {
				at = r
			}
		}
		if at == nil {
			if len(rows) == 60 {
				more++
				continue
			}
			at = &row{typ: g.Type, state: g.State, open: g.Open}
			rows = append(rows, at)
		}
		at.records += g.Records
		at.unreadable += g.Unreadable
		if sum, ok := new(big.Rat).SetString(g.Sum); ok && v.Amount != "" {
			at.money = append(at.money, strings.TrimSpace(g.Currency+" "+moneyText(sum, g.Currency)))
		}
	}
	p.head("By type and state")
	table := [][]string{{"type", "state", "records", "money", ""}}
	for _, r := range rows {
		note := ""
		if v.State != "" && r.open {
			note = "open"
		}
		if r.unreadable > 0 {
			note = strings.TrimPrefix(note+", ", ", ") + fmt.Sprintf("%s not readable", plural(r.unreadable, "amount"))
		}
		table = append(table, []string{cut(safe(dash(r.typ)), 30), cut(safe(dash(r.state)), 30), grouped(r.records), safe(list(r.money, 4)), note})
	}
	p.rows(table, map[int]bool{2: true})
	if more > 0 {
		p.line("  and %s; --output json has all", plural(int64(more), "combination"))
	}
	if v.State != "" {
		p.line("  %s", p.paint("2", "open: the name of the state does not sound final; a guess"))
	}
}
