package sftp

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/pkg/sftp"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// Check implements fetch.Puller: the server is the one that the job names, lets the user in,
// and shows the folder; the first file that the address names now can be read. No file is no
// problem: it may be there tomorrow.
func (u Puller) Check(ctx context.Context, r *fetch.Request) []string {
	return fetch.Problems(u.check(ctx, r))
}

func (u Puller) check(ctx context.Context, r *fetch.Request) error {
	brief := *r
	brief.Until = time.Time{} // whoever asks does not want to wait for long
	p, end, err := u.begin(ctx, &brief)
	if err != nil {
		return err
	}
	defer end()
	p.tries = 3
	files, err := p.list(ctx)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		p.say(p.r.Input.Path + " names no file now")
		return p.folder(ctx)
	}
	total := int64(0)
	for _, f := range files {
		total += f.size
	}
	p.say(fmt.Sprintf("%s names %d files of %d bytes now, the first is %s", p.r.Input.Path, len(files), total, files[0].name))
	f := files[0]
	return p.with(ctx, p.at(f.path), func(l *link) error {
		return p.opened(l, f, func(h *sftp.File) error {
			_, err := l.read(h, make([]byte, min(f.size, 1)), 0)
			if err == io.EOF {
				err = nil // it was cut in this moment
			}
			return err
		})
	})
}

// folder tells whether the folder of the address is there. One whose name has a date in it may
// come with the delivery.
func (p *pull) folder(ctx context.Context) error {
	folder := path.Dir(p.path)
	if at := strings.LastIndexByte(string(p.r.Source().Path), '/'); strings.Contains(string(p.r.Source().Path)[:at], "{") {
		return nil
	}
	info, err := p.stat(ctx, folder)
	if err == nil && (info == nil || !info.IsDir()) {
		err = p.fail(fail.Usage, "correct the path; the folder that a server shows to a user is often not the one that its owner sees, and /~/ begins in that of the user", "there is no folder %s", p.at(folder))
	}
	return err
}
