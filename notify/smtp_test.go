package notify

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/recon-batch/recon-batch/rules"
)

// mailbox is a mail server of another implementation, which asks for a login where it
// has a password.
type mailbox struct {
	mu       sync.Mutex
	password string
	refuse   string // recipient
	from     string
	to       []string
	data     string
	secure   bool // the message came by TLS
	logins   int
}

type mailSession struct {
	*mailbox
	conn  *smtp.Conn
	inner bool
}

func (b *mailbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &mailSession{mailbox: b, conn: c}, nil
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.logins++
		if username != "recon" || password != s.password {
			return &smtp.SMTPError{Code: 535, Message: "no: " + password}
		}
		s.inner = true
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.password != "" && !s.inner {
		return smtp.ErrAuthRequired
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = from
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to == s.refuse {
		return &smtp.SMTPError{Code: 550, Message: "nobody here: " + to}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	_, secure := s.conn.TLSConnectionState()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.secure = string(text), secure
	return err
}

func (s *mailSession) Reset()        {}
func (s *mailSession) Logout() error { return nil }

// mailServer starts the server and returns its address and the certificates to trust.
func mailServer(t *testing.T, b *mailbox, kind string) (string, *x509.CertPool) {
	t.Helper()
	certs := httptest.NewUnstartedServer(nil) // for its certificate of 127.0.0.1
	certs.StartTLS()
	t.Cleanup(certs.Close)
	roots := x509.NewCertPool()
	roots.AddCert(certs.Certificate())
	s := smtp.NewServer(b)
	s.Domain, s.AllowInsecureAuth = "mail.example.com", kind == "none"
	config := &tls.Config{Certificates: certs.TLS.Certificates}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	switch kind {
	case "starttls":
		s.TLSConfig = config
	case "tls":
		l = tls.NewListener(l, config)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return address, roots
}

func mailed(t *testing.T, e *Ending, roots *x509.CertPool, n rules.Notification) string {
	t.Helper()
	n.To, n.When = rules.ToSMTP, []string{rules.OnAlways}
	e.Job.Notify = []rules.Notification{n}
	return strings.Join((&courier{ending: e, patience: Patience, roots: roots}).deliver(t.Context()), "\n")
}

// TestMail goes through a real server in each way of TLS.
func TestMail(t *testing.T) {
	for _, kind := range []string{"starttls", "tls", "none"} {
		t.Run(kind, func(t *testing.T) {
			b := &mailbox{password: "pass-word-1"}
			server, roots := mailServer(t, b, kind)
			e := ended(t)
			e.Series = "chargés"
			n := rules.Notification{Server: server, From: "recon@example.com", Recipients: []string{"finance@example.com", "oncall@example.com"}, TLS: kind,
				Username: "recon", Password: secretFile(t, e, "mail.password", "pass-word-1"), Link: "https://reports.example.com"}
			if note := mailed(t, e, roots, n); note != "" {
				t.Fatal(note)
			}
			if b.from != "recon@example.com" || !slices.Equal(b.to, n.Recipients) || b.logins != 1 || (kind == "starttls") != b.secure && kind != "tls" {
				t.Errorf("from %s to %q, %d logins, TLS %t", b.from, b.to, b.logins, b.secure)
			}
			m, err := mail.ReadMessage(strings.NewReader(b.data))
			if err != nil {
				t.Fatal(err)
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
			if err != nil || subject != "[recon-batch] chargés 2026-08-20 does not close (exit 3: published, a gate failed)" {
				t.Errorf("subject %q, %v", subject, err)
			}
			if date, err := m.Header.Date(); err != nil || !date.Equal(e.Ended) {
				t.Errorf("dated %s, %v", date, err)
			}
			text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
			if err != nil || !strings.Contains(string(text), "EUR: operations 100.00, results 70.00, difference -30.00\r\n") || !strings.Contains(string(text), "gate failed: nothing-absent") {
				t.Errorf("%v %s", err, text)
			}
			for _, p := range append(personal, "pass-word-1") {
				if strings.Contains(b.data, p) {
					t.Errorf("%s is in the mail", p)
				}
			}
		})
	}
}

// TestMailRefused: a server that nobody trusts, that offers no TLS, that knows another
// password or no such recipient gets nothing, and no note has a secret or an address.
func TestMailRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kind, tls, refuse, password string
		trust                       bool
		want                        string
	}{
		"not trusted":       {"starttls", "starttls", "", "pass-word-1", false, "certificate"},
		"no STARTTLS":       {"none", "starttls", "", "pass-word-1", true, "the server offers no STARTTLS: nothing was sent"},
		"another password":  {"starttls", "starttls", "", "pass-word-2", true, "code 535"},
		"unknown recipient": {"starttls", "starttls", "finance@example.com", "pass-word-1", true, "code 550"},
		"no TLS at all":     {"none", "tls", "", "pass-word-1", true, "tls"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &mailbox{password: "pass-word-1", refuse: c.refuse}
			server, roots := mailServer(t, b, c.kind)
			if !c.trust {
				roots = x509.NewCertPool()
			}
			e := ended(t)
			note := mailed(t, e, roots, rules.Notification{Server: server, From: "recon@example.com", Recipients: []string{"finance@example.com"}, TLS: c.tls,
				Username: "recon", Password: secretFile(t, e, "mail.password", c.password)})
			if !strings.Contains(note, c.want) || strings.Contains(note, "pass-word") || strings.Contains(note, "finance@") {
				t.Errorf("note %q, want %s", note, c.want)
			}
			if b.data != "" || (c.tls != c.kind || !c.trust) && b.logins > 0 {
				t.Errorf("it got %q, %d logins", b.data, b.logins)
			}
		})
	}
}
