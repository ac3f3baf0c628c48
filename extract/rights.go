package extract

import (
	"os"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// ownerAlone takes the rights of others from the folder of staged files, which hold what
// the inputs hold, hidden fields too. It may be of a version that did not, or made by hand.
func ownerAlone(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return fail.Wrap(fail.Resources, err, "the folder of parsed files cannot be kept for its owner alone").
			WithHint("name a folder of its own with --stage-dir: it holds every value of the inputs in the clear")
	}
	return nil
}
