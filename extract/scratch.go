package extract

import (
	"context"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// Scratch is the scratch database of a run, which extract, match, classify and report
// share. The alias lets programs outside this module name it.
type Scratch = duck.DB

// ScratchOptions are the limits of a scratch database.
type ScratchOptions = duck.Options

// OpenScratch starts a scratch database: in memory, spilling to a folder of its own,
// locked down to the folders in o.Allowed, which must hold the stage and output
// folders. The caller closes it. Errors are fail.Resources where a folder or memory
// is missing.
func OpenScratch(ctx context.Context, o ScratchOptions) (*Scratch, error) {
	return duck.Open(ctx, o)
}
