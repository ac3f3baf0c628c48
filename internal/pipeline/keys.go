package pipeline

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// keysName is the file by which later runs ask what this one knew (V31): the
// fingerprints of all identity keys and remote ids of both sides, without what they are
// the keys of. Columns: key VARCHAR (a name of Manifest.Keys), fingerprint UBIGINT; by key
// in the order of the manifest, then by fingerprint, each once. Only runs of jobs that
// may undo an effect nobody asked for have it.
//
// Half of a fingerprint is enough here: two keys that share it by accident keep an effect
// from being undone, and never let one be.
const keysName = "keys.parquet"

// Keys is one kind of keys in keysName. Form says how they are made: keys of two runs
// compare where it is the same, whatever the names are.
type Keys struct {
	Key    string `json:"key"`  // name of the pass, or "record id"
	Form   string `json:"form"` // 16 hexadecimal digits
	Values int64  `json:"values"`
}

// recordIDName names the ids of results at their provider; no pass has a blank in its name.
const recordIDName = "record id"

// key is one kind of keys as the job makes it.
type key struct {
	Keys
	pass int // classify.RecordIDKey: the record ids
}

// keysOf lists the keys that a job's runs publish, and ask for.
func keysOf(job *rules.Job) []key {
	if !classify.MayUndoUnexpected(job) {
		return nil
	}
	var out []key
	for i, p := range job.Match {
		if p.Identity {
			out = append(out, key{Keys{Key: p.Name, Form: formOf(job, p.On)}, i})
		}
	}
	if job.Results.Field("remote_id") != nil {
		out = append(out, key{Keys{Key: recordIDName, Form: formOf(job, []rules.KeyPart{{Results: "remote_id"}})}, classify.RecordIDKey})
	}
	return out
}

// formOf is a digest of all that decides what a record's key is as a text: which fields
// it is made of, and how they are read. Where they are found is not among it, so that a
// column may be renamed, or a source added.
func formOf(job *rules.Job, parts []rules.KeyPart) string {
	type field struct {
		Side         rules.Side
		Name         string
		Type         rules.FieldType
		Scale        int
		Normalise    []rules.Normalise
		Placeholders []string
	}
	var form struct {
		Parts  []rules.KeyPart
		Fields []field
	}
	form.Parts = parts
	for _, p := range parts {
		for _, side := range rules.Sides {
			name := p.Operations
			if side == rules.Results {
				name = p.Results
			}
			spec := job.Spec(side)
			add := func(f *rules.Field) {
				if f != nil {
					form.Fields = append(form.Fields, field{side, f.Name, f.Type, f.Scale, f.Normalise, f.Placeholders})
				}
			}
			add(spec.Field(name))
			for i := range spec.Sources { // a source may read the field in a way of its own
				for j := range spec.Sources[i].Fields {
					if f := &spec.Sources[i].Fields[j]; f.Name == name {
						add(f)
					}
				}
			}
		}
	}
	text := func(f field) string { b, _ := json.Marshal(f); return string(b) }
	slices.SortFunc(form.Fields, func(a, b field) int { return strings.Compare(text(a), text(b)) })
	form.Fields = slices.CompactFunc(form.Fields, func(a, b field) bool { return text(a) == text(b) })
	b, err := json.Marshal(form)
	if err != nil {
		panic(err) // texts and numbers
	}
	return sha256Hex(b)[:16]
}

// writeKeys writes the keys of the run, from the staged rows: sorted by the engine,
// which spills what does not fit.
func (r *run) writeKeys(ctx context.Context, db *duck.DB, m *Manifest) error {
	list := keysOf(r.Job)
	if len(list) == 0 {
		return nil
	}
	names, parts := "", []string{}
	for no, k := range list {
		names += fmt.Sprintf(" WHEN %d THEN %s", no, duck.Literal(k.Key))
		if k.pass != classify.RecordIDKey {
			for _, side := range rules.Sides {
				parts = append(parts, fmt.Sprintf("SELECT %d AS no, h%d AS fingerprint FROM %s", no, k.pass, side))
			}
			continue
		}
		parts = append(parts, fmt.Sprintf("SELECT %d AS no, hx AS fingerprint FROM results", no))
		if f := r.Job.Operations.Field("remote_id"); f != nil && f.Type == rules.Text { // the register may know the effect by it
			parts = append(parts, fmt.Sprintf("SELECT %d AS no, CAST('0x' || left(sha256(nullif(f_remote_id, '')), 16) AS UBIGINT) AS fingerprint FROM operations", no))
		}
	}
	file := filepath.Join(r.tmp, keysName)
	err := db.Exec(ctx, duck.MustParse(sqlFiles, "sql/keys.sql").Render(duck.Slots{
		"names": names, "keys": strings.Join(parts, "\n    UNION ALL\n    "), "file": duck.Literal(file)}))
	if err != nil {
		return err
	}
	counts, err := countKeys(ctx, db, file)
	if err != nil {
		return err
	}
	for _, k := range list {
		k.Values = counts[k.Key]
		m.Keys = append(m.Keys, k.Keys)
	}
	return nil
}

// countKeys counts the fingerprints of a file by key.
func countKeys(ctx context.Context, db *duck.DB, file string) (map[string]int64, error) {
	out := map[string]int64{}
	rows, err := db.Query(ctx, duck.MustParse(sqlFiles, "sql/keys_counts.sql").Render(duck.Slots{"file": duck.Literal(file)}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name sql.NullString
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		out[name.String] = n
	}
	return out, rows.Err()
}

// fewAsked is the number of asked keys that are told to the reader one by one.
const fewAsked = 1000

// ask is classify.Former: it looks the asked keys up in the files of former runs. Their
// bytes are compared with the digests of their manifests first: a file that lost keys
// would say that nobody knew them.
func (k *knowers) ask(ctx context.Context, db *duck.DB) error {
	for _, f := range k.runs {
		if err := f.unaltered(); err != nil {
			return err
		}
	}
	for _, key := range k.keys {
		var asked int64
		var few string
		err := db.Scan(ctx, duck.MustParse(sqlFiles, "sql/keys_asked.sql").Render(duck.Slots{"pass": fmt.Sprint(key.pass), "few": fmt.Sprint(fewAsked)}), &asked, &few)
		if err != nil {
			return err
		}
		if asked == 0 {
			continue
		}
		if few != "" {
			few = "AND f.fingerprint IN (" + few + ")"
		}
		for name, files := range k.files(key) {
			err := db.Exec(ctx, duck.MustParse(sqlFiles, "sql/keys_known.sql").Render(duck.Slots{
				"files": strings.Join(files, ", "), "pass": fmt.Sprint(key.pass), "key": duck.Literal(name), "few": few}))
			if err != nil {
				return fail.Wrap(fail.Integrity, err, "the keys of former runs cannot be read")
			}
		}
	}
	return nil
}

// files are the files that hold a key, by its name in them.
func (k *knowers) files(want key) map[string][]string {
	out := map[string][]string{}
	for _, f := range k.runs {
		for _, have := range f.m.Keys {
			if have.Form == want.Form {
				out[have.Key] = append(out[have.Key], duck.Literal(filepath.Join(f.dir, keysName)))
				break
			}
		}
	}
	return out
}

// finding says which former runs keep effects from being undone, and what lifts it.
func (k *knowers) finding(command string) []extract.Finding {
	if k == nil || len(k.unknown) == 0 {
		return nil
	}
	first := slices.MinFunc(k.unknown, func(a, b FormerRun) int { return strings.Compare(a.BusinessDate, b.BusinessDate) })
	text := fmt.Sprintf("effects that nobody asked for are not undone: the run %s of %s%s says nothing of the keys that it read, so that it may know them (V31); run that date again: %s",
		first.RunID, first.BusinessDate, ofSeries(first.Series), strings.Replace(command, "%d", first.BusinessDate, 1))
	if n := len(k.unknown) - 1; n > 0 {
		text += fmt.Sprintf("; the same holds for %s", plural(int64(n), "other run", "other runs"))
	}
	return []extract.Finding{{Code: "former_keys_unknown", Text: text}}
}

func ofSeries(s string) string {
	if s == "" {
		return ""
	}
	return " of the series " + s
}
