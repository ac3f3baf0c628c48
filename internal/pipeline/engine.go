package pipeline

import (
	"context"
	"errors"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// EngineVersion starts the engine and asks for its version.
func EngineVersion(ctx context.Context) (version string, err error) {
	db, err := duck.Open(ctx, duck.Options{MemoryBytes: minDuckDB, Threads: 1})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Version(ctx)
}
