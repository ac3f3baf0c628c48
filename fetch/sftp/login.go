package sftp

import (
	"errors"
	"slices"

	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// login is by what the server is known, and how the user proves who it is.
type login struct {
	hosts *hosts
	user  string
	auth  []ssh.AuthMethod
}

// algorithms are those without known weaknesses: nothing that signs by SHA-1, no group of
// 1024 bits, no CBC.
func algorithms() ssh.Algorithms {
	a := ssh.SupportedAlgorithms()
	a.MACs = slices.DeleteFunc(a.MACs, func(m string) bool { return m == ssh.HMACSHA1 })
	return a
}

// config of a connection to a server with a host key of some kinds.
func (l *login) config(kinds []string) *ssh.ClientConfig {
	a := algorithms()
	return &ssh.ClientConfig{
		Config: ssh.Config{KeyExchanges: a.KeyExchanges, Ciphers: a.Ciphers, MACs: a.MACs},
		User:   l.user, Auth: l.auth, HostKeyAlgorithms: kinds, ClientVersion: "SSH-2.0-recon-batch",
		BannerCallback: func(string) error { return nil }, // it says nothing to us
	}
}

// prepare resolves the secrets of the job.
func (p *pull) prepare() (*login, error) {
	l := &login{user: p.of.User}
	var err error
	if l.hosts, err = p.hosts(); err != nil {
		return nil, err
	}
	if p.of.PrivateKey.Declared() {
		signer, err := p.key()
		if err != nil {
			return nil, err
		}
		l.auth = append(l.auth, ssh.PublicKeys(signer))
	}
	if p.of.Password.Declared() {
		password, err := p.text(p.of.Password, "sftp.password")
		if err != nil {
			return nil, err
		}
		l.auth = append(l.auth, ssh.Password(password), ssh.KeyboardInteractive(func(_, _ string, questions []string, echos []bool) ([]string, error) {
			switch {
			case len(questions) == 0:
				return nil, nil
			case len(questions) == 1 && !echos[0]:
				return []string{password}, nil
			}
			return nil, errQuestions
		}))
	}
	return l, nil
}

// text resolves a secret, and remembers it, so that it is hidden.
func (p *pull) text(s rules.Secret, what string) (string, error) {
	text, err := secret.Text(s, p.r.BaseDir, what)
	if err != nil {
		return "", fail.Wrap(fail.Usage, err, "the source %s", p.r.Source().Name).WithHint("set it, or correct the job file")
	}
	p.secrets.Add(text)
	return text, nil
}

// key reads the private key. No error of it is passed on, it may quote the key.
func (p *pull) key() (ssh.Signer, error) {
	text, err := p.text(p.of.PrivateKey, "sftp.private_key")
	if err != nil {
		return nil, err
	}
	passphrase, err := p.text(p.of.Passphrase, "sftp.passphrase")
	if err != nil {
		return nil, err
	}
	text += "\n" // the form of OpenSSH needs its last line whole
	var signer ssh.Signer
	if passphrase == "" {
		signer, err = ssh.ParsePrivateKey([]byte(text))
	} else {
		signer, err = ssh.ParsePrivateKeyWithPassphrase([]byte(text), []byte(passphrase))
	}
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, p.fail(fail.Usage, "name it: sftp.passphrase", "the private key has a passphrase")
	case err != nil && passphrase != "":
		return nil, p.fail(fail.Usage, "sftp.private_key is the text of a file as ssh-keygen writes it; see sftp.passphrase as well", "the private key cannot be read with this passphrase")
	case err != nil:
		return nil, p.fail(fail.Usage, "sftp.private_key is the text of a file as ssh-keygen writes it", "the private key cannot be read")
	}
	kinds := []string{signer.PublicKey().Type()}
	if kinds[0] == ssh.KeyAlgoRSA {
		kinds = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256} // never ssh-rsa, which is SHA-1
	}
	both, ok := signer.(ssh.AlgorithmSigner)
	if ok && slices.Contains(algorithms().PublicKeyAuths, kinds[0]) {
		if limited, err := ssh.NewSignerWithAlgorithms(both, kinds); err == nil {
			return limited, nil
		}
	}
	return nil, p.fail(fail.Usage, "make one by ssh-keygen -t ed25519", "a private key of the kind %s is not used", kinds[0])
}
