package extract

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/extract/bank"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// bankInputs resolves the lists of operations that statuses of banks reach. The
// rows of such a source follow from that list too, so that its digest belongs to
// what is declared of the source: another list gives another staged file.
func bankInputs(ctx context.Context, base string, inputs []rules.Input) ([]rules.Input, error) {
	out := slices.Clone(inputs)
	for i := range out {
		in := &out[i]
		if in.Reach == "" {
			continue
		}
		path := in.Reach
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fail.Wrap(fail.Input, err, "the operations of bank.reach (%s) cannot be read", in.Reach).
				WithHint("export the operations of the messages that were sent, or correct the path")
		}
		sum, err := hashFile(ctx, f)
		f.Close()
		if err != nil {
			return nil, inputError(in.Reach, err)
		}
		src, b, reach := *in.Source, *in.Source.Bank, *in.Source.Bank.Reach
		reach.Path, reach.SHA256 = rules.Template(path), hex.EncodeToString(sum[:])
		b.Reach = &reach
		src.Bank = &b
		in.Source = &src
	}
	return out, nil
}

// checkBanks judges what the files of banks say besides their rows: what does not
// tie or is provisional, statements that are there twice, and gaps between them.
// What stands against a conclusion from silence is kept for the coverage.
func (l *loader) checkBanks(context.Context) error {
	l.gaps, l.provisional = map[int]string{}, map[int]string{}
	for _, src := range l.sources() {
		if !src.Format.Bank() {
			continue
		}
		if err := l.checkBank(src); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) checkBank(src *rules.Source) error {
	kinds := map[string][]bank.Place{} // statements and notifications are numbered apart
	var fault error
	l.of(src.Name, func(i int, s *staged) {
		if fault != nil {
			return
		}
		var f *bank.Facts
		if f, fault = bankFacts(src, &s.sidecar); f == nil {
			return
		}
		found := l.found[i]
		for _, n := range f.Notes {
			l.find("bank_note", found, "%s", n.Text)
			if n.Withdraw {
				l.gaps[i] = n.Text
			}
		}
		if f.Provisional != "" {
			fault = l.provisionalFile(i, f.Provisional)
			return
		}
		kind := f.Message[:min(len(f.Message), len("camt.053"))]
		for j := range f.Statements {
			kinds[kind] = append(kinds[kind], bank.Place{File: i, Statement: &f.Statements[j]})
		}
	})
	if fault != nil {
		return fault
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if err := l.checkStatements(src, kinds[kind]); err != nil {
			return err
		}
	}
	return nil
}

// checkStatements looks at the statements of one kind over all files of a source.
func (l *loader) checkStatements(src *rules.Source, places []bank.Place) error {
	fault := l.repeatedStatements(places)
	if files, text := bank.Joined(places); fault == nil && text != "" {
		if src.Bank == nil || src.Bank.Proof != "report" {
			return fail.New(fail.Input, "%s: %s", l.found[files[len(files)-1]].rel, text).
				WithHint("a page is not whole, or an entry was changed: have the statement sent again")
		}
		for _, i := range files {
			l.gaps[i] = text
		}
		l.find("bank_note", l.found[files[0]], "%s", text)
	}
	if fault != nil {
		return fault
	}
	for _, g := range bank.Chain(places, src.Bank == nil || src.Bank.Sequence != "ignore") {
		for _, i := range g.Files {
			l.gaps[i] = g.Text
		}
		l.find("statement_gap", l.found[g.Files[0]], "%s", g.Text)
	}
	return nil
}

// provisionalFile takes a file of intraday rows: its silence proves nothing, and its
// rows must not pass for final ones.
func (l *loader) provisionalFile(i int, why string) error {
	f := l.found[i]
	l.provisional[i] = why
	l.find("provisional", f, "%s: %s; its silence proves nothing", f.rel, why)
	if l.rel.Side != rules.Results {
		return nil
	}
	if fault, remedy := f.source.ProvisionalFault(); fault != "" {
		return fail.New(fail.Input, "%s: %s; %s", f.rel, why, fault).WithHint("%s", remedy)
	}
	return nil
}

// repeatedStatements refuses a statement that is there twice, in two files or in one:
// each of its entries would count twice (T16). A copy that the bank marks as one is refused as well,
// since its rows cannot be told from the others once they are read.
func (l *loader) repeatedStatements(places []bank.Place) error {
	first := map[string]int{}
	for _, p := range places {
		if p.Statement.Entries == 0 {
			continue
		}
		key := p.Statement.Key()
		at, ok := first[key]
		if ok && at == p.File {
			return fail.New(fail.Input, "%s holds %s twice: its entries would count twice", l.found[at].rel, p.Statement.Name()).
				WithHint("have the file sent again with each statement once")
		}
		if ok {
			return fail.New(fail.Input, "%s and %s both hold %s: its entries would count twice", l.found[at].rel, l.found[p.File].rel, p.Statement.Name()).
				WithHint("take one of the two files away")
		}
		first[key] = p.File
	}
	return nil
}

// bankEvidence says what the checks of a bank's file leave of its proof.
func (l *loader) bankEvidence(j int, e *evidence) bool {
	switch {
	case l.gaps[j] != "":
		e.spoiled = fmt.Sprintf("%s: %s", l.found[j].rel, l.gaps[j])
	case l.provisional[j] != "" && e.source.Coverage.Proves != rules.PresenceOnly:
		e.missing = l.found[j].rel + ": " + l.provisional[j]
	default:
		return false
	}
	return true
}
