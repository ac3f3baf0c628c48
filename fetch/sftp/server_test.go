package sftp

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// server is a real SSH server with the library's own SFTP, over files in memory, for faults
// that OpenSSH cannot be brought to.
type server struct {
	t    testing.TB
	addr string

	mu       sync.Mutex
	config   *ssh.ServerConfig
	key      ssh.Signer
	packet   int                                // bytes that it answers with at most; 0: what it is asked for
	fault    func(op, name string, n int) error // called before the n-th operation on a name, from 0; without the lock
	count    map[string]int                     // of operations on names
	files    map[string]entry                   // by path
	twice    bool                               // it lists every file twice
	logins   int                                // times that somebody tried to prove who they are
	conns    map[net.Conn]bool                  //
	finished chan struct{}
}

// entry is a file of the server, or with a nil body a folder.
type entry struct {
	body []byte
	at   time.Time
}

const password = "the-password-of-the-test"

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, count: map[string]int{}, files: map[string]entry{"/in": {nil, noon}}, conns: map[net.Conn]bool{}, finished: make(chan struct{})}
	s.key = newKey(t)
	s.config = &ssh.ServerConfig{
		PasswordCallback: func(_ ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.logins++; string(given) != password {
				return nil, errors.New("no")
			}
			return nil, nil
		},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	var all sync.WaitGroup
	t.Cleanup(func() { close(s.finished); l.Close(); s.reset(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.serve(c) })
		}
	})
	return s
}

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (s *server) put(name string, body []byte, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body == nil {
		body = []byte{}
	}
	s.files["/in/"+name] = entry{body, at}
}

func (s *server) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, "/in/"+name)
}

// set changes the server while nothing is asked of it.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// spoil sets the fault, and forgets what was counted.
func (s *server) spoil(f func(op, name string, n int) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.count = f, map[string]int{}
}

// counted tells how often something was done.
func (s *server) counted(op, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[op+" "+name]
}

// tried tells how often somebody tried to prove who they are.
func (s *server) tried() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// reset ends all connections.
func (s *server) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // it is closed at once anyway
		}
		c.Close()
	}
}

func (s *server) serve(c net.Conn) {
	s.mu.Lock()
	s.conns[c] = true
	config := *s.config
	config.AddHostKey(s.key)
	s.mu.Unlock()
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	conn, channels, requests, err := ssh.NewServerConn(c, &config)
	if err != nil {
		return // the client has seen it
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	for n := range channels {
		channel, asked, err := n.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range asked {
				_ = r.Reply(r.Type == "subsystem", nil) // the client sees a broken connection
			}
		}()
		server := sftp.NewRequestServer(channel, sftp.Handlers{FileGet: s, FilePut: s, FileCmd: s, FileList: s})
		_ = server.Serve() // it ends with the client, or with what the test does to it
		channel.Close()
	}
}

func (s *server) before(op, name string) error {
	name = path.Base(name)
	s.mu.Lock()
	n, f := s.count[op+" "+name], s.fault
	s.count[op+" "+name]++
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	return f(op, name, n)
}

func (s *server) find(name string) (info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.files[name]
	if !ok {
		return info{}, fs.ErrNotExist
	}
	return info{path.Base(name), e}, nil
}

// Fileread is that of sftp.FileReader.
func (s *server) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	if err := s.before("open", r.Filepath); err != nil {
		return nil, err
	}
	_, err := s.find(r.Filepath)
	return &reader{s, r.Filepath}, err
}

// Filewrite is that of sftp.FileWriter: a pull never writes.
func (s *server) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	s.t.Errorf("%s is written", r.Filepath)
	return nil, fs.ErrPermission
}

// Filecmd is that of sftp.FileCmder: a pull changes and deletes nothing.
func (s *server) Filecmd(r *sftp.Request) error {
	s.t.Errorf("%s %s", r.Method, r.Filepath)
	return fs.ErrPermission
}

// Filelist is that of sftp.FileLister.
func (s *server) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	if err := s.before(strings.ToLower(r.Method), r.Filepath); err != nil {
		return nil, err
	}
	it, err := s.find(r.Filepath)
	if err != nil || r.Method != "List" {
		return list{it}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out list
	for name, e := range s.files {
		if path.Dir(name) == r.Filepath {
			for range map[bool]int{false: 1, true: 2}[s.twice] {
				out = append(out, info{path.Base(name), e})
			}
		}
	}
	return out, nil
}

// reader reads a file as it is in the moment.
type reader struct {
	s    *server
	name string
}

func (r *reader) ReadAt(b []byte, off int64) (int, error) {
	if err := r.s.before("read", r.name); err != nil {
		return 0, err
	}
	it, err := r.s.find(r.name)
	if err != nil {
		return 0, err
	}
	r.s.mu.Lock()
	if r.s.packet > 0 {
		b = b[:min(len(b), r.s.packet)]
	}
	r.s.mu.Unlock()
	if off >= it.Size() {
		return 0, io.EOF
	}
	return copy(b, it.body[off:]), nil
}

type info struct {
	name string
	entry
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.body)) }
func (i info) ModTime() time.Time { return i.at }
func (i info) IsDir() bool        { return i.body == nil }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

type list []info

func (l list) ListAt(to []fs.FileInfo, off int64) (int, error) {
	n := 0
	for ; n < len(to) && int(off)+n < len(l); n++ {
		to[n] = l[int(off)+n]
	}
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

// request asks for what a path below /in names.
func (s *server) request(name string, keys ...string) *asked {
	s.t.Helper()
	if !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, "host_keys") }) {
		keys = append(keys, "host_keys: ["+ssh.FingerprintSHA256(s.key.PublicKey())+"]")
	}
	return request(s.t, "sftp://"+s.addr+"/in/"+name, append([]string{"user: reader", "password: {env: SFTP_TEST_PASSWORD}"}, keys...)...)
}
