package rules

import (
	"regexp"
	"slices"
	"strings"
)

// Remote says from where a source is pulled. Exactly one of the kinds is set.
//
// Source.Path of a kind that is named by its key alone (exec) is the name that its
// files get, the ending of which says their format as that of a path does.
type Remote struct {
	Kind  string // exec, s3, sftp, https, sql, api, lookup
	Exec  *Exec
	S3    *S3
	SFTP  *SFTP
	HTTPS *HTTPS
	SQL   *SQL
	API   *API

	Lookup *Lookup

	Listing *Listing // with one of s3 and sftp, or of local files
}

// Addressed tells whether the kind is named by the path of the source, an address.
func (r *Remote) Addressed() bool {
	if r.Kind == FromListing {
		return true
	}
	i := slices.IndexFunc(remoteKeys, func(k remoteKey) bool { return k.name == r.Kind })
	return remoteKeys[i].scheme != ""
}

// Places tells whether the sources of the kind are places with files, which can be looked
// at before they are pulled (fetch.Storer).
func (r *Remote) Places() bool {
	return slices.ContainsFunc(remoteKeys, func(k remoteKey) bool { return k.name == r.Kind && k.files })
}

// Kinds of remote sources.
const (
	FromExec  = "exec"
	FromS3    = "s3"
	FromSFTP  = "sftp"
	FromHTTPS = "https"
	FromSQL   = "sql"
	FromAPI   = "api"

	FromLookup = "lookup"

	FromListing = "listing"
)

// remoteKeys are the kinds, in the order of the reference.
var remoteKeys = []remoteKey{
	{name: FromExec, shape: execShape, read: func(d *decoder, o *object, s *Source) { s.Remote.Exec = d.exec(o, s) }},
	{name: FromS3, shape: s3Shape, scheme: "s3", files: true, address: (*decoder).s3Address, read: (*decoder).s3},
	{name: FromSFTP, shape: sftpShape, scheme: "sftp", files: true, address: (*decoder).sftpAddress, read: (*decoder).sftp},
	{name: FromHTTPS, shape: httpsShape, scheme: "https", plain: "http", address: (*decoder).httpsAddress, read: (*decoder).https},
	{name: FromSQL, shape: sqlShape, read: func(d *decoder, o *object, s *Source) { s.Remote.SQL = d.sql(o, s) }},
	{name: FromAPI, shape: apiShape, read: func(d *decoder, o *object, s *Source) { s.Remote.API = d.api(o, s) }},
	{name: FromLookup, shape: lookupShape, read: func(d *decoder, o *object, s *Source) { s.Remote.Lookup = d.lookup(o, s) }},
}

// remoteKey is one kind of remote source.
type remoteKey struct {
	name   string
	shape  *shape
	scheme string                           // the kind is meant by a path that begins so, and then the key may be left out; "" by its key alone
	plain  string                           // another beginning of its paths
	files  bool                             // its sources are places with files that can be looked at before they are pulled
	read   func(*decoder, *object, *Source) // the object is nil where the key is left out

	address func(d *decoder, o *object, s *Source) // checks the path of the source o, of kinds with a scheme; may be nil
}

// means tells whether a path that begins with a scheme is one of the kind.
func (k *remoteKey) means(scheme string) bool {
	return k.scheme != "" && (k.scheme == scheme || k.plain != "" && k.plain == scheme)
}

// remoteSourceKeys are the keys of a source that say from where it is pulled.
func remoteSourceKeys() []key {
	var out []key
	for _, k := range remoteKeys {
		out = append(out, key{name: k.name, doc: k.shape.doc, value: shapeValue(k.shape)})
	}
	return out
}

// addressSchemes begin addresses of places other than local files. A colon alone is part of a
// file name.
var addressSchemes = regexp.MustCompile(`^(s3|gs|az|abfss?|https?|ftps?|sftp|file|postgres(?:ql)?|mysql|mariadb|jdbc):`)

// remote reads from where a source is pulled. It is called when the path is known.
func (d *decoder) remote(o *object, s *Source) {
	scheme := ""
	if m := addressSchemes.FindStringSubmatch(string(s.Path)); m != nil && (!s.Literal || keyOfScheme(o, m[1])) {
		scheme = m[1]
	}
	var of *remoteKey
	for i := range remoteKeys {
		k := &remoteKeys[i]
		switch {
		case !o.has(k.name) && !k.means(scheme):
		case of != nil:
			o.fail(k.name, "a source comes from one place; make two sources of them", "%s is pulled from two places, %s and %s", o.path, of.name, k.name)
			return
		default:
			of = k
		}
	}
	switch {
	case of == nil && scheme != "":
		d.fail(o.at("path"), remoteHint(scheme), "sources at %s: are not in this release", scheme)
		return
	case of == nil:
		return
	case of.scheme == "" && o.has("path"):
		o.fail("path", "remove it; the files are named by the program", "a source that is pulled by %s has no path", of.name)
		return
	case of.scheme != "" && !of.means(scheme):
		o.fail("path", "write "+of.scheme+"://… as its path", "a source that is pulled by %s names its place in the path", of.name)
		return
	}
	s.Remote = &Remote{Kind: of.name}
	if c := o.sub(of.name, of.shape); c != nil || of.scheme != "" {
		of.read(d, c, s)
	}
	if of.address != nil {
		of.address(d, o, s)
	}
}

// keyOfScheme tells whether the source has the key of the kind that a scheme means. An exact
// path is an address only then: a colon is part of the name of a file.
func keyOfScheme(o *object, scheme string) bool {
	return slices.ContainsFunc(remoteKeys, func(k remoteKey) bool { return k.means(scheme) && o.has(k.name) })
}

// remoteHint says what to do with an address of a kind that there is none of.
func remoteHint(scheme string) string {
	switch {
	case strings.HasPrefix(scheme, "postgres"), scheme == "mysql", scheme == "mariadb", scheme == "jdbc":
		if slices.ContainsFunc(remoteKeys, func(k remoteKey) bool { return k.name == "sql" }) {
			return "declare `sql: {…}` in its place"
		}
	case scheme == "file":
		return "write the path alone"
	}
	return "copy the files to a folder and name them by their path, or let a program give them: `exec: {command: […]}`"
}

// remote writes from where a source is pulled.
func (t *tree) remote(s *Source) {
	switch r := s.Remote; r.Kind {
	case FromExec:
		t.exec(r.Exec)
	case FromS3:
		t.s3(s)
	case FromSFTP:
		t.sftp(s)
	case FromHTTPS:
		t.https(s)
	case FromSQL:
		t.sql(r.SQL)
	case FromAPI:
		t.api(r.API)
	case FromLookup:
		t.lookup(r.Lookup)
	case FromListing:
		t.listing(s)
	}
}
