package rules

import (
	"encoding/base64"
	"encoding/binary"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SFTP is what an address sftp://host/folder/name does not say.
type SFTP struct {
	User         string
	PrivateKey   Secret // in the form of OpenSSH or PEM
	Passphrase   Secret // of the private key
	Password     Secret
	HostKeys     []string // SHA256:… or "type base64", as in a file of public keys
	KnownHosts   string   // file in the form of OpenSSH, relative to the job file
	Checksum     Checksum
	AllowPrivate bool
	Parallel     int           // files at once
	Most         int64         // bytes of all files of one pull
	Timeout      time.Duration // in which nothing comes
}

// Checksum is a file beside each file that says its SHA-256.
type Checksum struct {
	Suffix string // of its name; "" none is asked for
}

// Defaults of sftp and https.
const (
	sftpParallel = 4
	sftpTimeout  = 30 * time.Second
	filesMost    = 1 << 40
)

var sftpShape = &shape{
	name: "sftp", doc: "What an address sftp://host/folder/name does not say. The server proves itself by a host key that the job names; sizes and times are compared before and after, and nothing is ever written or deleted; docs/sources-files.md tells what is refused.",
	keys: []key{
		{name: "user", doc: "The user.", required: true, value: textValue()},
		{name: "private_key", doc: "Where the private key is, in the form of OpenSSH or PEM: Ed25519, ECDSA or RSA.", def: "none", value: shapeValue(secretShape)},
		{name: "passphrase", doc: "Where the passphrase of the private key is.", def: "none", value: shapeValue(secretShape)},
		{name: "password", doc: "Where the password is. It is also the answer where a server asks for one at a keyboard.", def: "none", value: shapeValue(secretShape)},
		{name: "host_keys", doc: "Keys of the server, at least one of which it has to prove: fingerprints as `ssh-keygen -lf` gives them (SHA256:…), or lines of its public keys (ssh-ed25519 AAAA…). Ask its owner; what a first connection shows proves nothing.", def: "those of known_hosts", value: listValue(textValue())},
		{name: "known_hosts", doc: "File with keys of the server in the form of OpenSSH, relative to the job file.", def: "none", value: shapeValue(knownHostsShape)},
		{name: "checksum", doc: "A file beside each file says its SHA-256.", def: "none", value: shapeValue(checksumShape)},
		{name: "allow_private", doc: "Addresses of private networks, and this machine where the path names it, may be dialled.", def: "false", value: boolValue()},
		{name: "parallel", doc: "Files at once, 1 to 16.", def: "4", value: intValue(1)},
		{name: "max_bytes", doc: "How much one pull may bring.", def: "1099511627776, 1 TiB", value: intValue(1)},
		{name: "timeout", doc: "How long nothing may come.", def: "30s", value: durationValue()},
	},
}

var knownHostsShape = &shape{
	name: "known_hosts", doc: "Where the keys of servers are.",
	keys: []key{
		{name: "file", doc: "File, relative to the job file.", required: true, value: textValue()},
	},
}

var checksumShape = &shape{
	name: "checksum", doc: "A file beside each file that says its SHA-256, as sha256sum writes it. One that is missing, or does not fit, refuses the pull.",
	keys: []key{
		{name: "suffix", doc: "What its name has more than that of the file.", required: true, value: patternValue(suffixPattern)},
	},
}

const suffixPattern = `^[.][A-Za-z0-9._-]{1,31}$`

var (
	sftpHost        = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)
	sftpFingerprint = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)
	sftpKeyTypes    = []string{"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"}
)

// SplitSFTP cuts an address sftp://host[:port]/path. The path may be a pattern in its last
// part; it is taken as it stands, nothing of it is decoded. /~/ at its beginning is the
// folder that the server logs the user into, and the path is then a relative one.
func SplitSFTP(address string) (host, port, file string, ok bool) {
	rest, is := strings.CutPrefix(address, "sftp://")
	at, file, slash := strings.Cut(rest, "/")
	if !is || !slash || !sftpHost.MatchString(at) {
		return "", "", "", false
	}
	host, port = at, "22"
	if i := strings.LastIndexByte(at, ':'); i > strings.LastIndexByte(at, ']') {
		host, port = at[:i], at[i+1:]
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", "", "", false
	}
	full := "/" + file
	if rest, home := strings.CutPrefix(full, "/~/"); home {
		full = rest
	}
	if full == "" || strings.HasSuffix(full, "/") || path.Clean(full) != full || full == "." || full == ".." || strings.HasPrefix(full, "../") {
		return "", "", "", false
	}
	return strings.Trim(host, "[]"), port, full, true
}

// sftpAddress checks an address as far as it is known before its dates are filled in.
func (d *decoder) sftpAddress(o *object, s *Source) {
	at := o.at("path")
	if !o.has(FromSFTP) {
		d.fail(at, "add `sftp: {user: …, private_key: {file: …}, host_keys: [\"SHA256:…\"]}`", "nothing says as whom the server is asked, and how it is known")
	}
	text, err := s.Path.fill(probeDate, probeDate)
	if err != nil {
		return // told already
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(text, "sftp://"), "/")
	_, _, file, ok := SplitSFTP(text)
	switch folder, name := path.Split(file); {
	case strings.Contains(host, "@"):
		d.fail(at, "write the user as `sftp: {user: …}`, and nothing secret into the path", "the address holds a user")
	case !ok:
		d.fail(at, "write sftp://host/folder/name.csv, or sftp://host:port/…; /~/ begins in the folder of the user", "%q is no address of files", string(s.Path))
	case s.Literal:
	case strings.ContainsAny(folder, `*?[\`):
		d.fail(at, "name one folder; only the name of the file may be a pattern", "the folder %q is a pattern", folder)
	default:
		if _, err := path.Match(name, ""); err != nil {
			d.fail(at, "write path: {exact: …} for a name that holds a bracket", "%q is no pattern", name)
		}
	}
}

func (d *decoder) sftp(o *object, s *Source) {
	v := &SFTP{Parallel: sftpParallel, Most: filesMost, Timeout: sftpTimeout}
	s.Remote.SFTP = v
	if o == nil {
		return
	}
	v.User = o.text("user", "")
	v.PrivateKey, v.Passphrase, v.Password = d.secret(o, "private_key"), d.secret(o, "passphrase"), d.secret(o, "password")
	v.HostKeys = o.texts("host_keys")
	if c := o.sub("known_hosts", knownHostsShape); c != nil {
		v.KnownHosts = c.text("file", "")
	}
	v.Checksum = d.checksum(o)
	v.AllowPrivate = o.boolean("allow_private", false)
	v.Parallel = int(o.integer("parallel", sftpParallel, 1, 16))
	v.Most = o.integer("max_bytes", filesMost, 1, 1<<50)
	if v.Timeout = o.duration("timeout", sftpTimeout); v.Timeout < time.Second {
		o.fail("timeout", "a time such as 30s", "%s leaves no time", o.at("timeout"))
	}
	switch {
	case !o.has("private_key") && !o.has("password"):
		d.fail(o.path, "add `private_key: {file: …}` or `password: {env: …}`", "%s does not say how the user proves who it is", o.path)
	case o.has("passphrase") && !o.has("private_key"):
		o.fail("passphrase", "add `private_key`, or remove it", "%s has a passphrase and no private key", o.path)
	}
	if !o.has("host_keys") && !o.has("known_hosts") {
		d.fail(o.path, "add `host_keys: [\"SHA256:…\"]` with what the owner of the server says, or `known_hosts: {file: …}`", "%s does not say how the server is known", o.path)
	}
	for _, k := range v.HostKeys {
		if !hostKey(k) {
			o.fail("host_keys", "SHA256: and 43 characters as `ssh-keygen -lf` gives them, or a type ("+strings.Join(sftpKeyTypes, ", ")+") and a key", "%s: %q is no key of a server", o.at("host_keys"), k)
		}
	}
}

// hostKey tells whether a text is a fingerprint, or a public key that is what its type says.
func hostKey(text string) bool {
	if sftpFingerprint.MatchString(text) {
		return true
	}
	f := strings.Fields(text)
	if len(f) < 2 || !slices.Contains(sftpKeyTypes, f[0]) {
		return false
	}
	b, err := base64.StdEncoding.DecodeString(f[1])
	return err == nil && len(b) > 4+len(f[0]) && int(binary.BigEndian.Uint32(b)) == len(f[0]) && string(b[4:4+len(f[0])]) == f[0]
}

// checksum reads where the checksums of files are.
func (d *decoder) checksum(o *object) Checksum {
	c := o.sub("checksum", checksumShape)
	if c == nil {
		return Checksum{}
	}
	return Checksum{Suffix: d.matching(c, "suffix", suffixPattern, "a point and letters, such as .sha256")}
}

func (t *tree) sftp(s *Source) {
	v := s.Remote.SFTP
	t.address(s)
	t.sub(FromSFTP, func(t *tree) {
		t.text("user", v.User)
		t.secret("private_key", v.PrivateKey)
		t.secret("passphrase", v.Passphrase)
		t.secret("password", v.Password)
		t.texts("host_keys", v.HostKeys)
		if v.KnownHosts != "" {
			t.sub("known_hosts", func(t *tree) { t.text("file", v.KnownHosts) })
		}
		t.checksum(v.Checksum)
		t.boolean("allow_private", v.AllowPrivate)
		t.integer("parallel", int64(v.Parallel))
		t.integer("max_bytes", v.Most)
		t.duration("timeout", v.Timeout)
	})
}

// address writes the path of a kind that is named by one.
func (t *tree) address(s *Source) {
	if s.Literal {
		t.sub("path", func(t *tree) { t.text("exact", string(s.Path)) })
	} else {
		t.text("path", string(s.Path))
	}
}

func (t *tree) checksum(c Checksum) {
	if c.Suffix != "" {
		t.sub("checksum", func(t *tree) { t.text("suffix", c.Suffix) })
	}
}
