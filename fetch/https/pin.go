package https

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch/web"
)

// pin is what the server says about the content of the file.
type pin struct {
	etag     string
	modified string // as it was said
	said     time.Time
	length   int64 // -1 not said
	encoding string
	digests  []digest // of the file, not of an answer
}

// pinOf reads what an answer says.
func pinOf(res *http.Response) *pin {
	h := res.Header
	v := &pin{etag: h.Get("Etag"), modified: h.Get("Last-Modified"), length: res.ContentLength, encoding: strings.ToLower(h.Get("Content-Encoding")), digests: representation(h)}
	if v.encoding == "identity" {
		v.encoding = ""
	}
	v.said, _ = http.ParseTime(h.Get("Date")) // without it nothing is resumed by time
	if res.StatusCode == http.StatusPartialContent {
		_, _, v.length, _ = contentRange(h)
	}
	return v
}

// contentRange reads which part of how many bytes an answer is (RFC 9110 §14.4).
func contentRange(h http.Header) (from, last, total int64, ok bool) {
	var all string
	if n, err := fmt.Sscanf(h.Get("Content-Range"), "bytes %d-%d/%s", &from, &last, &all); n != 3 || err != nil {
		return 0, 0, -1, false
	}
	total, err := strconv.ParseInt(all, 10, 64)
	return from, last, total, err == nil && 0 <= from && from <= last && last < total
}

// text names the content, for what an interrupted pull left.
func (v *pin) text() string {
	return fmt.Sprintf("%s %s %d %s", v.etag, v.modified, v.length, v.encoding)
}

// version is by which the content is pinned, for people.
func (v *pin) version() string {
	if v.etag == "" {
		return ""
	}
	return "ETag " + strings.Trim(v.etag, `"`)
}

// same tells whether two answers are about one content, as far as both say it.
func (v *pin) same(o *pin) bool {
	if v.length >= 0 && o.length >= 0 && v.length != o.length {
		return false
	}
	if v.etag != "" && o.etag != "" {
		return v.etag == o.etag // servers that share a name may have it since different times
	}
	return v.modified == "" || o.modified == "" || v.modified == o.modified
}

// condition is what the rest of a file may be asked for by; "" by nothing. A weak ETag does
// not name bytes, and a time only if it is a minute older than the answer (RFC 9110 §8.8.2).
func (v *pin) condition() string {
	if v.etag != "" && !strings.HasPrefix(v.etag, "W/") {
		return v.etag
	}
	at, err := http.ParseTime(v.modified)
	if v.etag != "" || err != nil || v.said.Sub(at) < time.Minute {
		return ""
	}
	return v.modified
}

// look asks what the server has; nil where it has no file.
func (p *pull) look(ctx context.Context) (*pin, error) {
	var now *pin
	// HEAD may be forbidden where GET is not, and an answer to it that there is no file may
	// mean that there is no HEAD.
	err := p.c.Do(ctx, &web.Call{Method: http.MethodHead, URL: p.at, Header: http.Header{"Accept-Encoding": {"identity"}},
		Accept: []int{http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented},
		Read: func(res *http.Response) error {
			if now = nil; res.StatusCode == http.StatusOK {
				now = pinOf(res)
			}
			return nil
		}})
	if now != nil || err != nil {
		return now, err
	}
	return p.first(ctx)
}

// first asks for the first byte, to see what the server has; nil where it has no file.
func (p *pull) first(ctx context.Context) (now *pin, err error) {
	err = p.c.Do(ctx, &web.Call{URL: p.at, Header: http.Header{"Accept-Encoding": {"identity"}, "Range": {"bytes=0-0"}},
		Accept: []int{http.StatusOK, http.StatusPartialContent, http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable},
		Read: func(res *http.Response) error {
			now = nil
			switch res.StatusCode {
			case http.StatusOK, http.StatusPartialContent:
				now = pinOf(res)
			case http.StatusRequestedRangeNotSatisfiable: // it is empty
				if now = pinOf(res); res.Header.Get("Content-Range") == "bytes */0" {
					now.length = 0
				} else {
					now.length = -1
				}
			}
			return nil
		}})
	return now, err
}
