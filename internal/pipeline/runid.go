package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"github.com/recon-batch/recon-batch/rules"
)

// identity is what makes a run the run it is. Threads, memory and folders are no
// part of it: they change no output.
type identity struct {
	Job       string          `json:"job"`
	Date      string          `json:"date"`
	JobDigest string          `json:"job_digest"`
	Inputs    []inputIdentity `json:"inputs"`
	AsOf      string          `json:"as_of"`
	Overrides []string        `json:"overrides"`
	Former    []string        `json:"former"` // digests of former runs that the run reads
	Semantics int             `json:"semantics"`
	Ready     []ReadySource   `json:"ready,omitempty"`
	Files     []string        `json:"files,omitempty"`   // of others, see fileIdentity
	Lookups   []string        `json:"lookups,omitempty"` // source and digest of what decides in their answers
}

// inputIdentity names one file. The name is part of it, since it stands in every
// output row; a renamed file is another revision with the same content digest.
type inputIdentity struct {
	Side   rules.Side `json:"side"`
	Source string     `json:"source"`
	Name   string     `json:"name"`
	Date   string     `json:"date"`
	SHA256 string     `json:"sha256"`
	Status string     `json:"status"`
	Keys   string     `json:"signed_with,omitempty"` // other keys reject other records
}

// id is the first 16 hexadecimal digits of SHA-256 over the identity in JSON: the
// order of members is that of the struct, the order of inputs that of the sides,
// sources and file names.
func (i identity) id() (string, error) {
	text, err := json.Marshal(i)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// identityOf takes the identity from what a manifest says, so that anybody can
// derive the run id again.
func identityOf(m *Manifest) identity {
	id := identity{
		Job: m.Job, Date: m.BusinessDate, JobDigest: m.JobDigest, AsOf: m.ReferenceTime,
		Overrides: m.Overrides, Former: []string{}, Semantics: m.Versions.Semantics, Ready: m.Ready,
	}
	for _, f := range m.Former {
		id.Former = append(id.Former, f.ManifestSHA256)
	}
	id.Files = fileIdentity(m)
	for _, a := range m.Lookups {
		id.Lookups = append(id.Lookups, a.Source+" "+a.Digest)
	}
	for _, in := range m.Inputs {
		id.Inputs = append(id.Inputs, inputIdentity{
			Side: in.Side, Source: in.Source, Name: in.Name, Date: in.Date, SHA256: in.SHA256, Status: in.Status, Keys: in.SignedWith,
		})
	}
	return id
}

var runIDForm = regexp.MustCompile(`^[0-9a-f]{16}$`)
