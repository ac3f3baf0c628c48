package report

import (
	"archive/zip"
	"bufio"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/xuri/excelize/v2"
)

// bookPacked is the level of compression: a good part of the gain of the highest one for
// a third of its time.
const bookPacked = 3

// fixedTime is that of every entry of the archive, the first one that the format knows.
var fixedTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// bookArchive gives the entries that the library writes their time and compression.
type bookArchive struct{ *zip.Writer }

func newBookArchive(w io.Writer) bookArchive {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, bookPacked) })
	return bookArchive{z}
}

func (a bookArchive) Create(name string) (io.Writer, error) {
	return a.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: fixedTime})
}

// pack writes the archive. The library writes the sheets in the order of a map, so that
// they go to a temporary file and from there, packed as they are, in the order of their
// names, the list of content types first. No archive is held in memory.
func (b *book) pack() (err error) {
	tmp, err := os.CreateTemp(b.dir, "workbook-")
	if err != nil {
		return err
	}
	defer func() {
		for _, e := range []error{tmp.Close(), os.Remove(tmp.Name())} {
			if err == nil {
				err = e
			}
		}
	}()
	w := bufio.NewWriterSize(tmp, 1<<18)
	b.f.SetZipWriter(func(io.Writer) excelize.ZipWriter { return newBookArchive(w) })
	if err := b.f.Write(io.Discard); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	info, err := tmp.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(tmp, info.Size())
	if err != nil {
		return err
	}
	slices.SortFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	sorted := zip.NewWriter(b.out)
	for _, f := range z.File {
		if err := sorted.Copy(f); err != nil {
			return err
		}
	}
	return sorted.Close()
}
