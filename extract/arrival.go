package extract

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/extract/bank"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

// Arrival is what the identity of its source says of one file.
type Arrival struct {
	Key      string `json:"key"`                // which report it is: all parts but the revision, as name=value
	Series   string `json:"series,omitempty"`   // of the files that its sequence goes on over
	Sequence *int64 `json:"sequence,omitempty"` // nil: none is declared
	Part     int64  `json:"part,omitempty"`     // from 1; 0: it is whole
	Parts    int64  `json:"parts,omitempty"`    // 0: not stated
	Revision string `json:"revision,omitempty"`
	Sums     []Sum  `json:"sums,omitempty"` // of the amount field, by currency
}

// Sum is the exact sum of the amounts of one currency, as decimal text.
type Sum struct {
	Currency string `json:"currency"`
	Sum      string `json:"sum"`
}

// Arrived is a file that a published run read whole.
type Arrived struct {
	Side         rules.Side
	Source, Path string
	Date         string // {file_date}, or ""
	BusinessDate string // of the run
	RunID        string
	SHA256       string
	Content      string // SHA-256 of the decompressed bytes
	Records      int64
	Arrival      *Arrival
}

// slot is the date that a file is read for: its own, else that of the run.
func slot(fileDate, businessDate string) string {
	if fileDate != "" {
		return fileDate
	}
	return businessDate
}

// maxPart bounds the text of one part of an identity.
const maxPart = 200

// arrivals finds out which report each staged file is, where its source has an identity,
// and then which of them are files of other dates, and which are revisions of each other.
func (l *loader) arrivals(ctx context.Context) {
	l.arrived = make([]*Arrival, len(l.found))
	l.resent, l.reread = map[int]*Arrived{}, map[int]*Arrived{}
	l.newer = map[int]int{}
	for i, f := range l.found {
		if f.source.Identity != nil && l.staged[i] != nil && l.errs[i] == nil {
			l.arrived[i], l.errs[i] = l.arrival(ctx, f, l.staged[i])
		}
	}
	l.findResent()
	l.findRevisions()
}

// arrival reads the parts of one file's identity. The error has class Input where the file
// does not say one of them.
func (l *loader) arrival(ctx context.Context, f *foundFile, s *staged) (*Arrival, error) {
	a := &Arrival{}
	var key, series []string
	for i := range f.source.Identity.Parts {
		p := &f.source.Identity.Parts[i]
		text, err := l.partText(ctx, f, s, p)
		if err != nil {
			return nil, err
		}
		if p.Name == rules.PartRevision {
			a.Revision = text
			continue
		}
		switch {
		case text == "":
			return nil, noPart(f, p, "is empty")
		case len(text) > maxPart:
			return nil, noPart(f, p, fmt.Sprintf("has %d bytes; more than %d are no part of an identity", len(text), maxPart))
		}
		var n *int64
		switch p.Name {
		case rules.PartSequence, rules.PartPart, rules.PartParts:
			v, err := strconv.ParseInt(text, 10, 63)
			if err != nil || v < 0 || v == 0 && p.Name != rules.PartSequence {
				return nil, noPart(f, p, fmt.Sprintf("is %q, which is no such number", text))
			}
			n, text = &v, strconv.FormatInt(v, 10)
		}
		word := p.Name + "=" + keyText(text)
		switch p.Name {
		case rules.PartSequence:
			a.Sequence = n
		case rules.PartPart:
			a.Part = *n
		case rules.PartParts:
			a.Parts = *n
			continue // it tells no two files apart
		case rules.PartPeriod:
		default:
			series = append(series, word)
		}
		key = append(key, word)
	}
	if a.Parts > 0 && a.Part > a.Parts {
		return nil, fail.New(fail.Input, "%s: it is part %d of %d", f.rel, a.Part, a.Parts).
			WithHint("correct identity.part and identity.parts of the source %s", f.source.Name)
	}
	a.Key = strings.Join(key, " ")
	if a.Sequence != nil {
		a.Series = strings.Join(series, " ")
	}
	for _, t := range s.Totals {
		a.Sums = append(a.Sums, Sum{Currency: t.Currency, Sum: t.Sum})
	}
	return a, nil
}

// keyText writes a part so that no two keys can be taken for each other. Account numbers
// and the like stand there by their digest: a key stands in outputs as it is.
func keyText(text string) string {
	if scan.Text(text) != text {
		return fmt.Sprintf("sha256:%.16x", sha256.Sum256([]byte(text)))
	}
	plain := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:+", r))
	}) < 0
	if plain && !strings.HasPrefix(text, "sha256:") {
		return text
	}
	return strings.ReplaceAll(strconv.QuoteToASCII(text), " ", `\x20`) // a blank parts the words of a key
}

// partText is the text of one part; "" for a revision that the file's name does not have.
func (l *loader) partText(ctx context.Context, f *foundFile, s *staged, p *rules.IdentityPart) (string, error) {
	switch {
	case p.Text != "":
		text, err := p.Text.Fill(l.job.Date, f.date)
		if err != nil {
			return "", fail.Wrap(fail.Usage, err, "identity.%s of the source %s", p.Name, f.source.Name)
		}
		return text, nil
	case p.FileName != "":
		re, err := regexp.Compile(p.FileName)
		if err != nil {
			return "", fail.Wrap(fail.Internal, err, "identity.%s of the source %s", p.Name, f.source.Name) // checked at load
		}
		m := re.FindStringSubmatch(filepath.Base(f.rel))
		switch {
		case len(m) == 2:
			return m[1], nil
		case p.Name == rules.PartRevision:
			return "", nil
		}
		return "", noPart(f, p, "is not in its name, which does not fit "+p.FileName)
	case p.At.Stated():
		text, ok := s.stated(s.Trailer)(p.At)
		if !ok {
			return "", noPart(f, p, "is not there: it has no "+p.At.String())
		}
		return text, nil
	case p.Statement != "":
		return statementPart(f, s, p)
	}
	var values int64
	var text *string
	err := l.db.Scan(ctx, identitySQL.Render(duck.Slots{"field": duck.Ident("f_" + p.Field), "rows": l.layout.Relation(s.path)}), &values, &text)
	switch {
	case err != nil:
		return "", err
	case values == 1 && text != nil:
		return *text, nil
	case values < 2:
		return "", noPart(f, p, fmt.Sprintf("is not there: no record has a value of %s", p.Field))
	}
	return "", noPart(f, p, fmt.Sprintf("is not one: its records have %d values of %s", values, p.Field))
}

// statementPart takes a part from the one statement of a bank's file.
func statementPart(f *foundFile, s *staged, p *rules.IdentityPart) (string, error) {
	facts, err := bankFacts(f.source, &s.sidecar)
	if err != nil {
		return "", err
	}
	var list []bank.Statement
	if facts != nil {
		list = facts.Statements
	}
	if len(list) != 1 {
		return "", noPart(f, p, fmt.Sprintf("is not one: the file holds %s", plural(len(list), "statement")))
	}
	return map[string]string{"account": list[0].Account, "number": list[0].Number, "id": list[0].ID, "until": list[0].Until}[p.Statement], nil
}

func noPart(f *foundFile, p *rules.IdentityPart, why string) error {
	return fail.New(fail.Input, "%s: its %s %s: nobody can say which report it is", f.rel, p.Name, why).
		WithHint("have the file sent again, or correct identity.%s of the source %s", p.Name, f.source.Name)
}

// findResent finds files that a run of an earlier date read for that date: today they
// stand in the place of another one.
func (l *loader) findResent() {
	for i, a := range l.arrived {
		f, s := l.found[i], l.staged[i]
		if a == nil || l.errs[i] != nil || !f.source.Identity.OfOneDate() {
			continue
		}
		for j := len(l.opt.Earlier) - 1; j >= 0; j-- {
			e := &l.opt.Earlier[j]
			if e.Side != l.rel.Side || e.Source != f.source.Name || slot(e.Date, e.BusinessDate) == slot(f.date, l.job.Date) || e.Arrival == nil {
				continue
			}
			same := e.Path == filepath.ToSlash(f.rel)
			switch {
			case e.Content == s.Content && e.Arrival.Key == a.Key && same:
				l.reread[i] = e // on purpose, or because nobody has replaced it yet
			case s.Records == 0: // two quiet days look alike
				continue
			case e.Content == s.Content, e.Arrival.Key == a.Key && !same:
				l.resent[i] = e
			default:
				continue
			}
			break
		}
	}
	for i, e := range l.resent {
		if l.found[i].source.Need == rules.Required && e.Content == l.staged[i].Content && !l.othersThan(i) {
			l.errs[i] = fail.New(fail.Input, "%s is the file of %s again: %s, which run %s read, has the same content; the file of %s is not there",
				l.found[i].rel, slot(e.Date, e.BusinessDate), e.Path, e.RunID, slot(l.found[i].date, l.job.Date)).
				WithHint("wait for the file, or have it sent again; files that may rightly be equal are declared identity: {may_repeat: true}")
		}
	}
}

// othersThan tells whether the input of a file has another one that no run of an earlier
// date has read.
func (l *loader) othersThan(i int) bool {
	for j, f := range l.found {
		if j != i && f.input == l.found[i].input && l.staged[j] != nil && l.errs[j] == nil && l.resent[j] == nil && l.reread[j] == nil {
			return true
		}
	}
	return false
}

// wasRead tells whether a file of an earlier date is here again with the same content, so
// that it is left out.
func (l *loader) wasRead(i int) bool {
	e := l.resent[i]
	return e != nil && l.staged[i] != nil && e.Content == l.staged[i].Content
}

// resentEvidence says what a file of an earlier date leaves of the proof of its input.
func (l *loader) resentEvidence(i int, e *evidence) bool {
	if was := l.reread[i]; was != nil && !l.othersThan(i) {
		e.spoiled = fmt.Sprintf("%s is what run %s read for %s, with nothing new beside it (identity: {may_repeat: true} where that is right)",
			l.found[i].rel, was.RunID, slot(was.Date, was.BusinessDate))
		return true
	}
	was := l.resent[i]
	if was == nil {
		return false
	}
	why := fmt.Sprintf("%s is the file of %s (%s) again", l.found[i].rel, slot(was.Date, was.BusinessDate), was.Path)
	switch {
	case was.Content != l.rel.Files[i].ContentSHA256:
		e.spoiled = fmt.Sprintf("%s is another revision of the file of %s (%s)", l.found[i].rel, slot(was.Date, was.BusinessDate), was.Path)
	case l.othersThan(i):
		e.spoiled = why
	default:
		e.missing, e.noFile = why, true
	}
	return true
}
