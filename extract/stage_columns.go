package extract

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recon-batch/recon-batch/internal/pages"
)

// StagedBy stands in every staged file as who made it, and says what its columns mean.
const StagedBy = "recon-batch " + stageSemantics

// stagedColumns are the columns of a staged file. Keys and fingerprints are not tried
// for a dictionary: each row has its own.
func stagedColumns(schema *arrow.Schema) []pages.Column {
	return pages.Columns(schema, func(f arrow.Field) bool {
		if f.Type.ID() == arrow.UINT64 {
			return f.Name == "bad" || f.Name == "amb"
		}
		return f.Name[0] != 'k' // k<i>, kx
	})
}
