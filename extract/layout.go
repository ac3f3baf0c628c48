package extract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// ColumnType is the physical type of a staged column, the same in Arrow,
// Parquet and DuckDB.
type ColumnType string

// Physical types. Money and integers are exact; an instant is a BIGINT of
// microseconds since 1970-01-01T00:00:00Z; a date is a DATE.
const (
	ColText    ColumnType = "VARCHAR"
	ColBigint  ColumnType = "BIGINT"
	ColHash    ColumnType = "UBIGINT"
	ColBoolean ColumnType = "BOOLEAN"
	ColDate    ColumnType = "DATE"
	ColInteger ColumnType = "DECIMAL(38,0)"
	// a decimal with a declared scale s is DECIMAL(28,s); without one it is
	// VARCHAR in canonical form ^-?(0|[1-9]\d*)(\.\d*[1-9])?$, never "-0"
)

// Column is one staged column.
type Column struct {
	Name string
	Type ColumnType
}

// Layout says which columns the staged files of one side have. It follows from
// the job alone, so every engine, and the oracle, reads the same columns:
//
//	rec         BIGINT    record number in its file, from 1, rejects included
//	f_<field>             value of the product field, typed; NULL where empty,
//	                      unreadable, or a local time that never was
//	raw_<field> VARCHAR   for types other than text: the text as found, where
//	                      the value is unreadable or ambiguous; else NULL
//	late_<field> BIGINT   timestamps: the second reading of a local time that
//	                      exists twice; else NULL
//	bad         UBIGINT   bit i: field i of the side (SideSpec.Fields) is unreadable
//	amb         UBIGINT   bit i: timestamp field i exists twice or never
//	st          VARCHAR   results with a mapped status: the canonical status
//	                      (rules.Status), "unmapped" where the map lacks the text or it is empty
//	k<i>        VARCHAR   canonical key of pass i (Job.Match[i]), NULL where unusable (V2);
//	                      not stored where it is the text of one field (see Derived)
//	s<i>        VARCHAR   passes by groups: the canonical key of the parts in which the
//	                      rows of a group agree (rules.Group.Same), NULL where one is
//	                      empty; only where there are such parts
//	h<i>, g<i>  UBIGINT   identity passes: the two halves of the key's 128-bit
//	                      fingerprint, NULL where k<i> is NULL
//	kx          VARCHAR   canonical record id (remote_id of results, operation_id
//	                      of operations), where the field is declared
//	hx          UBIGINT   first half of its fingerprint; not stored where it is that
//	                      of a pass over the same field
//	c<i>                  comparable value of Job.Compare[i], only where it is not
//	                      f_<field> itself: normalised text, mapped text, rounded
//	                      decimal, sortable version, fingerprint
//	pg          VARCHAR   where a source of the side declares pages: the page of the
//	            record as found, NULL in the other sources
//	p1, p2      UBIGINT   128-bit fingerprint over all compared values; equal on
//	                      both sides only if every compared field is plainly equal.
//	                      Unreadable, ambiguous and unexpected values give a value
//	                      that the other side never has
//	w1, w2      UBIGINT   128-bit fingerprint of the whole record as found: every
//	                      source column that is not a transport column, by name (V4)
//
// Fingerprints are the first 16 bytes of SHA-256 (FIPS 180-4) over an
// unambiguous encoding; the first half routes joins, both halves together decide
// equality of what is plainly correct.
type Layout struct {
	Side    rules.Side
	Columns []Column
	spec    *rules.SideSpec
	job     *rules.Job
}

// NewLayout derives the layout of one side from the job.
func NewLayout(job *rules.Job, side rules.Side) *Layout {
	spec := job.Spec(side)
	l := &Layout{Side: side, spec: spec, job: job}
	l.add("rec", ColBigint)
	for _, f := range spec.Fields {
		l.add("f_"+f.Name, FieldColumnType(f))
		if f.Type != rules.Text {
			l.add("raw_"+f.Name, ColText)
		}
		if f.Type == rules.Timestamp {
			l.add("late_"+f.Name, ColBigint)
		}
	}
	l.add("bad", ColHash)
	l.add("amb", ColHash)
	if l.HasStatus() {
		l.add("st", ColText)
	}
	for i, p := range job.Match {
		l.add(fmt.Sprintf("k%d", i), ColText)
		if p.Group != nil && len(p.Group.Same) > 0 {
			l.add(fmt.Sprintf("s%d", i), ColText)
		}
		if p.Identity {
			l.add(fmt.Sprintf("h%d", i), ColHash)
			l.add(fmt.Sprintf("g%d", i), ColHash)
		}
	}
	if l.RecordID() != "" {
		l.add("kx", ColText)
		l.add("hx", ColHash)
	}
	for i := range job.Compare {
		if t, own := l.compareColumn(i); own {
			l.add(fmt.Sprintf("c%d", i), t)
		}
	}
	if l.HasPages() {
		l.add("pg", ColText)
	}
	for _, n := range []string{"p1", "p2", "w1", "w2"} {
		l.add(n, ColHash)
	}
	return l
}

func (l *Layout) add(name string, t ColumnType) {
	l.Columns = append(l.Columns, Column{Name: name, Type: t})
}

// FieldColumnType is the physical type of a product field.
func FieldColumnType(f rules.Field) ColumnType {
	switch f.Type {
	case rules.Decimal:
		if f.Scale >= 0 {
			return ColumnType(fmt.Sprintf("DECIMAL(28,%d)", f.Scale))
		}
		return ColText
	case rules.Integer:
		return ColInteger
	case rules.Boolean:
		return ColBoolean
	case rules.Date:
		return ColDate
	case rules.Timestamp:
		return ColBigint
	default:
		return ColText
	}
}

// HasStatus tells whether the side has a mapped status (column st).
func (l *Layout) HasStatus() bool {
	f := l.spec.Field("status")
	return l.Side == rules.Results && f != nil && f.Map != nil
}

// recordIDPass is the identity pass whose key is the record id itself; -1 where
// there is none.
func (l *Layout) recordIDPass() int {
	id := l.RecordID()
	return slices.IndexFunc(l.job.Match, func(p rules.Pass) bool {
		return id != "" && p.Identity && len(p.On) == 1 && !p.On[0].Nullable && l.partField(p.On[0]) == id
	})
}

// partField is the product field of this side that a part of a key is made of.
func (l *Layout) partField(p rules.KeyPart) string {
	if l.Side == rules.Results {
		return p.Results
	}
	return p.Operations
}

// Derived is how a column of the layout follows from another one; "" for a column
// that the staged file stores. A key of one plain text part is its field's text, and
// the record id may be the key of a pass: each is written once.
func (l *Layout) Derived(column string) string {
	part := rules.KeyPart{}
	switch {
	case column == "hx" && l.recordIDPass() >= 0:
		return fmt.Sprintf("h%d", l.recordIDPass())
	case column == "kx":
		part.Operations, part.Results = l.RecordID(), l.RecordID()
	case strings.HasPrefix(column, "k"):
		i, err := strconv.Atoi(column[1:])
		if err != nil || len(l.job.Match[i].On) != 1 {
			return ""
		}
		part = l.job.Match[i].On[0]
	default:
		return ""
	}
	name := l.partField(part)
	if part.Nullable || !plainText(l.spec.Field(name)) {
		return ""
	}
	for i := range l.spec.Sources {
		for j := range l.spec.Sources[i].Fields {
			if f := &l.spec.Sources[i].Fields[j]; f.Name == name && (!plainText(f) || wornKeys(&l.spec.Sources[i], f)) {
				return ""
			}
		}
	}
	// An empty text links nothing (V2).
	return "nullif(" + duck.Ident("f_"+name) + ", '')"
}

// wornKeys tells whether numbers of the source with many digits are no keys, though
// their text is there: see Field.NumericCells.
func wornKeys(src *rules.Source, f *rules.Field) bool {
	return src.Format == rules.FormatXLSX && f.NumericCells == rules.NumericUnusable
}

func plainText(f *rules.Field) bool {
	return f != nil && f.Type == rules.Text && len(f.Normalise) == 0 && len(f.Placeholders) == 0 && len(f.JSONPath) == 0
}

// Stored lists the columns that the staged files have.
func (l *Layout) Stored() []Column {
	var out []Column
	for _, c := range l.Columns {
		if l.Derived(c.Name) == "" {
			out = append(out, c)
		}
	}
	return out
}

// Relation renders staged files as a table expression with every column of the
// layout; there must be one at least.
func (l *Layout) Relation(staged ...string) string {
	return "(SELECT *" + l.DerivedColumns() + " FROM " + parquetRows(staged) + ")"
}

// DerivedColumns renders the columns that staged files do not store and that are none
// of these, to stand behind those which they do.
func (l *Layout) DerivedColumns(but ...string) string {
	var derived strings.Builder
	for _, c := range l.Columns {
		if d := l.Derived(c.Name); d != "" && !slices.Contains(but, c.Name) {
			derived.WriteString(", " + d + " AS " + duck.Ident(c.Name))
		}
	}
	return derived.String()
}

// HasPages tells whether a source of the side declares pages (column pg).
func (l *Layout) HasPages() bool {
	for i := range l.spec.Sources {
		if l.spec.Sources[i].Pages != nil {
			return true
		}
	}
	return false
}

// RecordID is the product field that identifies records among themselves
// (V4, V5): remote_id of results, operation_id of operations; "" where it is
// not declared.
func (l *Layout) RecordID() string {
	name := "operation_id"
	if l.Side == rules.Results {
		name = "remote_id"
	}
	if l.spec.Field(name) != nil {
		return name
	}
	return ""
}

// identifies tells whether a field is the record id or part of a key.
func (l *Layout) identifies(name string) bool {
	if name == l.RecordID() {
		return true
	}
	for _, p := range l.job.Match {
		for _, k := range p.On {
			if l.Side == rules.Operations && k.Operations == name || l.Side == rules.Results && k.Results == name {
				return true
			}
		}
	}
	return false
}

// CompareColumn is the staged column that holds the comparable value of
// Job.Compare[i] on this side; "" for a status comparison on the operations
// side, which has none, and st on the results side.
func (l *Layout) CompareColumn(i int) string {
	c := l.job.Compare[i]
	if c.As == rules.AsStatus {
		if l.Side == rules.Operations {
			return ""
		}
		return "st"
	}
	if _, own := l.compareColumn(i); own {
		return fmt.Sprintf("c%d", i)
	}
	return "f_" + l.compareField(c)
}

func (l *Layout) compareField(c rules.Compare) string {
	if l.Side == rules.Operations {
		return c.Operations
	}
	return c.Results
}

// compareColumn tells the type of the comparable value and whether it has a
// column of its own.
func (l *Layout) compareColumn(i int) (ColumnType, bool) {
	c := l.job.Compare[i]
	f := l.spec.Field(l.compareField(c))
	switch c.As {
	case rules.AsStatus:
		return ColText, false
	case rules.AsFingerprint:
		return ColText, true
	case rules.AsMapped:
		return ColText, l.Side == rules.Operations || len(c.Normalise) > 0 || (f != nil && len(f.Normalise) > 0)
	case rules.AsText, rules.AsCurrency:
		return ColText, len(c.Normalise) > 0 || (f != nil && len(f.Normalise) > 0)
	case rules.AsDecimal:
		if c.Round != nil {
			return ColText, true // canonical decimal text
		}
	case rules.AsVersion:
		if c.Scheme == rules.VersionSemantic {
			return ColText, true // text whose byte order is the order of SemVer 2.0.0 §11
		}
	}
	if f == nil {
		return ColText, false
	}
	return FieldColumnType(*f), false
}
