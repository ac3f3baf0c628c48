package extract

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// MissingFiles are numbers of a sequence, or parts of a report, that no file carries.
type MissingFiles struct {
	Side   rules.Side `json:"side"`
	Source string     `json:"source"`
	Of     string     `json:"of"`              // series of the sequence, or key of the report
	What   string     `json:"what"`            // sequence or part
	From   int64      `json:"from"`            // first number that is missing
	Until  int64      `json:"until"`           // last one
	After  string     `json:"after,omitempty"` // the file before, "" none
	Before string     `json:"before,omitempty"`
}

// Missing kinds of MissingFiles.What.
const (
	MissingSequence = "sequence"
	MissingPart     = "part"
)

// numbered is a file with a number.
type numbered struct {
	n    int64
	path string
	file int    // index in found; -1 of an earlier date
	date string // business date of the run that read it; "" this one
	key  string
}

// hole are numbers that are missing between two files; none before or after is a zero
// value with file -1 and no path.
type hole struct {
	from, until   int64
	before, after numbered
}

var nobody = numbered{file: -1}

// holes finds the numbers that are missing among the files of one run, which go on from
// those of earlier dates. A number lower than the last one begins the numbering anew, at 1;
// but for files that an earlier run read as well.
func holes(now, earlier []numbered) []hole {
	byNumber := func(a, b numbered) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.path, b.path)) }
	now = slices.SortedFunc(slices.Values(now), byNumber)
	if len(now) == 0 {
		return nil
	}
	var out []hole
	if h := holeBefore(now, earlier); h != nil {
		out = append(out, *h)
	}
	for i := 1; i < len(now); i++ {
		if a, b := now[i-1], now[i]; b.n > a.n+1 {
			out = append(out, hole{from: a.n + 1, until: b.n - 1, before: a, after: b})
		}
	}
	return out
}

// holeBefore is what is missing before the first file of the run; nil nothing.
func holeBefore(now, earlier []numbered) *hole {
	if len(earlier) == 0 {
		return nil // the first run begins anywhere
	}
	numbering := lastNumbering(earlier)
	first, last := now[0], now[len(now)-1]
	read := func(x numbered) bool {
		return slices.ContainsFunc(numbering, func(e numbered) bool { return e.n == x.n && e.key == x.key })
	}
	end := numbering[0]
	for _, e := range numbering {
		if e.n > end.n {
			end = e
		}
	}
	if last.n <= end.n && slices.ContainsFunc(now, func(x numbered) bool { return !read(x) }) {
		// It begins anew.
		if first.n > 1 {
			return &hole{from: 1, until: first.n - 1, before: nobody, after: first}
		}
		return nil
	}
	before := nobody
	for _, e := range numbering {
		if e.n < first.n && (before.file == nobody.file && before.path == "" || e.n > before.n) {
			before = e
		}
	}
	if before.path == "" || first.n <= before.n+1 {
		return nil
	}
	return &hole{from: before.n + 1, until: first.n - 1, before: before, after: first}
}

// lastNumbering are the files since the numbering began anew for the last time: going back
// over the dates, until one has a greater number than the date after it.
func lastNumbering(earlier []numbered) []numbered {
	sorted := slices.SortedStableFunc(slices.Values(earlier), func(a, b numbered) int { return strings.Compare(b.date, a.date) })
	var out []numbered
	most := int64(-1) // of the date looked at last
	for i := 0; i < len(sorted); {
		j, top := i, int64(-1)
		for ; j < len(sorted) && sorted[j].date == sorted[i].date; j++ {
			top = max(top, sorted[j].n)
		}
		if most >= 0 && top > most {
			break
		}
		most = top
		out = append(out, sorted[i:j]...)
		i = j
	}
	return out
}

// sequences finds the numbers and parts that are missing, and withdraws the coverage of the
// files beside them: what is missing may hold any effect of their time.
func (l *loader) sequences(context.Context) error {
	for _, src := range l.sources() {
		if src.Identity.Part(rules.PartSequence) != nil {
			l.checkSequence(src)
		}
		if src.Identity.Part(rules.PartPart) != nil {
			l.checkParts(src)
		}
	}
	return nil
}

func (l *loader) checkSequence(src *rules.Source) {
	now, earlier := map[string][]numbered{}, map[string][]numbered{}
	l.of(src.Name, func(i int, _ *staged) {
		a := l.arrived[i]
		now[a.Series] = append(now[a.Series], numbered{n: *a.Sequence, path: filepath.ToSlash(l.found[i].rel), file: i, key: a.Key})
	})
	for _, e := range l.opt.Earlier {
		if a := e.Arrival; e.Side == l.rel.Side && e.Source == src.Name && a != nil && a.Sequence != nil {
			earlier[a.Series] = append(earlier[a.Series], numbered{n: *a.Sequence, path: e.Path, file: -1, date: e.BusinessDate, key: a.Key})
		}
	}
	for _, series := range slices.Sorted(maps.Keys(now)) {
		for _, h := range holes(now[series], earlier[series]) {
			l.lacking(src, MissingSequence, series, h)
		}
	}
}

// checkParts looks at the parts of each report that comes in several.
func (l *loader) checkParts(src *rules.Source) {
	parts := map[string][]numbered{}
	total := map[string]int64{}
	l.of(src.Name, func(i int, _ *staged) {
		a := l.arrived[i]
		key := withoutPart(a.Key)
		parts[key] = append(parts[key], numbered{n: a.Part, path: filepath.ToSlash(l.found[i].rel), file: i, key: a.Key})
		total[key] = max(total[key], a.Parts)
	})
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		list := slices.SortedFunc(slices.Values(parts[key]), func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
		before := nobody
		for _, p := range list {
			if p.n > before.n+1 {
				l.lacking(src, MissingPart, key, hole{from: before.n + 1, until: p.n - 1, before: before, after: p})
			}
			before = p
		}
		if before.n < total[key] {
			l.lacking(src, MissingPart, key, hole{from: before.n + 1, until: total[key], before: before, after: nobody})
		}
	}
}

// withoutPart is the key of the report that a part belongs to.
func withoutPart(key string) string {
	words := strings.Split(key, " ")
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, rules.PartPart+"=") }), " ")
}

// lacking notes what is missing.
func (l *loader) lacking(src *rules.Source, what, of string, h hole) {
	m := MissingFiles{Side: l.rel.Side, Source: src.Name, Of: of, What: what, From: h.from, Until: h.until, After: h.before.path, Before: h.after.path}
	l.rel.Missing = append(l.rel.Missing, m)
	at := h.after.file
	for _, i := range []int{h.after.file, h.before.file} {
		if i >= 0 {
			at = i
			if l.gaps[i] == "" {
				l.gaps[i] = m.Says()
			}
		}
	}
	const says = "%s: %s; silence proves nothing for the time of the files beside"
	if what == MissingPart {
		l.find("part_missing", l.found[at], says, src.Name, m.Says())
	} else {
		l.find("sequence_gap", l.found[at], says, src.Name, m.Says())
	}
}

// Says tells what is missing in one sentence.
func (m *MissingFiles) Says() string {
	text := "the " + map[string]string{MissingSequence: "sequence number", MissingPart: "part"}[m.What]
	if m.Until > m.From {
		text += fmt.Sprintf("s %d to %d are missing", m.From, m.Until)
	} else {
		text += fmt.Sprintf(" %d is missing", m.From)
	}
	switch {
	case m.After != "" && m.Before != "":
		text += fmt.Sprintf(" between %s and %s", m.After, m.Before)
	case m.After != "":
		text += " after " + m.After
	case m.Before != "":
		text += " before " + m.Before
	}
	return text
}
