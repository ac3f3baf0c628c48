package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// judgeKeys refuses a file that went through a spreadsheet: an identity key such as
// 1.23E+22 has lost its last digits, links nothing any more, and would make its
// operation absent.
func (l *loader) judgeKeys(f *foundFile, s *sidecar) error {
	for i, p := range l.layout.job.Match {
		if !p.Identity || s.Keys[i].Scientific == 0 {
			continue
		}
		return fail.New(fail.Input, "%s: record %d: the key of pass %s is a number in scientific notation, so are %d in all: the file went through a spreadsheet, and digits are lost",
			f.rel, s.Keys[i].FirstRecord, p.Name, s.Keys[i].Scientific).
			WithHint("have the file sent again as its system wrote it")
	}
	return nil
}

// judgePulled refuses a file that was changed between its pull and its reading.
func judgePulled(f *foundFile, s *sidecar) error {
	if f.pulled == "" || f.pulled == s.SHA256 {
		return nil
	}
	return fail.New(fail.Integrity, "%s has other bytes than were pulled (%s, then %s)", f.rel, short(f.pulled), short(s.SHA256)).
		WithHint("somebody wrote into the folder of the evidence: find out who, and run again, which pulls anew")
}

// checkSources checks what a source states over all its files: the least number of
// records, and the number of different keys.
func (l *loader) checkSources(ctx context.Context) error {
	for _, src := range l.sources() {
		var records int64
		var paths, names []string
		l.of(src.Name, func(i int, s *staged) {
			records += s.Records
			paths = append(paths, s.path)
			names = append(names, l.found[i].rel)
		})
		if len(paths) == 0 {
			continue // missing or left out: said already
		}
		var err error
		if records < src.MinimumRecords {
			err = fail.New(fail.Input, "%s: %d records, at least %d are declared", strings.Join(names, ", "), records, src.MinimumRecords).
				WithHint("the file may have been written before its data was there: have it sent again, or lower minimum_records")
		}
		if stated, ok := src.StatedDistinct["distinct_keys"]; ok && err == nil {
			err = l.checkDistinct(ctx, paths, names, stated)
		}
		if err == nil {
			continue
		}
		if src.Need != rules.Optional || fail.ClassOf(err) != fail.Input {
			return err
		}
		l.leaveOut(src, err)
	}
	return nil
}

// checkDistinct compares the number of different keys with the one stated.
func (l *loader) checkDistinct(ctx context.Context, paths, names []string, stated int64) error {
	column, field := l.distinctKey()
	var n int64
	q := distinctSQL.Render(duck.Slots{"key": duck.Ident(column), "rows": l.layout.Relation(paths...)})
	if err := l.db.Scan(ctx, q, &n); err != nil {
		return err
	}
	if n == stated {
		return nil
	}
	return fail.New(fail.Input, "%s: %d distinct %s read, the snapshot states %d", strings.Join(names, ", "), n, field, stated).
		WithHint("pages were skipped or taken twice while the snapshot was read: take it again")
}

// distinctKey is the column that tells records of a source apart: the record id,
// or the key of the first identity pass, or of the first pass.
func (l *loader) distinctKey() (column, name string) {
	if id := l.layout.RecordID(); id != "" {
		return "kx", id
	}
	for i, p := range l.layout.job.Match {
		if p.Identity {
			return fmt.Sprintf("k%d", i), p.Name
		}
	}
	return "k0", "keys"
}

// leaveOut takes the staged files of an optional source back out of the relation.
func (l *loader) leaveOut(src *rules.Source, err error) {
	l.leaveOutFiles(src, func(int) bool { return true }, err)
}

// leaveOutFiles takes those out that are asked for.
func (l *loader) leaveOutFiles(src *rules.Source, which func(i int) bool, err error) {
	l.of(src.Name, func(i int, s *staged) {
		if !which(i) {
			return
		}
		file := &l.rel.Files[i]
		file.Status, file.Staged, file.Problem = FileRefused, "", err.Error()
		file.Records, file.Control, file.Rejected = 0, 0, 0
		l.rel.Records -= s.Rows
		l.rel.Rejects = slices.DeleteFunc(l.rel.Rejects, func(r Reject) bool { return r.File == i })
		l.staged[i] = nil
	})
	l.rel.Findings = append(l.rel.Findings, Finding{
		Code: "file_refused", Source: src.Name,
		Text: fmt.Sprintf("%v; source %s was left out and proves nothing", err, src.Name),
	})
}

// checkPages withdraws the coverage of a source whose snapshot moved while it was
// read: a key on two pages shows that, and then another key may have been skipped
// between two pages (V26).
func (l *loader) checkPages(ctx context.Context) error {
	for _, src := range l.sources() {
		if src.Pages == nil {
			continue
		}
		var paths []string
		l.of(src.Name, func(_ int, s *staged) { paths = append(paths, s.path) })
		if len(paths) == 0 {
			continue
		}
		column, field := l.distinctKey()
		var n int64
		q := overlapSQL.Render(duck.Slots{"key": duck.Ident(column), "rows": l.layout.Relation(paths...)})
		if err := l.db.Scan(ctx, q, &n); err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		why := fmt.Sprintf("pages overlap: %d %s on more than one page", n, field)
		if l.spoiled == nil {
			l.spoiled = map[string]string{}
		}
		l.spoiled[src.Name] = why
		l.rel.Findings = append(l.rel.Findings, Finding{
			Code: "pages_overlap", Source: src.Name,
			Text: why + ": the snapshot moved while it was read, so records may have been skipped",
		})
	}
	return nil
}

// checkRange finds rows of sheets that a range with a last row leaves out, and that
// may be records of a sheet that grew. The coverage of their file is withdrawn.
func (l *loader) checkRange() {
	for _, src := range l.sources() {
		l.of(src.Name, func(i int, s *staged) {
			if o := s.Outside; o.Rows > 0 {
				l.find("rows_outside_range", l.found[i], "%s has %s with values below its range %s, first row %d: they were not read, and the file proves no absence. Write a range without a last row, and say what is no record by ends_before or rows",
					l.found[i].rel, plural(int(o.Rows), "row"), src.XLSX.Range, o.First)
			}
		})
	}
}

// endsOpen tells whether a file ends within a line, and nothing that it states, or that
// somebody states of it, would have shown that the rest of it is missing.
func (l *loader) endsOpen(i int) bool {
	s, src := l.staged[i], l.found[i].source
	return s != nil && s.OpenEnd && !src.CSV.OpenEnd && !src.StatesEnd()
}

// mayBeCut tells it of a file that speaks for a time. Where the job says `coverage: complete`,
// somebody has said of the file that it is everything.
func (l *loader) mayBeCut(i int) bool {
	return l.endsOpen(i) && !l.found[i].source.Coverage.Complete
}

// checkEnd finds files that end within a line. Of a value that was cut nothing shows it, and
// the records behind it are not there. The coverage of their file is withdrawn.
func (l *loader) checkEnd() {
	for _, src := range l.sources() {
		l.of(src.Name, func(i int, _ *staged) {
			if !l.endsOpen(i) {
				return
			}
			follows := "and the file proves no absence"
			if !l.mayBeCut(i) {
				follows = "though the job says that it is complete"
			}
			l.find("last_line_open", l.found[i], "the last line of %s has no line end: it may have been cut there, %s. Where its sender never ends the last line, write csv: {open_end: true}; better, declare controls, a trailer or a manifest",
				l.found[i].rel, follows)
		})
	}
}

// remark adds the findings that decide nothing: columns that come and go, keys that
// are not filled, keys that a spreadsheet may have spoiled.
func (l *loader) remark() {
	for _, src := range l.sources() {
		l.of(src.Name, func(i int, s *staged) {
			for _, n := range s.Notes {
				l.find("long_numbers", l.found[i], "%s: %s", l.found[i].rel, n)
			}
		})
		l.remarkColumns(src)
		l.remarkKnown(src)
		l.remarkOptional(src)
		l.remarkKeys(src)
	}
}

// remarkColumns reports columns that the first file of the source does not have.
func (l *loader) remarkColumns(src *rules.Source) {
	if src.Format == rules.FormatNDJSON || src.Format == rules.FormatJSON {
		return // their header is what the job names
	}
	var first *staged
	l.of(src.Name, func(i int, s *staged) {
		if first == nil {
			first = s
			return
		}
		for _, h := range s.Header {
			if !slices.Contains(first.Header, h) {
				l.find("new_column", l.found[i], "%s has a column %q that the source's first file lacks", l.found[i].rel, h)
			}
		}
	})
}

// remarkKeys reports per source how many records carry each identity key, where
// some do not, and keys in scientific notation.
func (l *loader) remarkKeys(src *rules.Source) {
	var rows int64
	filled := make([]int64, len(l.layout.job.Match))
	l.of(src.Name, func(i int, s *staged) {
		rows += s.Rows
		for k, t := range s.Keys {
			filled[k] += t.Filled
			if t.Scientific > 0 {
				l.find("e_notation", l.found[i], "%s: %d keys of pass %s look like numbers in scientific notation, first in record %d: digits may be lost",
					l.found[i].rel, t.Scientific, l.layout.job.Match[k].Name, t.FirstRecord)
			}
		}
	})
	for k, p := range l.layout.job.Match {
		if p.Identity && filled[k] < rows {
			l.rel.Findings = append(l.rel.Findings, Finding{
				Code: "key_coverage", Source: src.Name,
				Text: fmt.Sprintf("%d of %d records of source %s carry no key of pass %s", rows-filled[k], rows, src.Name, p.Name),
			})
		}
	}
}
