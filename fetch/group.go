package fetch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Grouper is a puller whose inputs must show one state of the source. Two queries of one
// side that are read minutes apart, while rows are written, would show one row twice or
// not at all; in one session they see the same snapshot of the database.
//
// The snapshots of a group hold together or not at all: where one is missing, all are
// pulled anew, by [PullGroup].
type Grouper interface {
	Puller

	// Group names what an input is read together with: the inputs of one side that have
	// the same name are one group. The name is for comparing, and holds no secret.
	Group(r *Request) (string, error)

	// Begin opens a session for the requests of one group.
	Begin(ctx context.Context, rs []*Request) (Session, error)
}

// Session is one state of a source, as long as it is open.
type Session interface {
	// Pull is that of [Puller], in the state of the session. Where the state is lost
	// (the connection that held it is gone) the error is [ErrLost].
	Pull(ctx context.Context, r *Request) (*Snapshot, error)

	// Close ends the session. The error is only of interest where all pulls went well:
	// that the state held to the end could not be seen.
	Close() error
}

// ErrLost is in the chain of errors of a session whose state is gone: what was pulled in
// it is not to be mixed with what another session gives.
var ErrLost = errors.New("the state of the source that was being read is lost")

// sessions is how often a group is begun before the source counts as unreachable.
const sessions = 4

// Groups sorts the requests of a side into groups: those of one group in one list, the
// lists and what is in them in the order of the requests. A request whose puller groups
// nothing is a list of its own. of gives the puller of a kind.
func Groups(of func(kind string) Puller, rs []*Request) ([][]*Request, error) {
	var out [][]*Request
	at := map[string]int{}
	for _, r := range rs {
		g, ok := of(r.Source().Remote.Kind).(Grouper)
		if !ok {
			out = append(out, []*Request{r})
			continue
		}
		name, err := g.Group(r)
		if err != nil {
			return nil, err
		}
		name = string(r.Side) + "\x00" + r.Source().Remote.Kind + "\x00" + name
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out, nil
}

// PullGroup pulls the requests of one group as [Pull] pulls one, all in one session, and
// returns their snapshots in the same order. Snapshots are written when all inputs are
// here; what lies in the folders of an earlier, other state is taken away first. A
// session that is lost is begun anew, with all inputs.
func PullGroup(ctx context.Context, p Puller, rs []*Request) ([]*Snapshot, error) {
	g, ok := p.(Grouper)
	if !ok {
		out := make([]*Snapshot, len(rs))
		for i, r := range rs {
			var err error
			if out[i], err = Pull(ctx, p, r); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	for try := 1; ; try++ {
		for _, r := range rs {
			if err := forget(r.Dir); err != nil {
				return nil, err
			}
		}
		out, err := pullSession(ctx, g, rs)
		if err == nil {
			for i, s := range out {
				if err := s.write(rs[i].Dir); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		first := rs[0]
		over := !first.Until.IsZero() && !first.Now().Before(first.Until)
		if !errors.Is(err, ErrLost) || try == sessions || over || ctx.Err() != nil {
			return nil, err
		}
		first.Note("%s; what belongs together is read anew", err)
		for _, s := range rs {
			s.lost++
		}
	}
}

// forget takes away the snapshot and the whole files of an earlier session. A checkpoint
// stays: whether it may be gone on from only the puller knows.
func forget(dir string) error {
	if err := os.Remove(filepath.Join(dir, SnapshotFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail.Disk(err, "an old snapshot cannot be removed")
	}
	if err := os.RemoveAll(filepath.Join(dir, FilesDir)); err != nil {
		return fail.Disk(err, "files of an old snapshot cannot be removed")
	}
	return nil
}

// pullSession pulls all inputs in one session.
func pullSession(ctx context.Context, g Grouper, rs []*Request) (out []*Snapshot, err error) {
	begun := rs[0].Now()
	session, err := g.Begin(ctx, rs)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	defer func() {
		if closed := session.Close(); err == nil && closed != nil {
			out, err = nil, closed
		}
	}()
	for _, r := range rs {
		s, err := pullOne(ctx, session.Pull, r, begun)
		if err != nil {
			return nil, err
		}
		s.Retries += int64(r.lost)
		out = append(out, s)
	}
	return out, nil
}
