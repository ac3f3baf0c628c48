package extract

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

// stringsInMemory bounds the shared strings of a workbook that are held in memory,
// in bytes; those of a larger one go to a temporary file.
const stringsInMemory = 32 << 20

// longestText is the longest text of a cell in UTF-16 units (the limit of the format
// in Excel: "total number of characters that a cell can contain"). One long text that
// a million cells share would make terabytes of a small file.
const longestText = 32_767

// xlsxStrings are the texts that cells refer to by number. They stand in one run of
// bytes, and their ends in another, 8 bytes each.
type xlsxStrings struct {
	n          int
	text, ends []byte
	textFile   *os.File // nil while all is in memory
	endsFile   *os.File
	buf        []byte
}

// readStrings reads the part of shared strings.
func (b *xlsxBook) readStrings() (*xlsxStrings, error) {
	s := &xlsxStrings{}
	if b.strings == "" {
		return s, nil
	}
	r, err := b.open(b.strings)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	x, err := newXMLTokens(r, "", b.name+"/"+b.strings, b.lim)
	if err != nil {
		return nil, err
	}
	if err := s.read(x, stringsInMemory); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *xlsxStrings) read(x *xmlTokens, inMemory int) error {
	var text, ends *bufio.Writer
	var item []byte
	total := uint64(0)
	put := func() error {
		if len(item) > longestText && utf16Length(item) > longestText {
			return overLimit(x.name, "characters in one shared text", longestText)
		}
		total += uint64(len(item))
		s.n++
		if text == nil {
			s.text = append(s.text, item...)
			s.ends = binary.LittleEndian.AppendUint64(s.ends, total)
			if len(s.text)+len(s.ends) <= inMemory {
				return nil
			}
			var err error
			if s.textFile, err = os.CreateTemp("", "recon-batch-*"); err == nil {
				s.endsFile, err = os.CreateTemp("", "recon-batch-*")
			}
			if err != nil {
				return spoolError(x.name, err)
			}
			text, ends = bufio.NewWriterSize(s.textFile, 256<<10), bufio.NewWriterSize(s.endsFile, 256<<10)
			text.Write(s.text)
			ends.Write(s.ends)
			s.text, s.ends = nil, nil
			return nil
		}
		if _, err := text.Write(item); err != nil {
			return spoolError(x.name, err)
		}
		if _, err := ends.Write(binary.LittleEndian.AppendUint64(nil, total)); err != nil {
			return spoolError(x.name, err)
		}
		return nil
	}
	rich := richText{}
	for {
		tok, err := x.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if x.Depth() == 1 && tok.Kind == xmlstream.End || tok.Kind == xmlstream.Start && string(tok.Name) == "si" {
			x.Mark()
		}
		item = rich.add(item, tok)
		switch {
		case tok.Kind == xmlstream.Start && x.Depth() == 2:
			item, rich = item[:0], richText{}
		case tok.Kind == xmlstream.End && x.Depth() == 1 && string(tok.Name) == "si":
			if err := put(); err != nil {
				return err
			}
		}
	}
	if text == nil {
		return nil
	}
	if err := text.Flush(); err != nil {
		return spoolError(x.name, err)
	}
	if err := ends.Flush(); err != nil {
		return spoolError(x.name, err)
	}
	return nil
}

// utf16Length counts the UTF-16 units of a text.
func utf16Length(text []byte) int {
	n := 0
	for _, r := range string(text) {
		n += utf16.RuneLen(r)
	}
	return n
}

func spoolError(name string, err error) error {
	return fail.Wrap(fail.Resources, err, "%s: no temporary file for its texts", name).
		WithHint("set TMPDIR to a folder with room for them")
}

// get appends text i to b; false where there is none.
func (s *xlsxStrings) get(b []byte, i int) ([]byte, bool, error) {
	if i < 0 || i >= s.n {
		return b, false, nil
	}
	var at [16]byte
	from := uint64(0)
	if s.textFile == nil {
		if i > 0 {
			from = binary.LittleEndian.Uint64(s.ends[8*(i-1):])
		}
		return append(b, s.text[from:binary.LittleEndian.Uint64(s.ends[8*i:])]...), true, nil
	}
	place, part := int64(8*(i-1)), at[:]
	if i == 0 {
		place, part = 0, at[8:]
	}
	if _, err := s.endsFile.ReadAt(part, place); err != nil {
		return b, false, err
	}
	from = binary.LittleEndian.Uint64(at[:8])
	n := int(binary.LittleEndian.Uint64(at[8:]) - from)
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	if _, err := s.textFile.ReadAt(s.buf[:n], int64(from)); err != nil {
		return b, false, err
	}
	return append(b, s.buf[:n]...), true, nil
}

func (s *xlsxStrings) close() {
	for _, f := range []*os.File{s.textFile, s.endsFile} {
		if f != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}
	s.textFile, s.endsFile, s.n = nil, nil, 0
}

// richText puts the runs of a text together: what is in t, but for phonetic hints.
type richText struct {
	inside   bool // a t
	from     int  // where its text begins
	phonetic int
}

func (r *richText) add(b []byte, tok *xmlstream.Token) []byte {
	switch name := string(tok.Name); {
	case tok.Kind == xmlstream.Text:
		if r.inside && r.phonetic == 0 {
			return append(b, tok.Text...)
		}
	case name == "t":
		if r.inside = tok.Kind == xmlstream.Start; r.inside {
			r.from = len(b)
		} else if r.phonetic == 0 {
			return b[:r.from+len(unescapeX(b[r.from:]))]
		}
	case name == "rPh" && tok.Kind == xmlstream.Start:
		r.phonetic++
	case name == "rPh":
		r.phonetic--
	}
	return b
}

// unescapeX resolves _xHHHH_, which stands for a code unit that XML cannot hold
// (ECMA-376 part 1, §22.9.2.19). A surrogate alone stays as it is written.
func unescapeX(b []byte) []byte {
	unit := func(i int) (rune, bool) {
		if i+7 > len(b) || b[i] != '_' || b[i+1] != 'x' || b[i+6] != '_' {
			return 0, false
		}
		v, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return rune(v), err == nil
	}
	out := b[:0]
	for i := 0; i < len(b); i++ {
		r, ok := unit(i)
		if !ok {
			out = append(out, b[i])
			continue
		}
		if utf16.IsSurrogate(r) {
			low, paired := unit(i + 7)
			full := utf16.DecodeRune(r, low)
			if !paired || full == utf8.RuneError {
				out = append(out, b[i])
				continue
			}
			r = full
			i += 7
		}
		i += 6
		out = utf8.AppendRune(out, r)
	}
	return out
}
