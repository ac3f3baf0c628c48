package sql

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// program is how the session is named in the lists of the server.
const program = "recon-batch"

// target is a database and how it is reached, with the secrets filled in.
type target struct {
	of      *rules.SQL
	name    string         // of the source
	address string         // for people, without secrets
	pg      *pgconn.Config // exactly one of the two
	my      *mysql.Config
	hide    []string // texts that no message may hold
	patient bool     // the run has an end, until which a server is waited for
}

// resolve fills in what the job only refers to. Errors have class Usage, and none quotes
// a connection string.
func resolve(r *fetch.Request) (*target, error) {
	q := r.Source().Remote.SQL
	t := &target{of: q, name: r.Source().Name, patient: !r.Until.IsZero()}
	dsn, err := t.secret(q.DSN, r.BaseDir, "dsn")
	if err != nil {
		return nil, err
	}
	password, err := t.secret(q.Password, r.BaseDir, "password")
	if err != nil {
		return nil, err
	}
	if q.Engine == rules.MySQL {
		err = t.mysql(dsn, password, r.BaseDir)
	} else {
		err = t.postgres(dsn, password, r.BaseDir)
	}
	return t, err
}

// secret resolves a reference and remembers its text, so that it is hidden.
func (t *target) secret(s rules.Secret, base, what string) (string, error) {
	text, err := secret.Text(s, base, "sql."+what)
	if err != nil {
		return "", fail.Wrap(fail.Usage, err, "the source %s", t.name).WithHint("set it, or correct the job file")
	}
	if text != "" {
		t.hide = append(t.hide, text)
	}
	return text, nil
}

func (t *target) badDSN() error {
	form := "postgres://user:password@host:5432/database, or host=… dbname=… user=… password=…"
	if t.of.Engine == rules.MySQL {
		form = "user:password@tcp(host:3306)/database"
	}
	return fail.New(fail.Usage, "the connection string of the source %s cannot be read", t.name).
		WithHint("write it as %s; it is not shown here because it may hold a password", form)
}

// postgres makes the configuration of PostgreSQL.
func (t *target) postgres(dsn, password, base string) error {
	q := t.of
	if dsn == "" {
		port := q.Port
		if port == 0 {
			port = 5432
		}
		quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
		dsn = fmt.Sprintf("host='%s' port=%d dbname='%s' user='%s' sslmode=disable target_session_attrs=any",
			quote.Replace(q.Host), port, quote.Replace(q.Database), quote.Replace(q.User))
		if password != "" {
			dsn += " password='" + quote.Replace(password) + "'"
		}
	}
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return t.badDSN()
	}
	if cfg.Password != "" {
		t.hide = append(t.hide, cfg.Password)
	}
	// What the connection string says of TLS holds where it says something.
	said := !q.DSN.Declared() || strings.Contains(dsn, "sslmode") || strings.Contains(dsn, "ssl=") || os.Getenv("PGSSLMODE") != ""
	if q.TLS != nil || !q.DSN.Declared() || !said {
		if err := t.protectPostgres(cfg, base); err != nil {
			return err
		}
	}
	if cfg.RuntimeParams == nil {
		cfg.RuntimeParams = map[string]string{}
	}
	cfg.RuntimeParams["application_name"] = program
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	// A run that is ended asks the server to stop, and does not wait for long.
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelGrace}
	}
	t.pg = cfg
	host := cfg.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(cfg.Port)))
	}
	t.address = "postgres://" + host + "/" + cfg.Database
	return nil
}

// protectPostgres replaces what the connection string says of TLS.
func (t *target) protectPostgres(cfg *pgconn.Config, base string) error {
	type place struct {
		host string
		port uint16
	}
	seen := map[place]bool{{cfg.Host, cfg.Port}: true}
	var others []*pgconn.FallbackConfig
	for _, f := range cfg.Fallbacks {
		if p := (place{f.Host, f.Port}); !seen[p] {
			seen[p] = true
			c, err := t.protection(f.Host, base)
			if err != nil {
				return err
			}
			others = append(others, &pgconn.FallbackConfig{Host: f.Host, Port: f.Port, TLSConfig: c})
		}
	}
	var err error
	cfg.Fallbacks = others
	cfg.TLSConfig, err = t.protection(cfg.Host, base)
	return err
}

// protection is the TLS of a connection to a host; nil for none.
func (t *target) protection(host, base string) (*tls.Config, error) {
	v := t.of.TLS
	if strings.HasPrefix(host, "/") || v == nil && local(host) || v != nil && v.Off {
		return nil, nil
	}
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if v == nil {
		return c, nil
	}
	if v.CA != "" {
		text, err := os.ReadFile(beside(base, v.CA))
		if err != nil {
			return nil, fail.New(fail.Usage, "the source %s: the file of sql.tls.ca, %s, cannot be read", t.name, v.CA).WithHint("paths are relative to the job file")
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fail.New(fail.Usage, "the source %s: the file of sql.tls.ca, %s, holds no certificate", t.name, v.CA).WithHint("it is a PEM file")
		}
	}
	if v.Certificate != "" {
		cert, err := os.ReadFile(beside(base, v.Certificate))
		if err != nil {
			return nil, fail.New(fail.Usage, "the source %s: the file of sql.tls.certificate, %s, cannot be read", t.name, v.Certificate).WithHint("paths are relative to the job file")
		}
		key, err := t.secret(v.Key, base, "tls.key")
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, []byte(key))
		if err != nil {
			return nil, fail.New(fail.Usage, "the source %s: sql.tls.certificate and sql.tls.key do not fit each other", t.name).WithHint("both are PEM")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func beside(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// local tells whether a host is this machine.
func local(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// mysql makes the configuration of MySQL and MariaDB.
func (t *target) mysql(dsn, password, base string) error {
	q := t.of
	cfg := mysql.NewConfig()
	said := false
	if dsn != "" {
		var err error
		if cfg, err = mysql.ParseDSN(dsn); err != nil {
			return t.badDSN()
		}
		if cfg.Passwd != "" {
			t.hide = append(t.hide, cfg.Passwd)
		}
		said = cfg.TLSConfig != ""
		for name := range cfg.Params {
			return fail.New(fail.Usage, "the connection string of the source %s sets %s", t.name, name).
				WithHint("remove it; the session is set up by the program, see docs/sources-sql.md")
		}
	} else {
		port := q.Port
		if port == 0 {
			port = 3306
		}
		cfg.User, cfg.Passwd, cfg.DBName = q.User, password, q.Database
		cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(q.Host, strconv.FormatInt(port, 10))
		if strings.HasPrefix(q.Host, "/") {
			cfg.Net, cfg.Addr = "unix", q.Host
		}
	}
	host := cfg.Addr
	if cfg.Net == "tcp" {
		h, _, err := net.SplitHostPort(cfg.Addr)
		if err != nil {
			return t.badDSN()
		}
		host = h
	}
	if q.TLS != nil || !said {
		if cfg.Net == "unix" {
			host = "/"
		}
		c, err := t.protection(host, base)
		if err != nil {
			return err
		}
		cfg.TLS, cfg.TLSConfig = c, ""
	}
	cfg.ParseTime, cfg.InterpolateParams, cfg.MultiStatements, cfg.AllowAllFiles = false, false, false, false
	cfg.AllowFallbackToPlaintext, cfg.AllowOldPasswords, cfg.ColumnsWithAlias, cfg.Loc = false, false, false, nil
	cfg.Logger = &mysql.NopLogger{} // it writes to stderr
	cfg.ConnectionAttributes = "program_name:" + program
	t.my = cfg
	t.address = "mysql://" + cfg.Addr + "/" + cfg.DBName
	return nil
}

// clean takes the secrets out of a text.
func (t *target) clean(text string) string {
	for _, s := range t.hide {
		text = strings.ReplaceAll(text, s, "…")
	}
	return text
}

// failed makes an error of a message of a server or library.
func (t *target) failed(c fail.Class, err error, doing string) *fail.Error {
	return fail.Wrap(c, errors.New(t.clean(err.Error())), "the source %s (%s): %s", t.name, t.address, doing)
}
