package doctor

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// controls compares what the last line states with what was read.
func (l *look) controls() {
	if l.src.Format.Bank() {
		l.bankControls()
		return
	}
	if t := l.src.Typed; t != nil && slices.ContainsFunc(t.Kinds, func(k rules.RecordKind) bool { return k.Count != nil || len(k.Sums) > 0 }) {
		l.r.Controls = append(l.r.Controls, Control{Where: "footer lines", Stated: "counts and sums, as the preset declares them", Of: "the records before them", Ties: true, Sure: Fact})
	}
	if l.d.controlLine == "" || len(l.trailer) == 0 {
		return
	}
	form := extract.NewDecimals(rules.Field{DecimalMark: l.d.decimal, GroupMark: l.d.group, Notation: []string{"parentheses", "trailing_minus"}}, nil)
	for i, text := range l.trailer {
		text = strings.TrimSpace(text)
		n, scale, ok := form.Read([]byte(text))
		if !ok || i == 0 && l.d.controlLine == "trailer" {
			continue
		}
		c := Control{Where: fmt.Sprintf("%s.%d", l.d.controlLine, i+1), Stated: text, Sure: Unsure}
		l.explain(&c, n, scale, i)
		l.r.Controls = append(l.r.Controls, c)
		switch {
		case c.Ties || c.Of == "":
		case c.Of == "count":
			l.r.find("control_differs", "", "%s states %s, and %s were read: if it is their number, the file is not whole", c.Where, quoted(text), plural(l.r.Records, "record"))
		default:
			l.r.find("control_differs", c.Of, "%s states %s, and %s comes to %s: if it is its sum, the file is not whole", c.Where, quoted(text), quoted(c.Of), c.Found)
		}
	}
}

// explain finds what a stated number is the total of: the number of records, or the
// sum of a column. One that nothing ties to may still be near.
func (l *look) explain(c *Control, n *big.Rat, scale, place int) {
	count := new(big.Rat).SetInt64(l.r.Records)
	if n.Cmp(count) == 0 && scale == 0 {
		c.Of, c.Found, c.Ties, c.Sure = "count", ratText(count), true, Likely
		return
	}
	near := -1
	for i := range l.r.Columns {
		col := &l.r.Columns[i]
		if col.Sum == "" || n.Sign() == 0 && i != place {
			continue
		}
		sum, _ := new(big.Rat).SetString(col.Sum)
		switch {
		case sum.Cmp(n) == 0:
			c.Of, c.Found, c.Ties, c.Sure = col.Name, col.Sum, true, Likely
			return
		case i == place && l.d.controlLine == "total_line" && col.Looks == "decimal", closeTo(sum, n) && col.Looks == "decimal" && near < 0:
			near = i
		}
	}
	switch {
	case near >= 0:
		c.Of, c.Found = l.r.Columns[near].Name, l.r.Columns[near].Sum
	case scale == 0 && (closeTo(count, n) || new(big.Rat).Sub(count, n).Abs(new(big.Rat).Sub(count, n)).Cmp(big.NewRat(3, 1)) <= 0):
		c.Of, c.Found = "count", ratText(count)
	}
}

// closeTo: at most a twentieth away.
func closeTo(a, b *big.Rat) bool {
	d := new(big.Rat).Sub(a, b)
	return a.Sign() != 0 && d.Abs(d).Cmp(new(big.Rat).Mul(new(big.Rat).Abs(a), big.NewRat(1, 20))) <= 0
}

// bankControls lists the proofs of a bank's file. Its reader has refused one whose
// balances do not tie, unless they were only to be reported.
func (l *look) bankControls() {
	facts, err := extract.BankFacts(l.trailer)
	if err != nil {
		return
	}
	for i, s := range facts.Statements {
		if i == 20 {
			l.r.Controls = append(l.r.Controls, Control{Where: fmt.Sprintf("%s more", plural(int64(len(facts.Statements)-i), "statement")), Stated: "opening and closing", Of: "opening + entries = closing", Ties: l.unproved == "", Sure: Fact})
			break
		}
		if s.Opening == "" && s.Closing == "" {
			continue
		}
		c := Control{Where: s.Name(), Stated: "opening " + dash(s.Opening) + ", closing " + dash(s.Closing), Of: "opening + entries = closing", Found: plural(s.Entries, "entry"), Ties: true, Sure: Fact}
		if s.Opening == "" || s.Closing == "" {
			c.Of, c.Ties = "", false
		}
		for _, n := range facts.Notes {
			if strings.Contains(n.Text, "closing balance") && (strings.Contains(n.Text, s.Name()) || strings.Contains(n.Text, fmt.Sprintf("(line %d)", s.Line))) {
				c.Ties = false
			}
		}
		l.r.Controls = append(l.r.Controls, c)
	}
	if (l.d.format == "bai2" || l.d.format == "nacha") && l.unproved == "" {
		l.r.Controls = append(l.r.Controls, Control{Where: "control records", Stated: "counts and sums of groups or batches, and of the file", Of: "records and amounts", Found: plural(l.r.Records, "record"), Ties: true, Sure: Fact})
	}
	if l.unproved != "" {
		l.r.find("unproved", "", "what the file states does not tie, so that a run refuses it: %s", l.unproved)
	}
	for i, n := range facts.Notes {
		if i == 10 {
			break
		}
		if n.Text != l.unproved {
			l.r.find("bank_note", "", "%s", n.Text)
		}
	}
	if facts.Provisional != "" {
		l.r.find("provisional", "", "%s", facts.Provisional)
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
