package rules

func (t *tree) secret(key string, s Secret) {
	if !s.Declared() {
		return
	}
	t.sub(key, func(t *tree) {
		t.text("file", s.File)
		t.text("env", s.Env)
		t.texts("exec", s.Command())
	})
}

func (t *tree) endpoint(e *Endpoint) {
	t.text("url", e.URL)
	t.secret("url", e.URLAt)
	t.texts("hosts", e.Hosts)
	t.secret("token", e.Token)
}

func (t *tree) metricsSinks(m *MetricsSinks) {
	if m == nil {
		return
	}
	t.sub("metrics", func(t *tree) {
		t.text("textfile", m.Textfile)
		if m.Pushgateway != nil {
			t.sub("pushgateway", func(t *tree) { t.endpoint(m.Pushgateway) })
		}
		if m.OTLP != nil {
			t.sub("otlp", func(t *tree) { t.endpoint(m.OTLP) })
		}
	})
}

func (t *tree) notifications(list []Notification) {
	t.list("notify", len(list), func(i int, t *tree) {
		n := list[i]
		t.text("to", n.To)
		t.texts("when", n.When)
		t.text("link", n.Link)
		t.endpoint(&n.Endpoint)
		t.secret("secret", n.Sign)
		t.text("server", n.Server)
		t.text("from", n.From)
		t.texts("recipients", n.Recipients)
		t.text("username", n.Username)
		t.secret("password", n.Password)
		t.text("tls", n.TLS)
	})
}
