package rules

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// HTTPS is what an address https://host/folder/name does not say.
type HTTPS struct {
	Web
	Checksum Checksum
	Most     int64 // bytes of the file
}

var httpsShape = &shape{
	name: "https", doc: "What an address https://host/folder/name does not say. The file is read at one ETag or time, resumed by ranges, and compared with the length and the digests that the server states; docs/sources-files.md tells what is refused.",
	keys: append([]key{
		{name: "checksum", doc: "A file beside the file says its SHA-256.", def: "none", value: shapeValue(checksumShape)},
		{name: "max_bytes", doc: "How much the file may have.", def: "1099511627776, 1 TiB", value: intValue(1)},
	}, slices.DeleteFunc(webKeys(), func(k key) bool { return k.name == "hosts" })...), // no answer names an address of the file
}

// httpsAddress checks an address as far as it is known before its dates are filled in.
func (d *decoder) httpsAddress(o *object, s *Source) {
	at := o.at("path")
	text, err := s.Path.fill(probeDate, probeDate)
	if err != nil {
		return // told already
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Hostname() == "", !httpsName(u), strings.ContainsAny(strings.SplitN(string(s.Path), "/", 4)[2], "{}?"):
		d.fail(at, "write https://host/folder/name.csv, or https://host:port/…", "%q is no address of a file", string(s.Path))
	case !s.Literal && strings.ContainsAny(u.Path, "*"):
		d.fail(at, "a server over HTTP lists nothing: name one file, or make a source with `dates` and {file_date}", "%q is a pattern", string(s.Path))
	default:
		d.webURL(at, text, s.Remote.HTTPS.Private)
	}
}

// httpsName tells whether the path of an address ends in a name.
func httpsName(u *url.URL) bool {
	name := path.Base(u.Path)
	return u.Path != "" && !strings.HasSuffix(u.Path, "/") && name != "." && name != ".."
}

func (d *decoder) https(o *object, s *Source) {
	v := &HTTPS{Web: d.web(o), Most: o.integer("max_bytes", filesMost, 1, 1<<50)}
	if s.Remote.HTTPS = v; o != nil {
		v.Checksum = d.checksum(o)
	}
}

func (t *tree) https(s *Source) {
	v := s.Remote.HTTPS
	t.address(s)
	t.sub(FromHTTPS, func(t *tree) {
		t.checksum(v.Checksum)
		t.integer("max_bytes", v.Most)
		t.web(&v.Web)
	})
}
