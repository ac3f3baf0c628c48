package rules

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Secret says where a secret is; the zero value is none. It is resolved when it is
// needed, and its text reaches no output.
type Secret struct {
	File string // relative to the job file
	Env  string
	Exec string // a program and its arguments, each of them ended by a NUL: secrets are compared
}

// Command is the program that writes the secret, and its arguments; nil where none does.
func (s Secret) Command() []string {
	if s.Exec == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s.Exec, "\x00"), "\x00")
}

// Declared tells whether there is one.
func (s Secret) Declared() bool { return s != Secret{} }

// Endpoint is a place on the network that something is sent to.
type Endpoint struct {
	URL   string   // as written in the job; "" where URLAt says where it is
	URLAt Secret   // of a URL that is itself a secret
	Hosts []string // the hosts that the URL may name: host or host:port, lower case
	Token Secret   // sent as a bearer token
}

// MetricsSinks are the places that the metrics of a run are delivered to.
type MetricsSinks struct {
	Textfile    string // folder of the textfile collector, relative to the job file; "" none
	Pushgateway *Endpoint
	OTLP        *Endpoint
}

// Ways of a notification.
const (
	ToWebhook = "webhook"
	ToSlack   = "slack"
	ToSMTP    = "smtp"
)

// Occasions of a notification. Failed is a run that was not published.
const (
	OnAlways      = "always"
	OnGateFailed  = "gate_failed"
	OnWithheld    = "withheld"
	OnFailed      = "failed"
	OnDifferences = "differences"
)

// Notification tells somebody how a run ended.
type Notification struct {
	To   string   // webhook, slack, smtp
	When []string // occasions, one of which suffices
	Link string   // URL under which the output folder is served; "" none

	Endpoint        // webhook, slack
	Sign     Secret // webhook: key of the HMAC

	Server     string // smtp: host:port
	From       string
	Recipients []string
	Username   string
	Password   Secret
	TLS        string // starttls, tls, none
}

// CheckURL says why a text is no URL that something may be sent to: http or https, a
// host, no user and password in it; https where it carries a secret, but on this machine.
func CheckURL(text string, secret bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("it is no http or https URL") // the text may be a secret
	case u.User != nil:
		return nil, fmt.Errorf("it holds a user or a password")
	case secret && u.Scheme == "http" && !thisMachine(u.Hostname()):
		return nil, fmt.Errorf("a secret is sent there, and it is not https")
	}
	return u, nil
}

func thisMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Allows tells whether the endpoint may send to a host, given as in a URL.
func (e *Endpoint) Allows(u *url.URL) bool {
	hosts := e.Hosts
	if len(hosts) == 0 && e.URL != "" {
		own, err := url.Parse(e.URL)
		if err != nil {
			return false
		}
		hosts = []string{own.Host}
	}
	for _, h := range hosts {
		if strings.EqualFold(h, u.Host) || strings.EqualFold(h, u.Hostname()) {
			return true
		}
	}
	return false
}
