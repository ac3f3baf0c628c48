package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// holder tells people who runs. It stands in the lock file; the lock itself is
// the kernel's, so that a dead holder never blocks anybody.
type holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, running since %s", h.PID, h.Host, h.Started.UTC().Format(time.RFC3339))
}

// runLock lets one run at a time work on a job and business date.
type runLock struct {
	path string
	lock *flock.Flock
}

// lock takes the lock of the date, waiting at most wait for its holder. A lock
// that stays held is an error of class Conflict that names the holder.
func (d *outDir) lock(ctx context.Context, wait time.Duration) (*runLock, error) {
	l := &runLock{path: filepath.Join(d.date, ".lock")}
	if err := refuseSpecial(l.path); err != nil {
		return nil, err
	}
	l.lock = flock.New(l.path)
	deadline := time.Now().Add(wait)
	for {
		ok, err := l.lock.TryLock()
		if err != nil {
			return nil, diskError(err, "the run lock cannot be taken")
		}
		if ok {
			break
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, fail.New(fail.Conflict, "this job and date are being run by %s", l.holder()).
				WithHint("wait for it with --lock-wait 10m, or end that process and run again")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(min(left, 100*time.Millisecond)):
		}
	}
	host, _ := os.Hostname() // for people only
	text, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		// In place: a rename would leave the lock on a file that nobody opens again.
		err = os.WriteFile(l.path, text, 0o644)
	}
	if err != nil {
		return nil, errors.Join(diskError(err, "the run lock cannot be written"), l.lock.Unlock())
	}
	return l, nil
}

func (l *runLock) holder() holder {
	var h holder
	if text, err := os.ReadFile(l.path); err == nil {
		_ = json.Unmarshal(bytes.TrimSpace(text), &h) // half-written: "another process"
	}
	return h
}

// release gives the lock back. The file stays: removing it would let two runs
// hold locks on two files of one name.
func (l *runLock) release() error {
	return errors.Join(os.Truncate(l.path, 0), l.lock.Unlock())
}
