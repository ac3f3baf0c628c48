package rules

import (
	"net"
	"net/mail"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

func (d *decoder) metricsSinks(o *object) *MetricsSinks {
	if o == nil {
		return nil
	}
	m := &MetricsSinks{Textfile: o.text("textfile", "")}
	if leaves(m.Textfile) {
		o.fail("textfile", "name a folder below the job file, or an absolute path", "%s: %q leaves the folder of the job", o.at("textfile"), m.Textfile)
	}
	m.Pushgateway = d.endpointOf(o, "pushgateway")
	m.OTLP = d.endpointOf(o, "otlp")
	if m.Textfile == "" && m.Pushgateway == nil && m.OTLP == nil {
		d.fail(o.path, "name textfile, pushgateway or otlp, or leave the key out", "%s names no place", o.path)
	}
	return m
}

// endpointOf reads a URL, or a mapping that has one.
func (d *decoder) endpointOf(o *object, name string) *Endpoint {
	n := o.node(name)
	if n == nil {
		return nil
	}
	path := o.at(name)
	if n.Kind != yaml.MappingNode {
		e := &Endpoint{}
		d.address(e, n, path)
		return e
	}
	m := d.object(n, endpointShape, path)
	if m == nil {
		return nil
	}
	e := &Endpoint{Hosts: lowered(m.texts("hosts")), Token: d.secret(m, "token")}
	if u := m.node("url"); u != nil {
		d.address(e, u, m.at("url"))
	}
	return e
}

// address reads the URL of an endpoint, of which the rest is read already.
func (d *decoder) address(e *Endpoint, n *yaml.Node, path string) {
	if n.Kind == yaml.MappingNode {
		e.URLAt = d.secretOf(n, path)
		if len(e.Hosts) == 0 {
			d.failAt(at(n), path, "add `hosts: [HOST]`: a URL that is a secret may name these and no others", "%s: nobody who reads the job sees where it goes", path)
		}
		return
	}
	text, ok := d.scalar(n, path)
	if !ok {
		return
	}
	e.URL = text
	u, err := CheckURL(text, e.Token.Declared())
	if err != nil {
		d.failAt(at(n), path, "https://host/path; secrets go to `token`, or the whole URL to {env: NAME}", "%s: %s", path, err)
		return
	}
	if !e.Allows(u) {
		d.failAt(at(n), path, "add it to `hosts`, or correct the URL", "%s: the host %s is not among hosts", path, u.Host)
	}
}

// secret reads where a secret is.
func (d *decoder) secret(o *object, name string) Secret {
	n := o.node(name)
	if n == nil {
		return Secret{}
	}
	return d.secretOf(n, o.at(name))
}

func (d *decoder) secretOf(n *yaml.Node, path string) Secret {
	if n.Kind != yaml.MappingNode {
		d.failAt(at(n), path, secretForms, "%s: a secret is never written in the job file", path)
		return Secret{}
	}
	k := d.object(n, secretShape, path)
	if k == nil {
		return Secret{}
	}
	s := Secret{File: k.text("file", ""), Env: k.text("env", "")}
	if c := k.node("exec"); c != nil {
		for i, arg := range d.items(c, k.at("exec")) {
			text, ok := d.scalar(arg, index(k.at("exec"), i))
			if ok && (strings.ContainsRune(text, 0) || i == 0 && text == "") {
				d.failAt(at(arg), index(k.at("exec"), i), "name a program, then its arguments", "%s: %q starts nothing", path, text)
			}
			s.Exec += text + "\x00"
		}
	}
	given := 0
	for _, v := range []string{s.File, s.Env, s.Exec} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		d.fail(path, secretForms, "%s needs a file, an environment variable or a program, one of them", path)
	}
	return s
}

const secretForms = "write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}"

func lowered(list []string) []string {
	for i := range list {
		list[i] = strings.ToLower(list[i])
	}
	return list
}

// ofWay are the keys that some ways have and the others do not.
var ofWay = map[string][]string{
	"url": {ToWebhook, ToSlack}, "hosts": {ToWebhook, ToSlack}, "token": {ToWebhook}, "secret": {ToWebhook},
	"server": {ToSMTP}, "from": {ToSMTP}, "recipients": {ToSMTP}, "username": {ToSMTP}, "password": {ToSMTP}, "tls": {ToSMTP},
}

func (d *decoder) notifications(root *object) []Notification {
	var out []Notification
	root.objects("notify", notifyShape, func(_ int, o *object) {
		n := Notification{To: choice(o, "to", "", notifyWays...), When: slices.Clone(defaultNotify), Link: o.text("link", "")}
		if o.has("when") {
			n.When = enums(o, "when", notifyOccasions...)
		}
		if n.Link != "" {
			if _, err := CheckURL(n.Link, false); err != nil {
				o.fail("link", "https://host/path", "%s: %s", o.at("link"), err)
			}
		}
		for _, k := range sortedKeys(ofWay) {
			if n.To != "" && o.has(k) && !slices.Contains(ofWay[k], n.To) {
				o.fail(k, "remove it, or correct `to`", "%s means nothing with `to: %s`", o.at(k), n.To)
			}
		}
		n.Hosts, n.Token, n.Sign = lowered(o.texts("hosts")), d.secret(o, "token"), d.secret(o, "secret")
		n.Server, n.From, n.Recipients = o.text("server", ""), o.text("from", ""), o.texts("recipients")
		n.Username, n.Password = o.text("username", ""), d.secret(o, "password")
		if n.To == ToSMTP {
			n.TLS = choice(o, "tls", "starttls", smtpTLS...)
			d.mail(o, &n)
		} else if n.To != "" {
			d.hook(o, &n)
		}
		out = append(out, n)
	})
	return out
}

func (d *decoder) hook(o *object, n *Notification) {
	u := o.node("url")
	switch {
	case u == nil:
		d.fail(o.path, "add `url:`", "%s has no url", o.path)
		return
	case n.To == ToSlack && u.Kind != yaml.MappingNode:
		o.fail("url", "write {file: FILE} or {env: NAME}", "%s: whoever knows the URL of a Slack webhook may post there, so that it is a secret", o.at("url"))
		return
	case n.To == ToSlack && len(n.Hosts) == 0:
		n.Hosts = []string{"hooks.slack.com"}
	}
	d.address(&n.Endpoint, u, o.at("url"))
}

func (d *decoder) mail(o *object, n *Notification) {
	for _, k := range []string{"server", "from", "recipients"} {
		if !o.has(k) {
			d.fail(o.path, "add `"+k+":`", "%s has no %s", o.path, k)
		}
	}
	host, port, err := net.SplitHostPort(n.Server)
	if p, perr := strconv.ParseUint(port, 10, 16); n.Server != "" && (err != nil || perr != nil || p == 0 || host == "") {
		o.fail("server", "host:port, such as smtp.example.com:587", "%s: %q is no host and port", o.at("server"), n.Server)
	}
	for k, list := range map[string][]string{"from": {n.From}, "recipients": n.Recipients} {
		for _, a := range list {
			if a == "" {
				continue
			}
			if p, err := mail.ParseAddress(a); err != nil || p.Address != a {
				o.fail(k, "an address alone: name@example.com", "%s: %q is no mail address", o.at(k), a)
			}
		}
	}
	if (n.Username == "") != !n.Password.Declared() {
		d.fail(o.path, "write username and password, or neither", "%s has a username or a password, and not both", o.path)
	}
	if n.Password.Declared() && n.TLS == "none" && !thisMachine(host) {
		o.fail("tls", "write starttls or tls", "%s: a password is sent, and nothing hides it", o.at("tls"))
	}
}
