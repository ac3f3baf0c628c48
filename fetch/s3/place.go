package s3

import (
	"context"
	"io"

	"github.com/recon-batch/recon-batch/fetch"
)

// Store implements fetch.Storer: the bucket of a source. Entries have the ETag as their
// version, by which they are read.
func (u Puller) Store(ctx context.Context, r *fetch.Request) (fetch.Store, string, error) {
	p, err := u.begin(ctx, r)
	if err != nil {
		return nil, "", err
	}
	return place{p}, p.st.key, nil
}

// place is a bucket as a place with files.
type place struct{ p *pull }

// List implements fetch.Store: all pages of the listing.
func (s place) List(ctx context.Context, pattern string, literal bool) ([]fetch.Entry, error) {
	objects, err := s.p.find(ctx, pattern, literal)
	if err != nil {
		return nil, err
	}
	out := make([]fetch.Entry, len(objects))
	for i, o := range objects {
		out[i] = fetch.Entry{Name: o.key, Size: o.size, Modified: o.changed, Version: o.etag}
	}
	return out, nil
}

// Open implements fetch.Store.
func (s place) Open(ctx context.Context, e fetch.Entry) (io.ReadCloser, error) {
	return io.NopCloser(s.p.reader(ctx, &object{key: e.Name, size: e.Size, etag: e.Version})), nil
}

// Close implements fetch.Store.
func (s place) Close() error { return nil }
