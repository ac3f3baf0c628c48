package report

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
)

// Schema is the JSON Schema of report.json.
//
//go:embed schema.json
var Schema []byte

// writeJSON writes the summary as it is.
func writeJSON(_ context.Context, d *Delivery) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(d.Summary); err != nil {
		return err
	}
	return d.write("report.json", b.Bytes())
}
