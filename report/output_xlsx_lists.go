package report

import (
	"fmt"
	"strings"
)

// eachMoney calls f for each amount, once without one where there is none. first tells
// the row that has what is said once.
func eachMoney(list []Money, f func(m Money, first bool)) {
	if len(list) == 0 {
		f(Money{}, true)
	}
	for i, m := range list {
		f(m, i == 0)
	}
}

// holds writes what holds the rest.
func (x *workbook) holds() {
	s := x.sheet("Holds", "What holds the rest: for each obstacle the rows in the period, and their money, that it alone keeps from being decided or acted on. The largest first; several and other come last.",
		sheetColumn{"obstacle", 16}, sheetColumn{"what", 34}, sheetColumn{"side", 11}, sheetColumn{"source", 16}, sheetColumn{"file", 26}, sheetColumn{"record", 10}, sheetColumn{"rows", 10}, sheetColumn{"currency", 9}, sheetColumn{"rows with an amount", 11}, sheetColumn{"amount", 20},
		sheetColumn{"what clears it", 60}, sheetColumn{"command", 60})
	for _, h := range x.s.Holds {
		eachMoney(h.Amounts, func(m Money, first bool) {
			if first {
				s.tall(10, h.Clears)
			}
			s.begin()
			s.text(h.Code, styleText)
			s.text(h.What, styleText)
			s.text(h.Side, styleText)
			s.text(h.Source, styleText)
			s.text(h.File, styleText)
			if h.Record > 0 {
				s.whole(h.Record, styleNumber)
			} else {
				s.skip(1)
			}
			if first { // of all currencies, so that they add up
				s.whole(h.Rows, styleCount)
			} else {
				s.skip(1)
			}
			x.money(s, m)
			if first {
				s.sentence(h.Clears, styleWrap)
				s.sentence(h.Command, styleText)
			}
			s.end()
		})
	}
	x.endSheet()
}

// money writes a currency, a number of rows and an amount; nothing where there is none.
func (x *workbook) money(s *sheet, m Money) {
	if m.Amount == "" {
		s.skip(3)
		return
	}
	s.text(m.Currency, styleText)
	s.whole(m.Items, styleCount)
	s.amount(m.Amount, m.Currency, styleAmount)
}

// clusters writes the exceptions by what may be their common cause.
func (x *workbook) clusters() {
	s := x.sheet("Clusters", "Exceptions by what may be their common cause, the most money first. An exception counts in one cluster. The amount is the larger one of both sides.",
		sheetColumn{"cause", 17}, sheetColumn{"what", 34}, sheetColumn{"class", 13}, sheetColumn{"rows", 10}, sheetColumn{"of exceptions of the class", 12}, sheetColumn{"currency", 9}, sheetColumn{"rows with an amount", 11}, sheetColumn{"amount", 20}, sheetColumn{"difference", 20},
		sheetColumn{"in words", 70}, sheetColumn{"for example", 60})
	for _, c := range x.s.Clusters {
		differences := map[string]Money{}
		for _, m := range c.Differences {
			differences[m.Currency] = m
		}
		eachMoney(c.Amounts, func(m Money, first bool) {
			if first {
				s.tall(9, c.Sentence)
				s.tall(10, examplesText(c.Examples))
			}
			s.begin()
			s.text(c.Cause, styleText)
			s.text(c.What, styleText)
			s.text(c.Class, styleText)
			if first {
				s.whole(c.Rows, styleCount)
				s.whole(c.Of, styleCount)
			} else {
				s.skip(2)
			}
			x.money(s, m)
			s.amount(differences[m.Currency].Amount, m.Currency, styleAmount)
			if first {
				s.sentence(c.Sentence, styleWrap)
				s.sentence(examplesText(c.Examples), styleWrap)
			}
			s.end()
		})
	}
	x.endSheet()
}

// examplesText says where the first exceptions of a cluster stand.
func examplesText(list []ClusterPair) string {
	var out []string
	for _, p := range list {
		var at []string
		for _, r := range []*RowRef{p.Operation, p.Result} {
			if r != nil {
				at = append(at, fmt.Sprintf("%s record %d", shown(r.File), r.Record))
			}
		}
		out = append(out, strings.Join(at, " with "))
	}
	return strings.Join(out, "; ")
}

// trend writes the last runs, one a row.
func (x *workbook) trend() {
	columns := []sheetColumn{{"business date", 13}, {"run", 24}, {"closes", 8}, {"exit code", 8}, {"correct", 11}, {"of operations", 11}, {"correct %", 10}}
	for _, class := range classOrder {
		columns = append(columns, sheetColumn{"operations " + class, 13}, sheetColumn{"results " + class, 13})
	}
	for _, q := range queueOrder {
		columns = append(columns, sheetColumn{q + " items", 11})
	}
	s := x.sheet("Trend", "The current runs of the last business dates, oldest first, this one last. Correct are those of the operations in the period that are not not_applicable.", columns...)
	for _, p := range x.s.Trend {
		s.begin()
		s.day(p.BusinessDate)
		s.text(p.RunID, styleText)
		s.text(yesNo(p.Closes), styleText)
		s.whole(int64(p.ExitCode), styleNumber)
		s.whole(p.Matched, styleCount)
		s.whole(p.Of, styleCount)
		s.amount(p.MatchRatio, "", styleAmount)
		for _, class := range classOrder {
			var rows TrendRows
			for _, r := range p.Rows {
				if r.Class == class {
					rows = r
				}
			}
			s.whole(rows.OperationRows, styleCount)
			s.whole(rows.ResultRows, styleCount)
		}
		for _, name := range queueOrder {
			known := false
			for _, q := range p.Queues {
				if q.Queue == name && !known {
					s.whole(q.Items, styleCount)
					known = true
				}
			}
			if !known {
				s.skip(1)
			}
		}
		s.end()
	}
	x.endSheet()
}

// sources writes every file that was read or should have been.
func (x *workbook) sources() {
	s := x.sheet("Sources", "Every file: records = rejected + classified; control lines and excluded records stand beside them.",
		sheetColumn{"side", 11}, sheetColumn{"source", 18}, sheetColumn{"account", 18}, sheetColumn{"need", 10}, sheetColumn{"proves", 16}, sheetColumn{"file", 34}, sheetColumn{"date", 11}, sheetColumn{"status", 10}, sheetColumn{"bytes", 14}, sheetColumn{"records", 12}, sheetColumn{"control", 10}, sheetColumn{"excluded", 10},
		sheetColumn{"rejected", 10}, sheetColumn{"classified", 12}, sheetColumn{"SHA-256", 66}, sheetColumn{"SHA-256 of the content", 66}, sheetColumn{"problem", 50}, sheetColumn{checkColumn, 10})
	for _, side := range x.s.Sides {
		for _, src := range side.Sources {
			for _, f := range src.Files {
				s.begin()
				for _, t := range []string{side.Side, src.Name, src.Account, src.Need, src.Proves, f.Name} {
					s.text(t, styleText)
				}
				s.day(f.Date)
				s.text(f.Status, styleText)
				for _, n := range []int64{f.Size, f.Records, f.Control, f.Excluded, f.Rejected, f.Classified} {
					s.whole(n, styleCount)
				}
				s.text(f.SHA256, styleText)
				s.text(f.ContentSHA256, styleText)
				s.text(f.Problem, styleText)
				s.check(s.ref(9, s.row) + "=" + s.ref(12, s.row) + "+" + s.ref(13, s.row))
				s.end()
			}
		}
	}
	x.endSheet()
	x.columnCheck("sources: checks of the files", s, 17)
}

// coverage writes what time the sources prove.
func (x *workbook) coverage() {
	s := x.sheet("Coverage", "The time that the sources of each account prove, from an instant until before another one, and the gaps in it.",
		sheetColumn{"side", 11}, sheetColumn{"account", 20}, sheetColumn{"sources", 24}, sheetColumn{"what", 18}, sheetColumn{x.local("from"), 20}, sheetColumn{x.local("until"), 20}, sheetColumn{"everything", 10}, sheetColumn{"lag hours", 10}, sheetColumn{"types", 30}, sheetColumn{"reason of the gap", 60})
	for _, side := range x.s.Sides {
		for _, c := range side.Coverage {
			s.begin()
			for _, t := range []string{side.Side, c.Account, c.Source, c.Proves} {
				s.text(t, styleText)
			}
			s.instant(c.From)
			s.instant(c.Until)
			s.text(yesNo(c.Complete), styleText)
			s.amount(twoDecimals(c.LagSecs, 3600), "", styleAmount)
			s.text(strings.Join(c.Types, ", "), styleText)
			s.end()
			for _, g := range c.Gaps {
				s.begin()
				for _, t := range []string{side.Side, c.Account, c.Source, "gap"} {
					s.text(t, styleText)
				}
				s.instant(g.From)
				s.instant(g.Until)
				s.skip(3)
				s.text(g.Reason, styleText)
				s.end()
			}
		}
	}
	x.endSheet()
}
