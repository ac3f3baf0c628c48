package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/recon-batch/recon-batch/rules"
)

// boardFile is a file of evidence.
type boardFile struct {
	Source  string `json:"source"`
	Name    string `json:"name"`
	Account string `json:"account"`
	SHA256  string `json:"sha256"`
}

// boardField is a product field with the columns of both sides; "" none.
type boardField struct {
	Name       string `json:"name"`
	Operations string `json:"operations"`
	Results    string `json:"results"`
}

// boardHead is what the page knows of the board beside its rows.
type boardHead struct {
	Rows      int                    `json:"rows"`
	Of        int64                  `json:"of"`
	Explain   string                 `json:"explain"`    // command that explains a row, without the id
	ExplainBy []string               `json:"explain_by"` // fields whose value is an id that it takes
	Classes   []string               `json:"classes"`    // in the order of every output
	Queues    []string               `json:"queues"`
	Buckets   []string               `json:"buckets"`
	Files     map[string][]boardFile `json:"files"` // by side, in the order of the file numbers
	Fields    []boardField           `json:"fields"`
}

// encode renders the rows as JSON that may stand in a page: no byte of it can end the
// element, since <, >, & and the line separators are escaped. A column is
//
//	{"n": [1, null]}                          whole numbers
//	{"d": ["a", "b"], "i": [0, 1, -1, -2]}    texts, where many rows have the same; -1: none, -2: as the operation
//	{"v": ["a", null, 0]}                     texts, where few have; 0: as the operation
//
// The rows are in the order of the files, which is the smallest; place is where each one
// belongs. A large one is {"deflate": "…"}: the same, compressed (RFC 1951), in base64.
func (t *boardRowset) encode(of int64) (string, error) {
	head := boardHead{Rows: t.rows, Of: of, Explain: t.in.Explain, ExplainBy: []string{}, Classes: classOrder, Queues: queueOrder,
		Files: map[string][]boardFile{}, Fields: []boardField{}}
	if head.Explain == "" {
		head.Explain = "recon-batch explain"
	}
	for _, b := range ageBuckets {
		head.Buckets = append(head.Buckets, b.name)
	}
	for _, f := range []string{"operation_id", "remote_id"} {
		if !t.red.redacted(f) {
			head.ExplainBy = append(head.ExplainBy, f)
		}
	}
	for _, side := range rules.Sides {
		head.Files[string(side)] = t.files(side)
	}
	for _, p := range t.pairs {
		f := boardField{Name: shown(p.name)}
		if x := t.field[p.name][0]; x != nil {
			f.Operations = x.name
		}
		if x := t.field[p.name][1]; x != nil {
			f.Results = x.name
		}
		head.Fields = append(head.Fields, f)
	}
	b, err := json.Marshal(head)
	if err != nil {
		return "", err
	}
	b = append(b[:len(b)-1], `,"columns":{`...)
	for i, x := range t.numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, strconv.Quote(x.name)...), `:{"n":[`...)
		for j, n := range x.values {
			if j > 0 {
				b = append(b, ',')
			}
			if x.null[j] {
				b = append(b, "null"...)
			} else {
				b = strconv.AppendInt(b, n, 10)
			}
		}
		b = append(b, "]}"...)
	}
	for i, x := range t.texts {
		if i > 0 || len(t.numbers) > 0 {
			b = append(b, ',')
		}
		if b, err = x.append(b); err != nil {
			return "", err
		}
	}
	b = append(b, "}}"...)
	if len(b) <= boardLimits.plain {
		return string(b), nil
	}
	return deflated(b)
}

// append adds the column to an object.
func (x *boardText) append(b []byte) ([]byte, error) {
	name, err := json.Marshal(x.name)
	if err != nil {
		return nil, err
	}
	b = append(append(b, name...), ':')
	if 2*len(x.list) <= len(x.index) {
		list, err := json.Marshal(append([]string{}, x.list...))
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, `{"d":`...), list...), `,"i":[`...)
		for j, i := range x.index {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(i), 10)
		}
		return append(b, "]}"...), nil
	}
	b = append(b, `{"v":[`...)
	for j, i := range x.index {
		if j > 0 {
			b = append(b, ',')
		}
		switch i {
		case noText:
			b = append(b, "null"...)
		case sameText:
			b = append(b, '0')
		default:
			text, err := json.Marshal(x.list[i])
			if err != nil {
				return nil, err
			}
			b = append(b, text...)
		}
	}
	return append(b, "]}"...), nil
}

// files lists the files of a side by their number.
func (t *boardRowset) files(side rules.Side) []boardFile {
	names, of := t.in.accounts(side)
	out := []boardFile{}
	for _, f := range t.in.relation(side).Files {
		for len(out) <= f.No {
			out = append(out, boardFile{})
		}
		out[f.No] = boardFile{Source: shown(f.Source), Name: shown(f.Name), Account: shown(names[of[f.No]]), SHA256: f.SHA256}
	}
	return out
}

func deflated(data []byte) (string, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return `{"deflate":"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"}`, nil
}
