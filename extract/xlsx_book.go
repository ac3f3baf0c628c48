package extract

import (
	"archive/zip"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

// xlsxBook is an Office Open XML package (ECMA-376, part 2): its parts, and what
// the workbook part says of its sheets.
type xlsxBook struct {
	name     string
	lim      Limits
	parts    map[string]*zip.File // by lower-case name: part names have no case
	from1904 bool
	sheets   []xlsxSheet
	strings  string // part of shared strings, ""
	styles   string
}

type xlsxSheet struct {
	name, part string
	hidden     bool
}

func openBook(file io.ReaderAt, size int64, name string, lim Limits) (*xlsxBook, error) {
	head := make([]byte, 8)
	if n, _ := file.ReadAt(head, 0); n == 8 && string(head) == "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" {
		return nil, badFile(name, "the workbook is encrypted, or of the old form .xls").
			WithHint("save it as .xlsx without a password")
	}
	archive, err := openDirectory(file, size, name)
	if err != nil {
		return nil, err
	}
	b := &xlsxBook{name: name, lim: lim, parts: map[string]*zip.File{}}
	for _, f := range archive.File {
		key := strings.ToLower(strings.TrimPrefix(f.Name, "/"))
		if b.parts[key] != nil {
			return nil, badFile(name, "two parts of the workbook have the name %s", quoteName(f.Name)).
				WithHint("which one counts is not clear: have it sent again")
		}
		b.parts[key] = f
	}
	if err := b.readWorkbook(); err != nil {
		return nil, err
	}
	return b, nil
}

// open gives the content of a part, within the limits. part has no first slash.
func (b *xlsxBook) open(part string) (io.ReadCloser, error) {
	f := b.parts[strings.ToLower(part)]
	if f == nil {
		return nil, badFile(b.name, "the file is no workbook, or not whole: it has no part %s", quoteText(part)).
			WithHint("fetch the file again, or declare what it is by format:")
	}
	if err := checkPacked(f, b.name, b.lim); err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, brokenZip(b.name, err)
	}
	return &packedReader{body: r, name: b.name + "/" + f.Name, lim: b.lim, packed: int64(f.CompressedSize64)}, nil
}

// tokens calls each for every token of a part, and reads it to its end.
func (b *xlsxBook) tokens(part string, each func(path string, tok *xmlstream.Token) error) error {
	r, err := b.open(part)
	if err != nil {
		return err
	}
	defer r.Close()
	x, err := newXMLTokens(r, "", b.name+"/"+part, b.lim)
	if err != nil {
		return err
	}
	var at []string
	for {
		x.Mark()
		tok, err := x.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if tok.Kind == xmlstream.Start {
			at = append(at, string(tok.Name))
		}
		if err := each(strings.Join(at, "/"), tok); err != nil {
			return err
		}
		if tok.Kind == xmlstream.End {
			at = at[:len(at)-1]
		}
	}
}

func attr(tok *xmlstream.Token, name string) string { return string(attrText(tok, name)) }

// attrText is the same, valid until the next token; nil where there is none.
func attrText(tok *xmlstream.Token, name string) []byte {
	for i := range tok.Attrs {
		if string(tok.Attrs[i].Name) == name {
			return tok.Attrs[i].Value
		}
	}
	return nil
}

// wholeNumber reads digits; -1 where there is anything else, or more than 15.
func wholeNumber(text []byte) int {
	if len(text) == 0 || len(text) > 15 {
		return -1
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// relation is where a part refers to.
type relation struct{ kind, target string }

// relations reads those of a part, by id; targets are names of parts.
func (b *xlsxBook) relations(of string) (map[string]relation, error) {
	dir, base := path.Split(of)
	out := map[string]relation{}
	part := dir + "_rels/" + base + ".rels"
	err := b.tokens(part, func(at string, tok *xmlstream.Token) error {
		if tok.Kind != xmlstream.Start || at != "Relationships/Relationship" || attr(tok, "TargetMode") == "External" {
			return nil
		}
		target := attr(tok, "Target")
		if rooted, ok := strings.CutPrefix(target, "/"); ok {
			target = rooted
		} else {
			target = path.Join(dir, target)
		}
		kind := attr(tok, "Type")
		if len(out) >= b.lim.Columns {
			return overLimit(b.name, "relations of a part", int64(b.lim.Columns))
		}
		out[attr(tok, "Id")] = relation{kind: kind[strings.LastIndexByte(kind, '/')+1:], target: target}
		return nil
	})
	return out, err
}

func (b *xlsxBook) readWorkbook() error {
	book := ""
	top, err := b.relations("")
	if err != nil {
		return err
	}
	for _, r := range top {
		if r.kind == "officeDocument" {
			book = r.target
		}
	}
	if book == "" || strings.HasSuffix(strings.ToLower(book), ".bin") {
		return badFile(b.name, "the file is no workbook of the form .xlsx").WithHint("save it as .xlsx")
	}
	parts, err := b.relations(book)
	if err != nil {
		return err
	}
	for _, r := range parts {
		switch r.kind {
		case "sharedStrings":
			b.strings = r.target
		case "styles":
			b.styles = r.target
		}
	}
	return b.tokens(book, func(at string, tok *xmlstream.Token) error {
		if tok.Kind != xmlstream.Start {
			return nil
		}
		switch at {
		case "workbook/workbookPr":
			v := attr(tok, "date1904")
			b.from1904 = v == "1" || v == "true"
		case "workbook/sheets/sheet":
			r := parts[attr(tok, "id")]
			if len(b.sheets) >= b.lim.Columns {
				return overLimit(b.name, "sheets", int64(b.lim.Columns))
			}
			s := xlsxSheet{name: attr(tok, "name"), hidden: attr(tok, "state") != "" && attr(tok, "state") != "visible"}
			if r.kind == "worksheet" {
				s.part = r.target
			}
			b.sheets = append(b.sheets, s)
		}
		return nil
	})
}

// sheet finds the declared sheet, or the only one.
func (b *xlsxBook) sheet(declared string) (*xlsxSheet, error) {
	var names []string
	for _, s := range b.sheets {
		names = append(names, s.name)
	}
	for i := range b.sheets {
		s := &b.sheets[i]
		switch {
		case declared == s.name && s.part == "":
			return nil, badFile(b.name, "the sheet %s has no cells", quoteName(s.name)).WithHint("the sheets are: %s", quoteList(names))
		case declared == s.name:
			return s, nil
		case declared == "" && len(b.sheets) == 1 && s.hidden:
			return nil, badFile(b.name, "the only sheet %s is hidden", quoteName(s.name)).
				WithHint("write xlsx: {sheet: %s}, if it is meant", s.name)
		case declared == "" && len(b.sheets) == 1 && s.part != "":
			return s, nil
		}
	}
	if declared == "" {
		return nil, badFile(b.name, "the workbook has %s: %s", plural(len(b.sheets), "sheet"), quoteList(names)).
			WithHint("declare xlsx: {sheet: …}")
	}
	e := badFile(b.name, "the workbook has no sheet %s", quoteName(declared))
	e.Hint = "the sheets are: " + quoteList(names)
	if s := closest(declared, names); s != "" {
		e.Hint = "did you mean " + quoteName(s) + "? " + e.Hint
	}
	return nil, e
}

// dateStyles reads which cell formats show dates, by their index.
func (b *xlsxBook) dateStyles() ([]dateStyle, error) {
	if b.styles == "" {
		return nil, nil
	}
	own := map[int]dateStyle{}
	var styles []dateStyle
	err := b.tokens(b.styles, func(at string, tok *xmlstream.Token) error {
		if tok.Kind != xmlstream.Start {
			return nil
		}
		if len(own)+len(styles) > 1<<17 {
			return overLimit(b.name, "cell formats", 1<<17)
		}
		switch at {
		case "styleSheet/numFmts/numFmt":
			if id, err := strconv.Atoi(attr(tok, "numFmtId")); err == nil {
				own[id] = styleOf(attr(tok, "formatCode"))
			}
		case "styleSheet/cellXfs/xf":
			id, _ := strconv.Atoi(attr(tok, "numFmtId"))
			style, ok := own[id]
			if !ok {
				style = builtinStyle(id)
			}
			styles = append(styles, style)
		}
		return nil
	})
	return styles, err
}

// checkPacked refuses a member that no reader of data takes.
func checkPacked(f *zip.File, name string, lim Limits) error {
	member := quoteName(f.Name)
	switch {
	case f.Flags&0x1 != 0:
		return badFile(name, "the member %s is encrypted", member).
			WithHint("decrypt the archive first, and keep the password out of the job file")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return badFile(name, "the member %s is compressed by method %d, which is neither stored nor deflated", member, f.Method).
			WithHint("have the archive written with deflate")
	case f.UncompressedSize64 > uint64(lim.ContentBytes):
		return overLimit(name, "bytes of content", lim.ContentBytes)
	case f.UncompressedSize64 > ratioFloor && f.UncompressedSize64/uint64(lim.Ratio) > f.CompressedSize64:
		return overLimit(name, "bytes of content for each compressed byte", lim.Ratio)
	}
	return nil
}

func brokenZip(name string, err error) error {
	if e, ok := errors.AsType[*fail.Error](err); ok {
		return e
	}
	e := fail.Wrap(fail.Input, err, "%s: the file is no whole zip archive: it is cut or corrupt", name)
	return e.WithHint("fetch the file again, and compare its size with the sender's")
}

// packedReader is the content of one member of an archive, within the limits. Its
// length and CRC-32 must fit.
type packedReader struct {
	body   io.ReadCloser
	name   string
	lim    Limits
	packed int64
	read   int64
	err    error
}

func (m *packedReader) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.body.Read(p)
	m.read += int64(n)
	switch {
	case m.read > m.lim.ContentBytes:
		err = overLimit(m.name, "bytes of content", m.lim.ContentBytes)
	case m.read > ratioFloor && m.read/m.lim.Ratio > m.packed:
		err = overLimit(m.name, "bytes of content for each compressed byte", m.lim.Ratio)
	case errors.Is(err, zip.ErrChecksum):
		err = badFile(m.name, "the CRC-32 does not fit the content: the archive is corrupt").WithHint("fetch the file again")
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = cutFile(m.name, "the member ends after %d bytes, before its stated length", m.read)
	case err != nil && err != io.EOF:
		err = fail.Wrap(fail.Input, err, "%s: the member is corrupt", m.name).WithHint("fetch the file again")
	}
	m.err = err
	return n, err
}

func (m *packedReader) Close() error { return m.body.Close() }
