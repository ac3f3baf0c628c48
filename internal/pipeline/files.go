package pipeline

import (
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Files is the registry of a job: what every published run read.
type Files struct {
	Job   string      `json:"job"`
	Files []KnownFile `json:"files"` // by side, source and first date
}

// KnownFile is one content under one name, as published runs read it.
type KnownFile struct {
	Side          rules.Side `json:"side"`
	Source        string     `json:"source"`
	Name          string     `json:"name"` // path, relative to the job file
	Date          string     `json:"date,omitempty"`
	Key           string     `json:"key,omitempty"`
	Revision      string     `json:"revision,omitempty"`
	SHA256        string     `json:"sha256"`
	ContentSHA256 string     `json:"content_sha256"`
	Records       int64      `json:"records"`
	FirstRun      string     `json:"first_run"` // the earliest business date, and its first run
	FirstDate     string     `json:"first_date"`
	LastDate      string     `json:"last_date"`
	Status        string     `json:"status"` // current, superseded, or as in the last run that had it: skipped, refused
	Note          string     `json:"note,omitempty"`
}

// FileStatusCurrent is a file that a current run has read whole.
const FileStatusCurrent = "current"

// KnownFiles lists what the published runs of a job read, current ones and those that were
// superseded. source "" lists all sources.
func KnownFiles(out string, job *rules.Job, source string) (*Files, error) {
	if err := knownSource(job, source); err != nil {
		return nil, err
	}
	runs, err := History(out, Series(job), "")
	if err != nil {
		return nil, err
	}
	files := &Files{Job: job.Name, Files: []KnownFile{}}
	type id struct {
		side              rules.Side
		source, path, sha string
	}
	at := map[id]int{}
	for _, run := range runs { // by date, then in the order of revisions
		if run.RunID == "" {
			continue
		}
		m, _, err := ReadManifest(run.Folder)
		if err != nil {
			return nil, err
		}
		for _, in := range m.Inputs {
			if in.SHA256 == "" || source != "" && in.Source != source {
				continue
			}
			k := id{in.Side, in.Source, in.Path, in.SHA256}
			i, ok := at[k]
			if !ok {
				i = len(files.Files)
				at[k] = i
				files.Files = append(files.Files, KnownFile{Side: in.Side, Source: in.Source, Name: in.Path, Date: in.Date, SHA256: in.SHA256, ContentSHA256: in.ContentSHA256,
					Records: in.Records, FirstRun: m.RunID, FirstDate: m.BusinessDate})
			}
			f := &files.Files[i]
			f.LastDate = m.BusinessDate
			if a := in.Arrival; a != nil {
				f.Key, f.Revision = a.Key, a.Revision
			}
			switch {
			case in.Status == string(extract.FileStaged) && run.Current:
				f.Status, f.Note, f.Records = FileStatusCurrent, "", in.Records
			case f.Status == FileStatusCurrent:
			case in.Status == string(extract.FileStaged):
				f.Status, f.Note = string(extract.FileSuperseded), "read by runs that were superseded"
			default:
				f.Status, f.Note = in.Status, in.Problem
			}
		}
	}
	slices.SortStableFunc(files.Files, func(a, b KnownFile) int {
		return slices.Compare([]string{string(a.Side), a.Source, a.FirstDate, a.Name}, []string{string(b.Side), b.Source, b.FirstDate, b.Name})
	})
	return files, nil
}

// knownSource refuses the name of a source that the job does not have; "" is all of them.
func knownSource(job *rules.Job, source string) error {
	names := []string{}
	for _, side := range rules.Sides {
		for _, s := range job.Spec(side).Sources {
			names = append(names, s.Name)
		}
	}
	if source != "" && !slices.Contains(names, source) {
		return fail.New(fail.Usage, "the job has no source %s", source).WithHint("its sources are %s", strings.Join(names, ", "))
	}
	return nil
}
