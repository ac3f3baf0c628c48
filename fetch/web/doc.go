// Package web is the HTTP client of all sources. It asks only whom the job names, sends
// again only what may be sent again, and ends when the run has to.
//
// # Whom it asks
//
// The host of a URL of the job file, and those of `hosts`. Addresses are checked when they
// are dialled, after the name was resolved, so that a name cannot point elsewhere in the
// meantime. Link-local addresses (among them the metadata services of clouds), multicast
// and unspecified ones are always refused; private ones need `allow_private: true`, and
// this machine needs in addition that the URL itself names it (localhost, 127.0.0.1,
// ::1). http goes to such addresses alone. Proxies of the environment are not used: behind
// one, nobody would know whom we ask. Redirects are followed for GET and HEAD, on the same
// origin, at most three, and without credentials.
//
// # What is sent again
//
// GET, HEAD, and a POST that is declared safe: after an error of the network, a body that
// breaks off, and the answers 408, 425, 429, 500, 502, 503 and 504. Waits double and are
// taken at random from zero up (full jitter); Retry-After is waited for in full, but where
// it ends after the run has to, the request ends at once. After an answer 401 what proves
// who asks is renewed once.
//
// # Errors
//
// They are *fail.Error: Temporary for what may be otherwise later, Usage for what the job
// file has to change, Input for answers that are too large or cannot be read. No text of
// them holds a query, a header or a secret.
package web
