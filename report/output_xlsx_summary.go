package report

import (
	"fmt"
	"strings"
)

// summary writes whether the day closes and what needs work: what a person reads first.
func (x *workbook) summary() {
	s := x.sheet("Summary", "report.xlsx of recon-batch: a view for people. The evidence is in the Parquet files beside it, whose digests manifest.json has.",
		sheetColumn{"what", 42}, sheetColumn{"value", 100}, sheetColumn{"class", 15}, sheetColumn{"reason", 26}, sheetColumn{"currency", 9}, sheetColumn{"rows", 12}, sheetColumn{"amount", 20}, sheetColumn{checkColumn, 10})
	line := func(what, value string, style int) {
		if value == "" {
			return
		}
		if style != styleText {
			s.tall(1, value)
		}
		s.begin()
		s.sentence(what, styleText)
		s.sentence(value, style)
		s.end()
	}
	r := x.s
	line("headline", r.Headline, styleStrong)
	for _, reason := range r.Outcome.Reasons {
		line("attention", reason, styleWrap)
	}
	line("attention", withheldText(r), styleWrap)
	line("attention", modeText(r), styleWrap)
	line("job", shown(r.Job), styleText)
	line("business date", r.BusinessDate, styleText)
	if r.Period != nil {
		line("period", shown(r.Period.By)+" from "+r.Period.From+" until before "+r.Period.Until, styleText)
	}
	line("run", r.RunID, styleText)
	line("mode", r.Mode, styleText)
	line("series", shown(r.Series), styleText)
	line("reference time", r.AsOf, styleText)
	line("exit code", fmt.Sprint(r.Outcome.ExitCode), styleText)
	s.begin()
	s.sentence("checks of this workbook", styleText)
	s.sentence("sums of the spreadsheet against values of the report; one by one on the sheet Checks", styleText)
	s.skip(5)
	s.check(`COUNTIF('Checks'!F:F,"` + differs + `")=0`)
	s.end()
	for _, side := range r.Sides {
		line(side.Side, equation(side), styleWrap)
	}
	if r.OnceNotProven > 0 {
		line("once not proven", count(r.OnceNotProven, "operation")+" correct, but a second effect is not ruled out by the coverage", styleWrap)
	}
	for _, g := range r.Gates {
		state := "passed"
		if g.Failed {
			state = "FAILED"
		}
		line("gate "+shown(g.Name), state+": "+g.Value+" ("+g.Basis+"); fails when "+shown(g.FailWhen), styleWrap)
	}
	for _, l := range r.Limits {
		state := "kept"
		switch {
		case l.Lifted:
			state = "exceeded, and lifted for this run"
		case l.Exceeded:
			state = "EXCEEDED"
		}
		line("limit "+shown(l.Name), strings.TrimSuffix(fmt.Sprintf("%s: %s, the limit is %s; %s", state, l.Value, l.Limit, l.Note), "; "), styleWrap)
	}
	for _, f := range r.Findings {
		line("finding", findingText(f), styleWrap)
	}
	for _, n := range r.Next {
		line("next: "+n.Why, n.Command, styleText)
	}
	for _, side := range r.Sides {
		for _, c := range side.Counts {
			s.begin()
			s.text(side.Side, styleText)
			where := "in the period"
			if !c.InPeriod {
				where = "outside the period"
			}
			s.sentence(where, styleText)
			s.text(c.Class, styleText)
			s.text(c.Reason, styleText)
			s.text(c.Currency, styleText)
			s.whole(c.Rows, styleCount)
			s.amount(c.Amount, c.Currency, styleAmount)
			s.end()
		}
	}
	x.endSheet()
}

// method writes how the report was made, for whoever derives it again.
func (x *workbook) method() {
	s := x.sheet("Method", "How this report was made, and how to read the workbook.", sheetColumn{"what", 26}, sheetColumn{"value", 120})
	line := func(what, value string) {
		if value == "" {
			return
		}
		s.tall(1, value)
		s.begin()
		s.sentence(what, styleText)
		s.sentence(value, styleWrap)
		s.end()
	}
	r := x.s
	line("job", shown(r.Job))
	line("run", r.RunID)
	line("job digest", r.JobDigest)
	line("content digest", r.ContentDigest)
	line("mode", r.Mode)
	line("reference time", r.AsOf)
	line("zone", r.Zone)
	for _, v := range r.Versions {
		line("version of "+v.Name, v.Version)
	}
	for _, o := range r.Overrides {
		line("override", shown(o))
	}
	for _, f := range r.Redacted {
		line("redacted", shown(f.Field)+": "+f.How)
	}
	for _, p := range r.Passes {
		in := ""
		if p.Kind == GroupPass {
			in = " in " + count(p.Groups, "group")
		}
		line("pass "+shown(p.Name), fmt.Sprintf("%s; it linked %s with %s%s", p.Kind, count(p.Operations, "operation"), count(p.Results, "result"), in))
	}
	for _, d := range r.Described {
		line("effect", describedText(d))
	}
	for _, class := range classOrder {
		line("class "+class, classMeaning[class])
	}
	line("to verify", "recon-batch verify, with the folder of the run: it reads every file again and trusts none of these numbers")
	line("amounts", "are numbers with the minor digits of their currency (ISO 4217), more where an amount has more. One of more than 15 digits is text, since a spreadsheet would change it; the column notes says so beside rows, and no sum has it.")
	line("sums", "are formulas over the cells, rounded to the decimals of what they add up; where a spreadsheet could be off by its binary numbers there is none. Beside them stand values that the program found with exact decimals. A check that does not hold says "+differs+".")
	line("times", "are in the zone "+x.zone.String()+". Where the clock is set back an hour stands twice: exact instants, in UTC, are in the Parquet files. Times before March 1900 are text.")
	line("texts", "are cut at "+fmt.Sprint(maxCell)+" characters, which a cut one says at its end and the column notes beside it, with the place of the whole one. Hidden characters are spelled out, as \\u{202E}. A text that a spreadsheet could take for a formula starts with an apostrophe. The files for machines have every value as it is.")
	line("bounds", fmt.Sprintf("at most %s exceptions, %s items of a queue and %s confirmations; all of them are in the Parquet files. A sheet of more than %s rows goes on on another one.",
		grouped(fmt.Sprint(sheetExceptions)), grouped(fmt.Sprint(sheetItems)), grouped(fmt.Sprint(sheetConfirms)), grouped(fmt.Sprint(sheetRows))))
	x.endSheet()
}
