package testproxy

import (
	"io"
	"net"
	"sync"
)

// TCP is a proxy of bytes, for protocols other than HTTP.
type TCP struct {
	Addr string // host:port to connect to in the place of the server

	mu     sync.Mutex
	limit  func(n int) int64 // bytes from the server after which the n-th connection is reset; 0: none
	number int
	conns  map[net.Conn]bool
}

// NewTCP starts a proxy in front of the server at network and address. It ends with the
// test.
func NewTCP(t tester, network, address string) *TCP {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := &TCP{Addr: l.Addr().String(), conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); p.Reset(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.serve(client, network, address) })
		}
	})
	return p
}

// Limit says after how many bytes from the server a connection is reset; connections
// count from 1 from now on, and 0 lets one pass.
func (p *TCP) Limit(of func(n int) int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.number = of, 0
}

// Connections counts those since the limit was set.
func (p *TCP) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number
}

// Reset resets all open connections.
func (p *TCP) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		reset(c)
	}
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

func (p *TCP) serve(client net.Conn, network, address string) {
	defer client.Close()
	server, err := net.Dial(network, address)
	if err != nil {
		reset(client)
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.number++
	most := int64(0)
	if p.limit != nil {
		most = p.limit(p.number)
	}
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, client)
		delete(p.conns, server)
		p.mu.Unlock()
	}()
	up := make(chan struct{})
	go func() {
		defer close(up)
		io.Copy(server, client)
		server.Close()
	}()
	if most > 0 {
		if n, _ := io.Copy(client, io.LimitReader(server, most)); n == most {
			reset(client)
		}
	} else {
		io.Copy(client, server)
	}
	client.Close()
	<-up
}
