package rules

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// SQL is a query of a database, whose rows are the records.
type SQL struct {
	Engine      string // Postgres or MySQL
	DSN         Secret // a whole connection string; else Host and what follows it
	Host        string // name, address, or an absolute path of a socket (PostgreSQL: of its folder)
	Port        int64  // 0: that of the engine
	Database    string
	User        string
	Password    Secret
	TLS         *SQLTLS // nil: the DSN says it; where it does not: verified, but on this machine
	Query       string  // as written, of query or query_file
	Text        SQLText // the query, cut at its parameters
	Parameters  map[string]Template
	Timeout     time.Duration
	LockTimeout time.Duration
	Keyset      *Keyset
	Name        Template // of the file, without its ending
}

// SQLTLS says how the connection is protected.
type SQLTLS struct {
	Off         bool
	CA          string // file of the authorities, relative to the job file; "" those of the system
	Certificate string // file of the client certificate; "" none
	Key         Secret
}

// Keyset reads a query in slices by a key, so that a pull that was cut short goes on
// behind the last row of the slice before.
type Keyset struct {
	Columns   []string // of the result; together unique, never null
	Rows      int64    // of a slice
	Immutable bool     // rows never change and never go away: slices of two snapshots make one result
}

// Parameters of a query that the run fills in.
const (
	ParamBusinessDate = "business_date"
	ParamFileDate     = "file_date"
	ParamFrom         = "from"
	ParamUntil        = "until"
)

var sqlParams = []string{ParamBusinessDate, ParamFileDate, ParamFrom, ParamUntil}

const (
	sqlTimeout = 30 * time.Minute
	sqlLock    = 10 * time.Second
	sqlSlice   = 100_000
	// SQLEnding is that of the file that a query is written to.
	SQLEnding = ".ndjson.zst"
)

var sqlTLSShape = &shape{
	name: "sql_tls", doc: "How the connection to a database is protected.",
	keys: []key{
		{name: "mode", doc: "verify: TLS, the certificate is checked against the authorities and the host; off: none.", def: "verify", value: enumValue("verify", "off")},
		{name: "ca", doc: "PEM file of the authorities, relative to the job file.", def: "those of the system", value: schema{"type": "string"}},
		{name: "certificate", doc: "PEM file of the client certificate, relative to the job file.", def: "none", value: schema{"type": "string"}},
		{name: "key", doc: "Where the PEM text of its key is.", value: shapeValue(secretShape)},
	},
}

var keysetShape = &shape{
	name: "keyset", doc: "Reads a query in slices by a key of its rows. A pull that was cut short goes on behind the last slice, as long as it is the same snapshot of the database, or the rows are immutable.",
	keys: []key{
		{name: "columns", doc: "Columns of the result, in order; together unique, never null. A pull sees both, and refuses the rows.", required: true, value: listValue(textValue())},
		{name: "rows", doc: "Rows of a slice.", def: "100000", value: intValue(1)},
		{name: "immutable", doc: "Rows of the result never change and never go away, as those of a ledger: slices of two snapshots may be put together.", def: "false", value: boolValue()},
	},
}

var sqlShape = &shape{
	name: "sql", doc: "A query of PostgreSQL, MySQL or MariaDB, whose rows are the records. The queries of a side that ask one database see one snapshot of it; the session is read-only.",
	keys: []key{
		{name: "engine", doc: "postgres; mysql: MySQL or MariaDB.", required: true, value: enumValue(Postgres, MySQL)},
		{name: "dsn", doc: "Where a whole connection string is; in place of host, port, database, user, password.", value: shapeValue(secretShape)},
		{name: "host", doc: "Name or address of the server; an absolute path: its socket (PostgreSQL: the folder of it).", value: schema{"type": "string"}},
		{name: "port", doc: "Its port.", def: "5432; mysql: 3306", value: intValue(1)},
		{name: "database", doc: "Name of the database.", value: textValue()},
		{name: "user", doc: "Who reads it: a role that may only read.", value: textValue()},
		{name: "password", doc: "Where its password is.", def: "none", value: shapeValue(secretShape)},
		{name: "tls", doc: "How the connection is protected.", def: "what the dsn says; else verify, on this machine off", value: shapeValue(sqlTLSShape)},
		{name: "query", doc: "One SELECT. Its parameters are :business_date, :file_date, :from, :until (the declared coverage) and those of `parameters`; they are bound, never put into the text.", value: schema{"type": "string"}},
		{name: "query_file", doc: "File with the query, relative to the job file; in place of query.", value: schema{"type": "string"}},
		{name: "parameters", doc: "Parameters of your own: name → text, with {date} and {file_date}. A cast in the query says of which type the text is: :account::bigint.", def: "none", value: mapValue(textValue())},
		{name: "timeout", doc: "How long the query may take, until its last row is here.", def: "30m", value: durationValue()},
		{name: "lock_timeout", doc: "How long the query may wait for a lock.", def: "10s", value: durationValue()},
		{name: "keyset", doc: "Reads it in slices that resume.", def: "in one go", value: shapeValue(keysetShape)},
		{name: "name", doc: "Name of the file in outputs, to which " + SQLEnding + " is added.", def: "rows", value: schema{"type": "string"}},
	},
}

func (d *decoder) sql(o *object, s *Source) *SQL {
	q := &SQL{
		Engine: choice(o, "engine", "", Postgres, MySQL), DSN: d.secret(o, "dsn"), Host: o.text("host", ""), Port: o.integer("port", 0, 1, 65535),
		Database: o.text("database", ""), User: o.text("user", ""), Password: d.secret(o, "password"), Parameters: map[string]Template{},
		Timeout: o.duration("timeout", sqlTimeout), LockTimeout: o.duration("lock_timeout", sqlLock), Name: Template(o.text("name", "rows")),
	}
	s.Path = q.Name + SQLEnding
	if d.template(q.Name, o.at("name"), s.Dates != nil) && (strings.ContainsAny(string(q.Name), "/\\") || strings.HasPrefix(string(q.Name), ".")) {
		o.fail("name", "a name without slashes that does not begin with a dot, such as charges", "%s: %q is not the name of a file", o.at("name"), string(q.Name))
	}
	d.sqlPlace(o, q)
	for _, name := range []string{"timeout", "lock_timeout"} {
		if v := o.duration(name, time.Second); v < time.Millisecond {
			o.fail(name, "a time such as 10m", "%s leaves no time", o.at(name))
		}
	}
	if n := o.node("parameters"); n != nil {
		d.free(n, o.at("parameters"), func(name string, k, v *yaml.Node, path string) {
			switch {
			case slices.Contains(sqlParams, name):
				d.failAt(at(k), path, "give it another name", "%s: the run fills in :%s itself", path, name)
			case !paramName(name):
				d.failAt(at(k), path, "letters, digits and underscores, not a digit first", "%s: %q is no name of a parameter", path, name)
			default:
				if text, ok := d.scalar(v, path); ok && d.template(Template(text), path, s.Dates != nil) {
					q.Parameters[name] = Template(text)
				}
			}
		})
	}
	d.sqlQuery(o, q)
	if k := o.sub("keyset", keysetShape); k != nil {
		q.Keyset = &Keyset{Columns: k.texts("columns"), Rows: k.integer("rows", sqlSlice, 1, 100_000_000), Immutable: k.boolean("immutable", false)}
	}
	return q
}

func paramName(s string) bool {
	return s != "" && nameStart(s[0]) && !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) })
}

// sqlPlace checks by which keys the database is named.
func (d *decoder) sqlPlace(o *object, q *SQL) {
	parts := []string{"host", "port", "database", "user", "password"}
	if o.has("dsn") {
		for _, name := range parts {
			if o.has(name) {
				o.fail(name, "keep one of the two", "%s: the dsn says it too", o.at(name))
			}
		}
	} else {
		for _, name := range []string{"host", "database", "user"} {
			if !o.has(name) {
				d.fail(o.path, "add `"+name+": …`, or a whole connection string: `dsn: {env: NAME}`", "%s names no %s", o.path, name)
			}
		}
	}
	t := o.sub("tls", sqlTLSShape)
	if t == nil {
		return
	}
	q.TLS = &SQLTLS{
		Off: choice(t, "mode", "verify", "verify", "off") == "off", CA: t.text("ca", ""), Certificate: t.text("certificate", ""), Key: d.secret(t, "key"),
	}
	if t.has("certificate") != t.has("key") {
		d.fail(t.path, "add the other, or remove it", "%s: a client certificate and its key come together", t.path)
	}
	for _, name := range []string{"ca", "certificate", "key"} {
		if q.TLS.Off && t.has(name) {
			t.fail(name, "remove it, or `mode: off`", "%s: without TLS it means nothing", t.at(name))
		}
	}
}

// sqlQuery reads the query and checks its parameters, but for those that the coverage
// of the source fills in: see checkSQL.
func (d *decoder) sqlQuery(o *object, q *SQL) {
	where := "query"
	switch file := o.node("query_file"); {
	case o.has("query") && file != nil:
		o.fail("query_file", "keep one of the two", "%s: the query is written twice", o.at("query_file"))
		return
	case file != nil:
		where = "query_file"
		name := o.text(where, "")
		if name == "" {
			return
		}
		f, ok := d.beside(name, file, o.at(where))
		if !ok {
			return
		}
		q.Query = strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(string(f.text), "\ufeff"), "\r\n", "\n"))
		if !utf8.ValidString(q.Query) || strings.ContainsRune(q.Query, 0) {
			o.fail(where, "save the file as UTF-8", "%s: the query is not UTF-8, or holds a NUL character", o.at(where))
			return
		}
		// The effective form writes the query out.
		d.given[o.at("query")] = at(file)
	case !o.has("query"):
		d.fail(o.path, "add `query: SELECT …`, or `query_file: charges.sql`", "%s has no query", o.path)
		return
	default:
		q.Query = strings.TrimSpace(o.text(where, ""))
		if q.Query == "" {
			return
		}
	}
	text, err := parseSQL(q.Engine, q.Query)
	if err != nil {
		o.fail(where, err.hint, "%s: %s", o.at(where), err.msg)
		return
	}
	q.Text = text
	known := slices.Concat(sqlParams, sortedKeys(q.Parameters))
	for _, name := range text.Names() {
		if slices.Contains(known, name) {
			continue
		}
		hint := didYouMean(name, known)
		if !strings.HasPrefix(hint, "did you") {
			hint = "known: " + strings.Join(known, ", ") + "; in a slice of an array write a blank behind the colon"
		}
		o.fail(where, hint, "%s: there is no parameter :%s", o.at(where), name)
	}
	for _, name := range sortedKeys(q.Parameters) {
		if !text.Uses(name) {
			p := join(o.at("parameters"), name)
			d.fail(p, "remove it, or use it as :"+name, "%s: the query does not use it", p)
		}
	}
}

// checkSQL checks what a query needs of the rest of its source.
func (d *decoder) checkSQL(src *Source, path string) {
	if src.Remote == nil || src.Remote.SQL == nil {
		return
	}
	q := src.Remote.SQL
	p := join(path, FromSQL)
	where := join(p, "query")
	if _, ok := d.places[where]; !ok {
		where = join(p, "query_file")
	}
	for _, name := range []string{ParamFrom, ParamUntil} {
		if q.Text.Uses(name) && (src.Coverage.From == "" || src.Coverage.Until == "") && !d.faulty(join(path, "coverage")) {
			d.fail(where, "declare `coverage: {from: …, until: …}`", "%s: :%s is the time that the source covers, and it declares none", where, name)
		}
	}
	if q.Text.Uses(ParamFileDate) && src.Dates == nil {
		d.fail(where, "add `dates: {from: …, until: …}` to the source, or use :business_date", "%s: :file_date is known only in a source with `dates`", where)
	}
	if src.Format != FormatNDJSON {
		d.fail(join(path, "format"), "remove it", "the rows of a query are written as NDJSON, not %s", src.Format)
	}
	if src.Compression != CompressionAuto && src.Compression != CompressionZstd {
		d.fail(join(path, "compression"), "remove it", "the rows of a query are compressed by zstd, not %s", src.Compression)
	}
}

func (t *tree) sql(q *SQL) {
	t.sub(FromSQL, func(t *tree) {
		t.text("engine", q.Engine)
		t.secret("dsn", q.DSN)
		t.text("host", q.Host)
		t.positive("port", q.Port)
		t.text("database", q.Database)
		t.text("user", q.User)
		t.secret("password", q.Password)
		if v := q.TLS; v != nil {
			t.sub("tls", func(t *tree) {
				mode := "verify"
				if v.Off {
					mode = "off"
				}
				t.text("mode", mode)
				t.text("ca", v.CA)
				t.text("certificate", v.Certificate)
				t.secret("key", v.Key)
			})
		}
		t.text("query", q.Query)
		if len(q.Parameters) > 0 {
			t.sub("parameters", func(t *tree) {
				for _, name := range sortedKeys(q.Parameters) {
					t.text(name, string(q.Parameters[name]))
				}
			})
		}
		t.duration("timeout", q.Timeout)
		t.duration("lock_timeout", q.LockTimeout)
		if k := q.Keyset; k != nil {
			t.sub("keyset", func(t *tree) {
				t.texts("columns", k.Columns)
				t.integer("rows", k.Rows)
				t.boolean("immutable", k.Immutable)
			})
		}
		t.text("name", string(q.Name))
	})
}
