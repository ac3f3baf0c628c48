package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdServe starts a service that gives what a file of the script holds, and sets the variable
// SERVED to its address:
//
//	serve answers.json
//
// The file is a JSON object: the parameter q of a request → the list of records that it has.
// It is read at each request, so that a script can change it; without the file the service
// answers 503.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve FILE")
	}
	path := ts.MkAbs(args[0])
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(path)
		var known map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(text, &known)
		}
		if err != nil || r.Method != http.MethodGet {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		list, ok := known[r.FormValue("q")]
		if !ok {
			list = json.RawMessage("[]")
		}
		_, _ = io.WriteString(w, `{"data":`+string(list)+`}`) // whoever asked sees what is missing
	}))
	ts.Defer(s.Close)
	ts.Setenv("SERVED", s.URL)
}
