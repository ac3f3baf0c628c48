// Package testversity gives a test an S3 server of its own: versitygw over a fresh folder,
// on an address of this machine. Only tests import it.
package testversity

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Version is that of scripts/install-versitygw, which builds it.
const Version = "1.8.0"

// tester is what Start needs of a test.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	TempDir() string
	Cleanup(func())
}

// Server is a running server.
type Server struct {
	Endpoint  string // http://127.0.0.1:port; it wants the bucket in the path
	AccessKey string
	SecretKey string
	Dir       string // of the buckets: a folder each, a file for each object
}

// Region is what requests to the server are signed for.
const Region = "us-east-1"

// Start starts a server that ends with the test. Where versitygw is not built the test is
// skipped, and says so; with CI=true it fails.
func Start(t tester) *Server {
	t.Helper()
	program, err := find()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v", err)
		}
		t.Skipf("NOT TESTED: %v", err)
	}
	dir := t.TempDir()
	s := &Server{AccessKey: "AKIATESTVERSITY", SecretKey: "secret-of-the-test-server", Dir: filepath.Join(dir, "data")}
	versions := filepath.Join(dir, "versions")
	for _, d := range []string{s.Dir, versions} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatalf("%v", err)
		}
	}
	// A port that is free now may be taken before the server has it: then another one.
	var said string
	for range 5 {
		address, err := free()
		if err != nil {
			t.Fatalf("%v", err)
		}
		if said = s.start(t, program, address, versions); s.Endpoint != "" {
			return s
		}
	}
	t.Fatalf("versitygw does not start: %s", said)
	return nil
}

// start gives the server an address; Endpoint stays empty where it does not answer there.
func (s *Server) start(t tester, program, address, versions string) (said string) {
	t.Helper()
	out := &output{}
	cmd := exec.Command(program, "--port", address, "--keep-alive", "--quiet", "posix", "--versioning-dir", versions, s.Dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Dir, "ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.SecretKey}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop := func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	for {
		res, err := http.Get("http://" + address + "/")
		if err == nil {
			res.Body.Close()
			s.Endpoint = "http://" + address
			t.Cleanup(stop)
			return ""
		}
		select {
		case <-ended:
			return out.String()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// output keeps what the server says.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.b.Len() > 1<<16 {
		return len(p), nil
	}
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// find looks for the program in the cache folder of this user.
func find() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "recon-batch", "versitygw-"+Version, "versitygw")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("versitygw %s is missing: scripts/install-versitygw builds it", Version)
	}
	return path, nil
}

func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Env takes away whatever this machine says of AWS, and puts the keys of the server into two
// environment variables.
func (s *Server) Env(t interface{ Setenv(name, value string) }, access, secret string) {
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_PROFILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
		access: s.AccessKey, secret: s.SecretKey,
	} {
		t.Setenv(name, value)
	}
}

// Client asks the server itself, past whatever stands in front of it in a test.
func (s *Server) Client() *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &s.Endpoint, Region: Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
	})
}
