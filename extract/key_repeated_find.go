package extract

import (
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// maxRepeated is the number of repeated fingerprints up to which findRepeated lists
// them. Where more repeat, whole files do, and the engine groups the rows.
const maxRepeated = 10_000

// findRepeated returns, in order, the values that occur more than once in a column
// of fingerprints (UBIGINT) over all files; ok is false where there are too many.
//
// Fingerprints are spread evenly, so their low bits are a hash as good as any. The
// first reading marks which values of the low bits come twice, the second one
// gathers the few rows that have such bits, and only those are sorted. That is a
// tenth of the time of grouping all rows, which nearly always finds nothing.
func findRepeated(paths []string, column string) (repeated []uint64, ok bool, err error) {
	var rows int64
	for _, p := range paths {
		n, err := readHashes(p, column, nil)
		if err != nil {
			return nil, false, err
		}
		rows += n
	}
	bits := uint64(1 << 16)
	for bits < 16*uint64(rows) && bits < 1<<31 {
		bits <<= 1
	}
	once, twice := make([]uint64, bits/64), make([]uint64, bits/64)
	for _, p := range paths {
		if _, err := readHashes(p, column, func(h uint64) {
			word, bit := h&(bits-1)>>6, uint64(1)<<(h&63)
			twice[word] |= once[word] & bit
			once[word] |= bit
		}); err != nil {
			return nil, false, err
		}
	}
	once = nil
	var candidates []uint64
	for _, p := range paths {
		if _, err := readHashes(p, column, func(h uint64) {
			if twice[h&(bits-1)>>6]>>(h&63)&1 == 1 {
				candidates = append(candidates, h)
			}
		}); err != nil {
			return nil, false, err
		}
	}
	slices.Sort(candidates)
	for i := 1; i < len(candidates); i++ {
		if candidates[i] != candidates[i-1] || len(repeated) > 0 && repeated[len(repeated)-1] == candidates[i] {
			continue
		}
		if len(repeated) == maxRepeated {
			return nil, false, nil
		}
		repeated = append(repeated, candidates[i])
	}
	return repeated, true, nil
}

// readHashes gives each value of a column of a staged file that is not null to f,
// and returns the number of rows; with f nil it only counts them.
func readHashes(path, column string, f func(uint64)) (rows int64, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, stageError(err)
	}
	defer in.Close()
	pq, err := file.NewParquetReader(in)
	if err != nil {
		return 0, brokenStage(path, err)
	}
	if f == nil {
		return pq.NumRows(), nil
	}
	at := pq.MetaData().Schema.ColumnIndexByName(column)
	if at < 0 {
		return 0, fail.New(fail.Internal, "the staged file %s has no column %s", path, column)
	}
	values, levels := make([]int64, parquetBatch), make([]int16, parquetBatch)
	for g := range pq.NumRowGroups() {
		chunk, err := pq.RowGroup(g).Column(at)
		if err != nil {
			return 0, brokenStage(path, err)
		}
		hashes, ok := chunk.(*file.Int64ColumnChunkReader)
		if !ok {
			return 0, fail.New(fail.Internal, "the column %s of the staged file %s is no fingerprint", column, path)
		}
		for hashes.HasNext() {
			_, n, err := hashes.ReadBatch(parquetBatch, values, levels, nil)
			if err != nil {
				return 0, brokenStage(path, err)
			}
			for _, v := range values[:n] {
				f(uint64(v))
			}
		}
		if err := hashes.Err(); err != nil {
			return 0, brokenStage(path, err)
		}
	}
	return pq.NumRows(), nil
}

func brokenStage(path string, err error) error {
	return fail.Wrap(fail.Integrity, err, "the staged file %s cannot be read", path).
		WithHint("remove the stage folder and run again")
}
