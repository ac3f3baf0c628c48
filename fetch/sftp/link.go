package sftp

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/fetch/web"
)

// link is one connection to the server. It may be used by several goroutines.
type link struct {
	raw  net.Conn
	ssh  *ssh.Client
	sftp *sftp.Client

	open, ended atomic.Int64 // what was asked for and is not answered; what was answered
	gone        chan struct{}

	mu    sync.Mutex
	cause error
}

var (
	errIdle    = errors.New("nothing came in time")
	errRefused = errors.New("the server does not let us in")
	errNoSFTP  = errors.New("the server gives no SFTP")

	errQuestions = errors.New("the server asks for more than a password")
)

// current is the connection that is open; nil where there is none.
func (p *pull) current() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link
}

// connect gives the connection that is open, or opens one.
func (p *pull) connect(ctx context.Context) (*link, error) {
	p.dialling.Lock()
	defer p.dialling.Unlock()
	if l := p.current(); l != nil {
		return l, nil
	}
	l, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link = l
	return l, nil
}

// drop closes a connection, so that the next one who needs one opens another. nil is none.
func (p *pull) drop(l *link) {
	if l == nil {
		return
	}
	p.mu.Lock()
	if p.link == l {
		p.link = nil
	}
	p.mu.Unlock()
	l.kill(net.ErrClosed)
}

// dial opens a connection. The server has to prove itself first. Which of its keys it shows
// depends on the kinds that are asked for, so that they are asked for one after the other:
// only then a fingerprint, which does not say its kind, is found among them.
func (p *pull) dial(ctx context.Context) (*link, error) {
	offered := &stranger{known: p.login.hosts.known}
	for _, kinds := range p.login.hosts.kinds {
		l, err := p.shake(ctx, kinds)
		if s, ok := errors.AsType[*stranger](err); ok {
			offered.offered = append(offered.offered, s.offered...)
			continue
		}
		var none *ssh.AlgorithmNegotiationError
		if errors.As(err, &none) && none.What == "host key" {
			continue
		}
		return l, err
	}
	return nil, offered
}

// shake opens a connection to a server that has a host key of some kinds.
func (p *pull) shake(ctx context.Context, kinds []string) (*link, error) {
	address := net.JoinHostPort(p.host, p.port)
	raw, err := web.Dial(p.of.AllowPrivate, true)(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &link{raw: raw, gone: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { l.kill(context.Cause(ctx)) })
	defer stop()
	// All of this together, so that a server that speaks a byte now and then holds nobody up.
	if err := raw.SetDeadline(time.Now().Add(2 * p.idle)); err != nil {
		raw.Close()
		return nil, err
	}
	var who error // why the key of the server was not taken
	config := p.login.config(kinds)
	config.HostKeyCallback = func(address string, remote net.Addr, key ssh.PublicKey) error {
		who = p.login.hosts.check(address, remote, key)
		return who
	}
	c, channels, requests, err := ssh.NewClientConn(raw, address, config)
	if err != nil {
		raw.Close()
		switch {
		case who != nil:
			return nil, who
		case errors.Is(err, errQuestions):
			return nil, errQuestions
		// The library has no type for it.
		case strings.Contains(err.Error(), "ssh: unable to authenticate"):
			return nil, errRefused
		}
		return nil, l.why(err)
	}
	l.ssh = ssh.NewClient(c, channels, requests)
	if l.sftp, err = sftp.NewClient(l.ssh); err != nil {
		err = l.why(err)
		l.kill(err)
		if strings.Contains(err.Error(), "subsystem request failed") {
			return nil, errNoSFTP
		}
		return nil, err
	}
	if err := raw.SetDeadline(time.Time{}); err != nil {
		l.kill(err)
		return nil, err
	}
	context.AfterFunc(p.ctx, func() { l.kill(context.Cause(p.ctx)) })
	go l.watch(p.idle)
	return l, nil
}

// kill ends a connection, and notes why.
func (l *link) kill(err error) {
	l.mu.Lock()
	first := l.cause == nil
	if first {
		l.cause = err
	}
	l.mu.Unlock()
	if first {
		close(l.gone)
		l.raw.Close() // what is in flight ends with it
	}
}

// why gives the reason for which a connection was ended in the place of an error of it.
func (l *link) why(err error) error {
	if err == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil && !errors.Is(l.cause, net.ErrClosed) {
		return l.cause
	}
	return err
}

// begin notes that something is asked for; the function that it gives, that it was answered.
func (l *link) begin() (end func()) {
	l.open.Add(1)
	return func() { l.ended.Add(1); l.open.Add(-1) }
}

// watch asks for a sign of life now and then, which also keeps the way open, and ends the
// connection when that is not answered for a time, or nothing of what was asked for is.
func (l *link) watch(idle time.Duration) {
	t := time.NewTicker(idle)
	defer t.Stop()
	alive := make(chan struct{}, 1)
	for open, ended, asked := int64(0), int64(0), false; ; asked = true {
		select {
		case <-l.gone:
			return
		case <-t.C:
		}
		answered := true
		if asked {
			select {
			case <-alive:
			default:
				answered = false
			}
		}
		if !answered || open > 0 && l.ended.Load() == ended {
			l.kill(errIdle)
			return
		}
		open, ended = l.open.Load(), l.ended.Load()
		go func() {
			// That it does not know the request is an answer as well; an error is none.
			if _, _, err := l.ssh.SendRequest("keepalive@openssh.com", true, nil); err == nil {
				alive <- struct{}{}
			}
		}()
	}
}
