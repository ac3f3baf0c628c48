package sftp

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// hosts is by what the server is known.
type hosts struct {
	prints []string            // fingerprints that the job names
	file   ssh.HostKeyCallback // of known_hosts; nil: none
	kinds  [][]string          // algorithms of host keys that are asked for, one list after the other
	known  map[string]bool     // fingerprints of all that is known, for errors
}

// families are the algorithms of the kinds of host keys, the best first.
var families = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// weakRSA is the size of RSA keys, in bits, below which they prove nothing.
const weakRSA = 2048

// hosts reads by what the server is known.
func (p *pull) hosts() (*hosts, error) {
	h := &hosts{known: map[string]bool{}}
	var kinds []string // of keys that are known whole
	unsure := false    // a fingerprint does not say its kind
	for _, text := range p.of.HostKeys {
		if strings.HasPrefix(text, "SHA256:") {
			h.prints, unsure = append(h.prints, text), true
			continue
		}
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
		if err != nil {
			return nil, p.fail(fail.Usage, "write its fingerprint, or the line as it stands in the file of the public key", "host_keys: %s is no public key", p.cut(text))
		}
		h.prints = append(h.prints, ssh.FingerprintSHA256(key))
		kinds = append(kinds, key.Type())
	}
	for _, f := range h.prints {
		h.known[f] = true
	}
	if p.of.KnownHosts != "" {
		file := p.of.KnownHosts
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.r.BaseDir, file)
		}
		var err error
		if h.file, err = knownhosts.New(file); err != nil {
			return nil, p.fail(fail.Usage, "it is a file as OpenSSH keeps it in ~/.ssh/known_hosts", "known_hosts: %s cannot be read: %s", p.of.KnownHosts, p.cut(err.Error()))
		}
		for _, key := range listed(h.file, net.JoinHostPort(p.host, p.port)) {
			h.known[ssh.FingerprintSHA256(key)] = true
			kinds = append(kinds, key.Type())
		}
	}
	for _, family := range families {
		if unsure || len(kinds) == 0 || slices.ContainsFunc(kinds, func(k string) bool {
			return slices.Contains(family, k) || k == ssh.KeyAlgoRSA && family[0] == ssh.KeyAlgoRSASHA512
		}) {
			h.kinds = append(h.kinds, family)
		}
	}
	if len(h.kinds) == 0 {
		return nil, p.fail(fail.Usage, "ask the owner of the server for its key of the kind ssh-ed25519, ecdsa or ssh-rsa", "no key that the server is known by is of a kind that is used")
	}
	return h, nil
}

// listed gives the keys that a file has for an address: those that it misses when a key is
// shown that nobody has.
func listed(file ssh.HostKeyCallback, address string) []ssh.PublicKey {
	var missed *knownhosts.KeyError
	if !errors.As(file(address, nowhere{}, none{}), &missed) {
		return nil
	}
	var out []ssh.PublicKey
	for _, k := range missed.Want {
		out = append(out, k.Key)
	}
	return out
}

// none is a key that nobody has, nowhere an address that nobody has.
type none struct{}

func (none) Type() string                        { return "none" }
func (none) Marshal() []byte                     { return []byte("none") }
func (none) Verify([]byte, *ssh.Signature) error { return errors.New("nobody has this key") }

type nowhere struct{}

func (nowhere) Network() string { return "tcp" }
func (nowhere) String() string  { return "0.0.0.0:0" }

// check tells whether the server is known by a key. The error is a *stranger where it is not.
func (h *hosts) check(address string, remote net.Addr, key ssh.PublicKey) error {
	shown := offer{kind: key.Type(), print: ssh.FingerprintSHA256(key)}
	if c, ok := key.(ssh.CryptoPublicKey); ok {
		if r, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < weakRSA {
			shown.weak = r.N.BitLen()
			return &stranger{offered: []offer{shown}, known: h.known}
		}
	}
	if slices.Contains(h.prints, shown.print) {
		return nil
	}
	if h.file != nil {
		err := h.file(address, remote, key)
		if err == nil {
			return nil
		}
		var revoked *knownhosts.RevokedError
		shown.revoked = errors.As(err, &revoked)
	}
	return &stranger{offered: []offer{shown}, known: h.known}
}

// stranger is a server that is not the one that the job names.
type stranger struct {
	offered []offer
	known   map[string]bool
}

// offer is a key that a server shows.
type offer struct {
	kind, print string
	weak        int // bits of an RSA key that is too short; 0: it is not
	revoked     bool
}

func (s *stranger) Error() string {
	if len(s.offered) == 0 {
		return "the server has no key of the kinds that it is known by"
	}
	var texts []string
	for _, o := range s.offered {
		text := o.kind + " " + o.print
		switch {
		case o.weak > 0:
			text += fmt.Sprintf(" (%d bits, too few to prove anything)", o.weak)
		case o.revoked:
			text += " (which known_hosts calls revoked)"
		}
		texts = append(texts, text)
	}
	text := "the server shows a key that it is not known by: " + strings.Join(texts, ", ")
	if len(s.known) == 0 {
		return text + "; it is known by none"
	}
	var known []string
	for k := range s.known {
		known = append(known, k)
	}
	slices.Sort(known)
	return text + "; it is known by " + strings.Join(known, ", ")
}

func (s *stranger) hint() string {
	return "ask the owner of the server, by another way, whether this is its key now (ssh-keygen -lf), and if so write it to sftp.host_keys; if not, somebody else answers in its place, and nothing was said to them"
}
