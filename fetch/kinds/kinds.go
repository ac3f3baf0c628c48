// Package kinds knows the puller of each kind of remote source.
package kinds

import (
	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/api"
	"github.com/recon-batch/recon-batch/fetch/https"
	"github.com/recon-batch/recon-batch/fetch/listing"
	"github.com/recon-batch/recon-batch/fetch/program"
	"github.com/recon-batch/recon-batch/fetch/s3"
	"github.com/recon-batch/recon-batch/fetch/sftp"
	"github.com/recon-batch/recon-batch/fetch/sql"
	"github.com/recon-batch/recon-batch/rules"
)

var pullers = map[string]fetch.Puller{
	rules.FromExec:  program.Puller{},
	rules.FromS3:    s3.Puller{},
	rules.FromSFTP:  sftp.Puller{},
	rules.FromHTTPS: https.Puller{},
	rules.FromSQL:   sql.Puller{},
	rules.FromAPI:   api.Puller{},

	rules.FromLookup: api.Asker{},
}

// Of gives the puller of a kind; every kind that a job file can name has one.
func Of(kind string) fetch.Puller {
	if kind == rules.FromListing {
		return listing.Puller{Of: Of}
	}
	return pullers[kind]
}
