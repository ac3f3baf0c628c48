package report

import (
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

// TypeShown is the name of a type of operation as people may see it, and as it is known in
// other runs. Types that the job names itself are no data. Where types are personal, all
// others are "*", whose policy they have; else a card number, an IBAN or a secret in a name is
// masked.
func TypeShown(job *rules.Job, name string) string {
	_, named := job.Types[name]
	switch {
	case named || name == "":
	case job.Redact.Fields["type"] != "":
		return "*"
	case job.Redact.LooksThrough("type"):
		return scan.Text(name)
	}
	return name
}

// hideTypes gives proposals the names of their types that people may see.
func hideTypes(list []Proposal, job *rules.Job) []Proposal {
	out := []Proposal{}
	at := map[Seen]int{}
	for _, p := range list {
		p.Type = TypeShown(job, p.Type)
		k := Seen{p.Type, p.Queue}
		if i, ok := at[k]; ok {
			out[i].Items += p.Items
			out[i].ObserveOnly += p.ObserveOnly
			continue
		}
		at[k] = len(out)
		out = append(out, p)
	}
	return out
}
