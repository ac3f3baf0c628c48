package notify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// mail sends the message by SMTP. With starttls a server that does not offer it gets
// neither the login nor the message.
func (c *courier) mail(ctx context.Context, n *rules.Notification) error {
	host, _, err := net.SplitHostPort(n.Server)
	if err != nil {
		return err
	}
	password, err := c.secret(n.Password, "password")
	if err != nil {
		return err
	}
	conn, err := dialer().DialContext(ctx, "tcp", n.Server)
	if err != nil {
		return err
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	err = c.session(conn, host, password, n)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if te, ok := errors.AsType[*textproto.Error](err); ok {
		return fmt.Errorf("the server answers with code %d", te.Code) // its text may repeat ours
	}
	return err
}

func (c *courier) session(conn net.Conn, host, password string, n *rules.Notification) error {
	secure := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: c.roots}
	if n.TLS == "tls" {
		conn = tls.Client(conn, secure)
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	defer client.Close()
	if n.TLS == "starttls" {
		if ok, _ := client.Extension("STARTTLS"); !ok {
			return errors.New("the server offers no STARTTLS: nothing was sent")
		}
		if err := client.StartTLS(secure); err != nil {
			return err
		}
	}
	if n.Username != "" {
		if err := client.Auth(smtp.PlainAuth("", n.Username, password, host)); err != nil {
			return err
		}
	}
	if err := client.Mail(n.From); err != nil {
		return err
	}
	for _, to := range n.Recipients {
		if err := client.Rcpt(to); err != nil {
			return err
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(letter(n, message(c.ending, n.Link), c.ending.Ended)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return client.Quit()
}

// letter is the mail (RFC 5322, MIME): plain text, quoted-printable.
func letter(n *rules.Notification, m *Message, at time.Time) []byte {
	var b bytes.Buffer
	_, domain, _ := strings.Cut(n.From, "@")
	id := sha256.Sum256([]byte(strings.Join(append([]string{m.Job, m.BusinessDate, m.RunID, m.Ended}, n.Recipients...), "\x00")))
	for _, h := range [][2]string{
		{"From", n.From}, {"To", strings.Join(n.Recipients, ", ")}, {"Subject", mime.QEncoding.Encode("utf-8", "[recon-batch] "+m.subject())},
		{"Date", at.Format(time.RFC1123Z)}, {"Message-ID", "<" + hex.EncodeToString(id[:16]) + "@" + domain + ">"},
		{"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"},
		{"Auto-Submitted", "auto-generated"},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	fmt.Fprintf(q, "%s\r\n", strings.ReplaceAll(m.Text, "\n", "\r\n"))
	_ = q.Close()
	return b.Bytes()
}
