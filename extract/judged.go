package extract

import (
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// What ready rules found before (rules.Judged) is held to here: the files that are read are
// those that were judged, and have what is stated of them.

// judgedNames are the files that were judged, below their folder.
func judgedNames(j *rules.Judged) []string {
	names := make([]string, len(j.Files))
	for i, f := range j.Files {
		names[i] = filepath.FromSlash(f.Name)
	}
	return names
}

// late says of a missing file why it was not ready; "" where that was not asked.
func (f *foundFile) late() string {
	if f.judged == nil {
		return ""
	}
	return f.judged.Missing
}

// lacking says why a missing file is missing: as its problem, and as the beginning of a
// sentence. Of one that is pulled a run may go on without knowing more than that it did not
// come: the place may have had none, or not have answered.
func (f *foundFile) lacking() (problem, says string) {
	switch late := f.late(); {
	case late != "":
		return "not ready: " + late, "the source " + f.source.Name + " is not ready: " + late
	case f.source.Remote != nil:
		return "it did not come", f.rel + " did not come: it is not there, or could not be pulled whole"
	}
	return "there is no such file", "there is no file " + f.rel
}

// stated is what was found of the file before; nil where that was not asked.
func (f *foundFile) stated() *rules.JudgedFile { return f.judged.Of(filepath.ToSlash(f.rel)) }

// asJudged refuses an open file that is not as it was when it was found to be ready.
func (f *foundFile) asJudged(info os.FileInfo) error {
	s := f.stated()
	if s == nil || f.kept != "" || f.sha256 != "" {
		return nil // or its bytes are compared
	}
	if s.Size != info.Size() || !s.Modified.IsZero() && !s.Modified.Equal(info.ModTime()) {
		return fail.New(fail.Input, "%s was written to after it was found to be ready", f.rel).
			WithHint("run again when the file is complete; have it delivered under another name and renamed")
	}
	return nil
}

// judgeStated compares what was read with what manifest and marker state of the file.
func judgeStated(f *foundFile, s *sidecar) error {
	want := f.stated()
	if want == nil {
		return nil
	}
	if want.SHA256 != "" && want.SHA256 != s.SHA256 {
		return fail.New(fail.Input, "%s has another SHA-256 (%s) than is stated of it (%s)", f.rel, short(s.SHA256), short(want.SHA256)).
			WithHint("have the file sent again, with its manifest")
	}
	if want.Records != nil && *want.Records != s.Records {
		return fail.New(fail.Input, "%s: the manifest states %d records against %d records read", f.rel, *want.Records, s.Records).
			WithHint("the file is not whole, or not the one that its manifest speaks of: have it sent again")
	}
	return nil
}

// judgeTotals compares the records of all files of an input with what its marker states.
// Where they differ, none of the files is known to be whole.
func (l *loader) judgeTotals() {
	for i := range l.inputs {
		j := l.inputs[i].Judged
		if j == nil || j.Records == nil {
			continue
		}
		read, whole := int64(0), true
		for n, f := range l.found {
			if f.input == i && !f.missing {
				if l.staged[n] == nil || l.errs[n] != nil {
					whole = false
					continue
				}
				read += l.staged[n].Records
			}
		}
		if !whole || read == *j.Records {
			continue
		}
		for n, f := range l.found {
			if f.input == i {
				l.errs[n] = fail.New(fail.Input, "%s: the marker of the source %s states %d records against %d records read", f.rel, f.source.Name, *j.Records, read).
					WithHint("the files are not whole, or not those that the marker speaks of: have them sent again")
			}
		}
	}
}

// remarkUnlisted tells of files that nothing is read of.
func (l *loader) remarkUnlisted() {
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.Judged == nil {
			continue
		}
		for _, name := range in.Judged.Unlisted {
			l.rel.Findings = append(l.rel.Findings, Finding{
				Code: "file_unlisted", Source: in.Source.Name, File: name,
				Text: name + " is not listed in the manifest of the source " + in.Source.Name + " and was not read",
			})
		}
	}
}
