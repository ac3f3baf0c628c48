package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// refused is why an address is not dialled, and what to do about it.
type refused struct{ what, hint string }

func (r *refused) Error() string { return r.what }

// never are the networks that no source is in, whatever the job says. The first is
// shared with the metadata services of clouds; the translated ones would hide others.
var never = prefixes("169.254.0.0/16", "0.0.0.0/8", "fe80::/10", "fd00:ec2::/32", "100.100.100.200/32", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "240.0.0.0/4")

// inside are networks that are reached from inside an organisation alone.
var inside = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "192.0.0.0/24", "198.18.0.0/15", "fec0::/10")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, text := range list {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

func in(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// CheckAddress says why an address that a host was resolved to must not be dialled.
// private tells whether private networks may be, secure whether the connection is TLS.
// Sources over other protocols than HTTP ask it too.
func CheckAddress(host, address string, private, secure bool) error {
	text, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	text, _, _ = strings.Cut(text, "%")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return err
	}
	a = a.Unmap()
	const ask = "declare `allow_private: true` where that is meant"
	switch {
	case a.IsMulticast(), a.IsUnspecified(), in(a, never):
		return &refused{fmt.Sprintf("%s is at %s, an address that is never asked", host, a), "name the host of the service itself"}
	case a.IsLoopback() && !namesLoopback(host):
		return &refused{fmt.Sprintf("%s is at %s, which is this machine", host, a), "name localhost or 127.0.0.1 in the job file where this machine is meant"}
	case a.IsLoopback() && !private:
		return &refused{fmt.Sprintf("%s is this machine", host), ask}
	case a.IsLoopback():
	case in(a, inside) && !private:
		return &refused{fmt.Sprintf("%s is at %s, a private address", host, a), ask}
	case in(a, inside):
	case !secure:
		return &refused{fmt.Sprintf("%s is at %s, which is asked by https alone", host, a), "write https://…"}
	}
	return nil
}

func namesLoopback(host string) bool {
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// Dial connects to an address after it is resolved and checked. It suits
// http.Transport.DialContext; sources over other protocols use it with their own.
func Dial(private, secure bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := &net.Dialer{Timeout: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
			return CheckAddress(host, address, private, secure)
		}}
		return d.DialContext(ctx, network, address)
	}
}

// Refusal gives what was refused about an address, with its remedy; false for any other
// error.
func Refusal(err error) (what, hint string, ok bool) {
	if r, is := errors.AsType[*refused](err); is {
		return r.what, r.hint, true
	}
	return "", "", false
}

// allowed tells whether a URL may be asked: its origin is that of the job file, or its
// host is among the hosts.
func (c *Client) allowed(u *url.URL) error {
	shown := c.shown(u)
	switch {
	case u.User != nil:
		return &refused{shown + " holds a user or a password", "remove it; secrets go to `auth`"}
	case u.Scheme != "https" && u.Scheme != "http":
		return &refused{shown + " is neither https nor http", "name the address of the service"}
	case u.Scheme == "http" && !c.o.Web.Private:
		return &refused{shown + " is not https", "write https://…; http goes to private addresses alone, with `allow_private: true`"}
	}
	for _, o := range c.o.Origins {
		if SameOrigin(o, u) {
			return nil
		}
	}
	for _, h := range c.o.Web.Hosts {
		if strings.EqualFold(h, u.Host) || strings.EqualFold(h, u.Hostname()) && (u.Port() == "" || u.Port() == defaultPort(u)) {
			return nil
		}
	}
	return &refused{u.Host + " is not a host that the job names", "where it is meant, add it to `hosts`"}
}

// SameOrigin tells whether two addresses have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return defaultPort(u)
}

func defaultPort(u *url.URL) string {
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}
