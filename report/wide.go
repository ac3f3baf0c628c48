package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// rawColumns tells, by side, for which fields some residual row shows its text as
// found, since it is unreadable or ambiguous. The others need no such column.
func rawColumns(ctx context.Context, db *duck.DB, job *rules.Job) (map[rules.Side][]string, error) {
	out := map[rules.Side][]string{}
	for _, side := range rules.Sides {
		var names, counts []string
		for _, f := range job.Spec(side).Fields {
			if f.Type != rules.Text {
				names = append(names, f.Name)
				counts = append(counts, "count("+duck.Ident("raw_"+f.Name)+")")
			}
		}
		if len(names) == 0 {
			continue
		}
		found := make([]int64, len(names))
		dest := make([]any, len(names))
		for i := range found {
			dest[i] = &found[i]
		}
		if err := db.Scan(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM res_"+short(side), dest...); err != nil {
			return nil, err
		}
		for i, n := range found {
			if n > 0 {
				out[side] = append(out[side], names[i])
			}
		}
	}
	return out, nil
}

// wideViews renders the views of whole exceptions: report_exceptions_wide, which is
// exceptions.parquet; report_sample_wide, report_board_wide and report_sheet_wide, samples with
// a column place before it.
func wideViews(in *Input, red *redactor, raw map[rules.Side][]string) []string {
	job := in.Bound.Job
	scale, _ := amountScale(job)
	money := "o_value, r_value, difference,"
	if red.redacted("amount") {
		null := fmt.Sprintf("CAST(NULL AS DECIMAL(38,%d))", scale)
		money = fmt.Sprintf("%[1]s AS o_value, %[1]s AS r_value, %[1]s AS difference,", null)
	}
	slots := duck.Slots{"pass": passOf(job), "money": "currency, " + money}
	bothFileSlots(in, slots)
	var out []string
	for _, v := range []struct{ view, place, from, order string }{
		{"report_exceptions_wide", "", "report_exceptions", "e.o_rid NULLS LAST, e.r_rid NULLS LAST"},
		{"report_sample_wide", "place,", "report_sample", "e.place"},
		{"report_board_wide", "place,", "report_board", "e.place"},
		{"report_sheet_wide", "place,", "(" + sqlSheet.Render(duck.Slots{"limit": strconv.Itoa(sheetExceptions)}) + ")", "e.place"},
	} {
		slots["staged"], slots["fields"] = wideFields(job, red, raw, v.place != "")
		slots["view"], slots["place"], slots["from"], slots["order"] = v.view, v.place, v.from, v.order
		out = append(out, sqlExceptionsWide.Render(slots))
	}
	return out
}

// wideFields renders the columns of the product fields: as they are taken from the staged
// rows, and as they are written, for people or in exceptions.parquet.
func wideFields(job *rules.Job, red *redactor, raw map[rules.Side][]string, people bool) (staged, written string) {
	taken := []string{red.expr("currency", "e.currency") + " AS currency"}
	var fields []string
	for _, side := range rules.Sides {
		for _, f := range job.Spec(side).Fields {
			if red.dropped(f.Name) {
				continue
			}
			value, found := duck.Ident("f_"+short(side)+"_"+f.Name), duck.Ident("raw_"+short(side)+"_"+f.Name)
			seen := func(column string) string {
				return red.seenIn(people, side, column, short(side)+"."+duck.Ident(column))
			}
			text := value
			switch {
			case red.redacted(f.Name):
				// A token looks at the key's table: that is a join, after which there is no order.
				taken = append(taken, red.expr(f.Name, fieldText(short(side), f))+" AS "+value)
			default:
				taken = append(taken, seen("f_"+f.Name)+" AS "+value)
				text = canonicalText(value, f)
				if slices.Contains(raw[side], f.Name) {
					taken = append(taken, seen("raw_"+f.Name)+" AS "+found)
					text = "coalesce(" + found + ", " + text + ")"
				}
			}
			fields = append(fields, text+" AS "+duck.Ident(fieldColumn(side, f.Name))+",")
		}
	}
	return strings.Join(taken, ",\n         "), strings.Join(fields, "\n       ")
}

// bothFileSlots fills the slots source, file and sha256 of both rows, under o_ and r_.
func bothFileSlots(in *Input, slots duck.Slots) {
	for _, side := range rules.Sides {
		fileSlots(in, side, short(side)+"_", slots)
	}
}

// fileSlots fills the slots source, file and sha256 of a row of one side, under the
// prefix of its row id.
func fileSlots(in *Input, side rules.Side, prefix string, slots duck.Slots) {
	var sources, files, digests []string
	for _, f := range in.relation(side).Files {
		for len(sources) <= f.No {
			sources, files, digests = append(sources, "NULL"), append(files, "NULL"), append(digests, "NULL")
		}
		sources[f.No], files[f.No], digests[f.No] = duck.Literal(f.Source), duck.Literal(f.Name), duck.Literal(f.SHA256)
	}
	for _, c := range []struct {
		name, enum string
		list       []string
	}{{"source", "report_source", sources}, {"file", "report_file", files}, {"sha256", "report_sha256", digests}} {
		slots[prefix+c.name] = nth(c.list, c.enum, "("+prefix+"rid >> 40)")
	}
}

// nth is the value at a place (from 0) of a list of literals, as an ENUM; null where
// the place is. A join with a table would lose the order of the rows.
func nth(list []string, enum, place string) string {
	if len(list) == 0 {
		return "CAST(NULL AS " + enum + ")"
	}
	return "list_extract(CAST([" + strings.Join(list, ", ") + "] AS " + enum + "[]), " + place + " + 1)"
}

// passOf is the name of the pass of a row, from its number.
func passOf(job *rules.Job) string {
	var list []string
	for _, p := range job.Match {
		list = append(list, duck.Literal(p.Name))
	}
	return nth(list, "report_pass", "pass")
}
