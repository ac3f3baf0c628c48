package testversity

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestVersion: the version that is started is the one that is built.
func TestVersion(t *testing.T) {
	script, err := os.ReadFile("../../scripts/install-versitygw")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), "\nversion="+Version+"\n") {
		t.Errorf("scripts/install-versitygw does not build %s", Version)
	}
}

// TestStart: two servers at the same time, each of which wants its keys.
func TestStart(t *testing.T) {
	a, b := Start(t), Start(t)
	if a.Endpoint == b.Endpoint || a.Dir == b.Dir {
		t.Errorf("%+v %+v", a, b)
	}
	for _, s := range []*Server{a, b} {
		res, err := http.Get(s.Endpoint + "/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("without keys the server answers %s", res.Status)
		}
	}
}
