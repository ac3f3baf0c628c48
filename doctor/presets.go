package doctor

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// presetRecords is how many records a preset has to read.
const presetRecords = 500

// presets tries every preset on the file, by reading it with what the preset says.
func (l *look) presets() {
	if l.opt.NoPreset {
		return
	}
	best := -1
	var own presetOwn
	for _, p := range rules.Presets() {
		fit, mine := l.fit(p)
		if fit.Fits && (best < 0 || fit.Matched > l.r.Presets[best].Matched) {
			best, own = len(l.r.Presets), mine
		}
		l.r.Presets = append(l.r.Presets, fit)
	}
	if best < 0 {
		return
	}
	fit := &l.r.Presets[best]
	fit.Best = true
	if l.opt.Side == "" || string(l.opt.Side) == fit.Side {
		l.opt.Side = rules.Side(fit.Side)
		l.d.preset, l.own = rules.PresetNamed(fit.Preset), own
	}
	slices.SortStableFunc(l.r.Presets, func(a, b PresetFit) int {
		switch {
		case a.Best != b.Best && a.Best, a.Fits != b.Fits && a.Fits:
			return -1
		case a.Best != b.Best, a.Fits != b.Fits:
			return 1
		default:
			return b.Matched - a.Matched
		}
	})
}

// presetOwn is what a preset leaves to the job.
type presetOwn struct {
	id    bool // the column of operation_id
	zones []string
}

var zonePath = regexp.MustCompile(`fields\.([A-Za-z0-9_]+)\.(layout|zone)$`)

// withPreset reads the declarations of a preset around the file. What it leaves to
// the job is filled in by anything, and told.
func (l *look) withPreset(p *rules.Preset) (job *rules.Job, own presetOwn, err error) {
	bare := false // the preset is for another format: nothing of this one's dialect
	for try := range 5 {
		d := *l.d
		if bare {
			d.format, d.csv, d.parts = "", nil, nil
		}
		if try > 0 || l.d.format == "typed" { // what stands above and below may be a kind of line for the preset
			d.csv = slices.DeleteFunc(slices.Clone(d.csv), func(p pair) bool { return p.key != "delimiter" && p.key != "quote" })
		}
		d.preset, d.fields = p, own.fields()
		if own.id {
			d.fields = append(d.fields, field{"operation_id", pairs{{"constant", "any"}}, ""})
		}
		if job, err = rules.Parse([]byte(d.alone(p.Side, d.side(p.Side, true))), "the preset "+p.Name); err == nil {
			return job, own, nil
		}
		faults, ok := errors.AsType[rules.Errors](err)
		if !ok {
			return nil, own, err
		}
		before := len(own.zones)
		for _, e := range faults {
			if m := zonePath.FindStringSubmatch(e.Path); m != nil {
				own.zones = append(own.zones, m[1])
			} else if strings.HasPrefix(e.Path, "match") && !own.id {
				own.id = true
				before--
			} else if !bare && strings.HasSuffix(e.Path, ".csv") {
				bare = true
				before--
			}
		}
		if len(own.zones) == before && try > 0 {
			return nil, own, err
		}
	}
	return nil, own, err
}

// fields are the zones, as a guess.
func (o presetOwn) fields() (out []field) {
	for _, name := range o.zones {
		out = append(out, field{name, pairs{{"zone", "UTC"}}, "GUESS, unsure: the zone that the provider writes in"})
	}
	return out
}

// fit reads the file with the declarations of a preset.
func (l *look) fit(p *rules.Preset) (PresetFit, presetOwn) {
	f := PresetFit{Preset: p.Name, Side: string(p.Side), Missing: []string{}}
	job, left, err := l.withPreset(p)
	if err != nil {
		f.Why = "it needs declarations of yours: " + firstLine(err)
		return f, left
	}
	src := &job.Spec(p.Side).Sources[0]
	// What lines of several kinds are is known by who declares them: a file of records
	// alone may look like CSV, or like nothing.
	lines := src.Format == rules.FormatTyped || src.Format == rules.FormatFixed
	if mine := l.d.format; string(src.Format) != mine && !(lines && (mine == "csv" || mine == "typed" || mine == "fixed")) {
		f.Why = fmt.Sprintf("it is for %s, the file is %s", src.Format, mine)
		return f, left
	}
	if lines {
		return l.fitLines(f, src), left
	}
	have := map[string]bool{}
	for _, c := range l.r.Columns {
		have[c.Name] = true
	}
	unsaid := 0
	var own []string // columns of ids, whose names are the user's
	// A member of JSON that no record of the file has is null.
	loose := src.Format == rules.FormatJSON || src.Format == rules.FormatNDJSON
	for _, c := range extract.RequiredColumns(src, src.Fields) {
		switch {
		case have[c.Column]:
			f.Matched++
		case c.Field == "currency" && loose: // the job says it
			f.Missing = append(f.Missing, c.Column)
			unsaid++
		case c.Field == "operation_id" || c.Field == "idempotency_key":
			own = append(own, c.Column)
		default:
			f.Missing = append(f.Missing, c.Column)
		}
	}
	if n := len(f.Missing) - unsaid; n > 0 && (!loose || n*3 > f.Matched) {
		f.Why = "the file has no column " + list(quoteAll(f.Missing), 6)
		return f, left
	}
	f.Matched += l.knownColumns(src)
	if why := l.strange(src); why != "" {
		f.Why = why
		return f, left
	}
	if why := l.readable(src, own); why != "" {
		f.Why = why
		return f, left
	}
	if f.Matched < 3 {
		f.Why = fmt.Sprintf("only %s of it in the file", plural(int64(f.Matched), "column"))
		return f, left
	}
	f.Fits, f.Why = true, plural(int64(f.Matched), "column")+" as it knows them"
	if len(f.Missing) > 0 {
		f.Why += "; no record has " + list(quoteAll(f.Missing), 4)
	}
	if left.id {
		f.Why += "; it does not say where your own id is: name its column"
	}
	if len(own) > 0 {
		left.id = true
		f.Why += "; your own id is not in " + list(quoteAll(own), 4) + ": name its column"
	}
	return f, left
}

// fitLines reads a file of several kinds of lines: what is declared of them has to
// hold in every line.
func (l *look) fitLines(f PresetFit, src *rules.Source) PresetFit {
	if f.Why = l.readable(src, nil); f.Why != "" {
		return f
	}
	f.Matched = len(extract.RequiredColumns(src, src.Fields))
	f.lines = true
	f.Fits, f.Why = true, "its lines are of the kinds that it knows"
	return f
}

// knownColumns counts the columns that the preset lists beyond those it needs.
func (l *look) knownColumns(src *rules.Source) (n int) {
	if src.Known == nil {
		return 0
	}
	needed := extract.RequiredColumns(src, src.Fields)
	for _, c := range l.r.Columns {
		if !slices.ContainsFunc(needed, func(r extract.RequiredColumn) bool { return r.Column == c.Name }) && slices.ContainsFunc(src.Known.Columns, func(k string) bool {
			prefix, ok := strings.CutSuffix(k, "*")
			return k == c.Name || ok && strings.HasPrefix(c.Name, prefix)
		}) {
			n++
		}
	}
	return n
}

// strange tells a column whose texts are mostly none of those that the preset knows.
func (l *look) strange(src *rules.Source) string {
	if src.Known == nil {
		return ""
	}
	for _, f := range src.Fields {
		texts, ok := src.Known.Values[f.Name]
		col := l.r.Column(f.Column)
		if !ok || col == nil || len(col.Values) == 0 {
			continue
		}
		var unknown []string
		for _, v := range col.Values {
			if !slices.Contains(texts, v) {
				unknown = append(unknown, v)
			}
		}
		if len(unknown)*2 > len(col.Values) {
			return fmt.Sprintf("most texts of %s are none that it knows: %s", quoted(col.Name), list(quoteAll(unknown), 5))
		}
	}
	return ""
}

// readable reads the first records with every field but those whose columns are the
// user's to name.
func (l *look) readable(src *rules.Source, own []string) string {
	fields := slices.DeleteFunc(slices.Clone(src.Fields), func(f rules.Field) bool {
		return slices.Contains(own, f.Column) || f.Name == "operation_id" && len(own) > 0
	})
	r, err := l.reader(src, fields)
	if err != nil {
		return firstLine(err)
	}
	defer r.Close()
	bad, n, first := 0, 0, ""
	for n = 0; n < presetRecords; n++ {
		_, err := r.Next()
		if err == io.EOF {
			break
		}
		if e, ok := errors.AsType[*extract.RecordError](err); ok {
			if bad++; bad == 1 {
				first = e.Reason
			}
			continue
		}
		if err != nil {
			return firstLine(err)
		}
	}
	if n == 0 && l.r.Records > 0 {
		return "no line is a record of it"
	}
	if bad*10 > n {
		return fmt.Sprintf("%d of %s cannot be cut into its fields: %s", bad, plural(int64(n), "record"), first)
	}
	return ""
}

func quoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoted(n)
	}
	return out
}

func firstLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for _, line := range lines[1:] { // of several faults: the first, not the sentence about them
		if strings.TrimSpace(line) != "" {
			return strings.TrimSpace(line)
		}
	}
	return lines[0]
}
