package sftp

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/fetch/web"
	"github.com/recon-batch/recon-batch/internal/fail"
)

const later = "start the run again later; what is stored is not asked for again"

// with does something over a connection until it is done, or cannot be. What is temporary
// is done again, over another connection where this one is lost, after a random wait below a
// bound that doubles, until the time of the request is over; a request without such a time is
// given up after some attempts in which nothing came, of no file: they share a connection,
// and what one of them takes of it is not there for the others. at is what it is about.
func (p *pull) with(ctx context.Context, at string, do func(*link) error) error {
	bound, tries, had := p.pause, 0, p.brought.Load()
	for {
		l, err := p.connect(ctx)
		if err == nil {
			p.mu.Lock()
			p.sent++
			p.mu.Unlock()
			err = l.why(do(l))
		}
		switch {
		case err == nil:
			return nil
		case p.ctx.Err() != nil:
			return context.Cause(p.ctx)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		v := p.judge(at, err)
		if !v.again {
			return v.err
		}
		if v.lost {
			p.drop(l)
		}
		if has := p.brought.Load(); has-had >= 64<<10 {
			had, tries, bound = has, 0, p.pause // it goes on, if slowly
		}
		tries++
		wait := rand.N(bound)
		bound = min(2*bound, max(longestPause, p.pause))
		endless := p.r.Until.IsZero()
		if (endless || v.few) && tries >= p.tries || !endless && p.r.Now().Add(wait).After(p.r.Until) {
			return v.err
		}
		if tries == 3 {
			p.say(v.err.Error() + "; it is tried again")
		}
		if err := p.wait(ctx, wait); err != nil {
			return err
		}
		p.sentAgain()
	}
}

func (p *pull) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// verdict is what becomes of an error.
type verdict struct {
	err   error
	again bool // it may be done again
	few   bool // but not for long: it hardly changes by itself
	lost  bool // over another connection
}

// judge gives an error its class and remedy, and tells whether another attempt may end
// otherwise. What it does not know is an error of the connection.
func (p *pull) judge(at string, err error) verdict {
	no := func(hint, format string, args ...any) verdict {
		return verdict{err: p.fail(fail.Usage, hint, format, args...)}
	}
	if _, ok := errors.AsType[*changed](err); ok {
		return verdict{err: err}
	}
	if _, ok := errors.AsType[*fail.Error](err); ok {
		return verdict{err: err}
	}
	if what, hint, ok := web.Refusal(err); ok {
		return no(strings.Replace(hint, "`allow_private: true`", "`sftp: {allow_private: true}`", 1), "%s: %s", at, what)
	}
	if k, ok := errors.AsType[*stranger](err); ok {
		return no(k.hint(), "%s: %s", p.at("/"), k)
	}
	var algorithms *ssh.AlgorithmNegotiationError
	var dns *net.DNSError
	var status *sftp.StatusError
	switch {
	case errors.As(err, &algorithms):
		return no("the server has to offer one that is not broken; its owner can update it", "%s: there is no common algorithm for %s", p.at("/"), algorithms.What)
	case errors.Is(err, errRefused):
		return no("see sftp.user, and whether the server knows this key or password; it was not tried again, so that no account is locked", "%s does not let the user %s in", p.at("/"), p.of.User)
	case errors.Is(err, errQuestions):
		return no("ask its owner for a user that a private key is enough for", "%s: %s", p.at("/"), errQuestions)
	case errors.Is(err, errNoSFTP):
		return no("ask its owner to allow SFTP (Subsystem sftp) to this user", "%s does not give the user %s SFTP", p.at("/"), p.of.User)
	case errors.Is(err, fs.ErrPermission):
		return no("ask the owner of the server to let the user "+p.of.User+" read it", "%s may not be read", at)
	case errors.Is(err, fs.ErrNotExist):
		return verdict{err: &changed{at + " was deleted after it was listed"}}
	case errors.As(err, &status) && status.FxCode() == sftp.ErrSSHFxOpUnsupported:
		return no("ask the owner of the server which SFTP it speaks; version 3 is needed", "%s: the server does not know the request", at)
	case errors.As(err, &status) && status.FxCode() != sftp.ErrSSHFxConnectionLost && status.FxCode() != sftp.ErrSSHFxNoConnection && status.FxCode() != sftp.ErrSSHFxBadMessage:
		return verdict{again: true, few: true, err: p.fail(fail.Temporary, "start the run again later; if it stays so, ask the owner of the server", "%s: the server says %s", at, p.cut(status.Error()))}
	case errors.As(err, &dns) && dns.IsNotFound:
		return verdict{again: true, few: true, err: p.fail(fail.Temporary, "see whether the path has the right host", "there is no host %s", p.host)}
	}
	return verdict{again: true, lost: true, err: p.fail(fail.Temporary, later, "%s cannot be read: %s", at, p.cut(err.Error()))}
}

// cut is the beginning of what others say.
func (p *pull) cut(text string) string { return p.secrets.Cut(text) }
