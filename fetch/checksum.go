package fetch

import (
	"encoding/hex"
	"errors"
	"path"
	"regexp"
	"strings"
	"unicode"
)

var (
	checksumLine   = regexp.MustCompile(`^\\?([0-9A-Fa-f]{64})(?:[ \t]+[ *]?(.+))?$`)
	checksumTagged = regexp.MustCompile(`^SHA256 \((.+)\) = ([0-9A-Fa-f]{64})$`)
)

// ReadChecksum reads the SHA-256 of a file from the text of a file that says it, in the
// forms that sha256sum writes (with and without --tag), or as the digest alone. Where it has
// lines for several files, that of the name counts. The digest is hexadecimal, lower case.
func ReadChecksum(text []byte, name string) (string, error) {
	found, others := "", 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		digest, of := "", ""
		if m := checksumTagged.FindStringSubmatch(line); m != nil {
			of, digest = m[1], m[2]
		} else if m := checksumLine.FindStringSubmatch(line); m != nil {
			digest, of = m[1], m[2]
		} else {
			return "", errors.New("is no list of SHA-256 digests")
		}
		if of != "" && path.Base(strings.ReplaceAll(of, `\`, "/")) != name {
			others++
			continue
		}
		digest = strings.ToLower(digest)
		if found != "" && found != digest {
			return "", errors.New("says two digests of one file")
		}
		found = digest
	}
	if _, err := hex.DecodeString(found); err != nil || found == "" {
		if others > 0 {
			return "", errors.New("says digests of other files alone")
		}
		return "", errors.New("says no digest")
	}
	return found, nil
}

// Nameable tells whether a name that somebody else chose, without folders, can be that of a
// file of ours.
func Nameable(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !strings.ContainsAny(name, "/\x00") &&
		!strings.ContainsFunc(name, unicode.IsControl) && strings.ToValidUTF8(name, "") == name
}
