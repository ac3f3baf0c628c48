package classify

import (
	"fmt"

	"github.com/recon-batch/recon-batch/internal/hole"
)

// bit is the number of a check in SQL; 0 where a test has taken it out of the guard
// (package guardtest).
func bit(c Check) string { return fmt.Sprint(uint32(c &^ Check(hole.Removed()))) }
