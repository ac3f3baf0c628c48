package rules

import (
	"regexp"
	"slices"
)

// Listing says that the files of a place are themselves the records of a source: their
// names, sizes, times and digests, for effects that are documents.
//
// Its file has the columns of ListingColumns, and those that NamePattern makes of the names.
type Listing struct {
	Place       string // kind of the place: s3, sftp; "" a local folder
	NamePattern string // RE2 with named groups, fitted to the column path; "" no columns of names
	OtherNames  string // reject, or leave_out: what becomes of names that do not fit
	Digest      ListingDigest
	MayBeEmpty  bool // none is no missing source, where the place has no folders
	Parallel    int  // files that are read at once for their digests
	Most        int64
}

// ListingDigest says which digest the records have.
type ListingDigest string

// The digests of listings.
const (
	NoDigest     ListingDigest = "none"
	SHA256Digest ListingDigest = "sha256" // every file is read whole
	ETagDigest   ListingDigest = "etag"   // as the store states it; what it is made of the store decides
)

// What becomes of files whose names do not fit.
const (
	RejectNames   = "reject"
	LeaveOutNames = "leave_out"
)

// Members of a record of a listing that say that it is none, and why.
const (
	ListingUnfit   = "unfit"    // it is a reject
	ListingLeftOut = "left_out" // it is passed over, and counted
)

// ListingColumns are the columns that every listing has.
var ListingColumns = []string{"name", "path", "size", "modified", "version", "digest"}

const (
	listingParallel = 4
	listingMost     = 1 << 40
)

var listingShape = &shape{
	name: "listing", doc: "The files that the path names are the records themselves, each by its name, size, time and digest. docs/sources-listings.md.",
	keys: []key{
		{name: "name_pattern", doc: "RE2 with named groups such as `(?P<operation_id>[A-Z0-9-]+)`, which become columns. It is fitted to the column `path`.", def: "no columns of names", value: schema{"type": "string"}},
		{name: "other_names", doc: "What becomes of a file whose name does not fit `name_pattern`: reject, or leave_out, which is counted and told.", def: "reject", value: enumValue(RejectNames, LeaveOutNames)},
		{name: "digest", doc: "The column `digest`: none, sha256 (every file is read whole), or etag, as the store states it.", def: "none", value: enumValue(NoDigest, SHA256Digest, ETagDigest)},
		{name: "may_be_empty", doc: "No file is no missing source. Of local folders that is known by the folder: one that is there may be empty.", def: "false", value: boolValue()},
		{name: "parallel", doc: "Files that are read at once for `digest: sha256`, 1 to 32.", def: "4", value: intValue(1)},
		{name: "max_bytes", doc: "How much may be read for `digest: sha256`.", def: "1099511627776, 1 TiB", value: intValue(1)},
	},
}

// columnName is a column that a group of a name pattern may make.
var columnName = regexp.MustCompile(namePattern)

// ListingFile is the name of the file that a listing is written into; date is that of a
// source with one for each day.
func ListingFile(date string) string {
	if date == "" {
		return "listing.ndjson"
	}
	return "listing_" + date + ".ndjson"
}

// IsListing tells whether the records of the source are files.
func (s *Source) IsListing() bool { return s.Remote != nil && s.Remote.Kind == FromListing }

// listing reads the key, when it is known from where the source is pulled.
func (d *decoder) listing(o *object, s *Source) {
	c := o.sub("listing", listingShape)
	if c == nil {
		return
	}
	l := &Listing{
		NamePattern: c.text("name_pattern", ""), OtherNames: choice(c, "other_names", RejectNames, RejectNames, LeaveOutNames),
		Digest: choice(c, "digest", NoDigest, NoDigest, SHA256Digest, ETagDigest), MayBeEmpty: c.boolean("may_be_empty", false),
		Parallel: int(c.integer("parallel", listingParallel, 1, 32)), Most: c.integer("max_bytes", listingMost, 1, 1<<50),
	}
	switch r := s.Remote; {
	case r == nil:
		s.Remote = &Remote{}
	case !r.Places():
		o.fail("listing", "name a folder, or objects at s3:// or sftp://, by path", "%s: a source that is pulled by %s has no files to list", c.path, r.Kind)
		return
	default:
		l.Place = r.Kind
	}
	s.Remote.Kind, s.Remote.Listing = FromListing, l
	if l.Digest == ETagDigest && l.Place != FromS3 {
		c.fail("digest", "sha256, or none", "%s: only objects of S3 have an ETag", c.at("digest"))
	}
	// What is said of the listing itself stands in the effective form of a job.
	for name, only := range map[string][]string{"format": {"ndjson"}, "compression": {"auto", "none"}} {
		if o.has(name) && !slices.Contains(only, o.text(name, "")) {
			o.fail(name, "remove it", "%s says how files are read, and these are listed", o.at(name))
		}
	}
	d.listingNames(c, l)
}

// listingNames checks the pattern of the names.
func (d *decoder) listingNames(c *object, l *Listing) {
	if l.NamePattern == "" {
		if c.has("other_names") {
			c.fail("other_names", "add name_pattern, or remove the key", "%s: without name_pattern every name fits", c.at("other_names"))
		}
		return
	}
	re, err := regexp.Compile(l.NamePattern)
	if err != nil {
		c.fail("name_pattern", `RE2, such as '^(?P<operation_id>[A-Z0-9-]+)_v(?P<version>\d+)\.pdf$'`, "%s: %s", c.at("name_pattern"), err)
		return
	}
	seen := slices.Concat(ListingColumns, []string{ListingUnfit, ListingLeftOut})
	for _, name := range re.SubexpNames()[1:] {
		switch {
		case name == "":
		case !columnName.MatchString(name):
			c.fail("name_pattern", "lower-case letters, digits and underscores", "%s: %q cannot be a column", c.at("name_pattern"), name)
		case slices.Contains(seen, name):
			c.fail("name_pattern", "give each group a name of its own", "%s: there is a column %s already", c.at("name_pattern"), name)
		}
		seen = append(seen, name)
	}
}

func (t *tree) listing(s *Source) {
	switch l := s.Remote.Listing; l.Place {
	case FromS3:
		t.s3(s)
	case FromSFTP:
		t.sftp(s)
	default:
		t.address(s)
	}
	t.sub("listing", func(t *tree) {
		l := s.Remote.Listing
		t.text("name_pattern", l.NamePattern)
		if l.NamePattern != "" {
			t.text("other_names", l.OtherNames)
		}
		t.text("digest", string(l.Digest))
		t.boolean("may_be_empty", l.MayBeEmpty)
		t.integer("parallel", int64(l.Parallel))
		t.integer("max_bytes", l.Most)
	})
}
