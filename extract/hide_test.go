package extract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// A message quotes the cell that is at fault, unless the job declares personal fields.
func TestMessagesQuoteNoCell(t *testing.T) {
	for _, hide := range []bool{false, true} {
		src := &rules.Source{Name: "s", Format: rules.FormatCSV, HideCells: hide, CSV: rules.CSV{Delimiter: ',', Quote: '"', Rows: &rules.RowKinds{Field: 1, Record: "D", Trailer: "T"}}}
		r, err := openReader(src, nil, strings.NewReader("kind,id\nann@example.org,1\nT,1\n"), "a.csv")
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Next()
		bad, ok := errors.AsType[*RecordError](err)
		if !ok || strings.Contains(bad.Reason, "ann@example.org") == hide || hide != strings.Contains(bad.Reason, hiddenCell) {
			t.Errorf("hidden %t: %v", hide, err)
		}
		b := &bankReader{hide: hide}
		err = b.unquoted(fail.New(fail.Input, "line 6: no value date in %q", `ann "the" owner`).WithHint("not %q", "ann"))
		if e, _ := errors.AsType[*fail.Error](err); strings.Contains(e.Error()+e.Hint, "ann") == hide || e.Class != fail.Input {
			t.Errorf("hidden %t: %v", hide, err)
		}
	}
}

// A folder of staged files that others may read is narrowed.
func TestStagedForTheOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755), ownerAlone(dir)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := ownerAlone(filepath.Join(dir, "none")); fail.ClassOf(err) != fail.Resources {
		t.Errorf("no folder: %v", err)
	}
}
