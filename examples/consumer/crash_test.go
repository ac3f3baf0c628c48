//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const victimEnv = "CONSUMER_VICTIM" // the point at which this process stops and waits to be killed

// victim is a consumer in a process of its own: it applies the item that it is given,
// says when it has reached the point, and does no more.
func victim() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, os.Getenv("CONSUMER_DSN"))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var it Item
	if err := json.Unmarshal([]byte(os.Getenv("CONSUMER_ITEM")), &it); err != nil {
		fmt.Println("error", err)
		return
	}
	c := &Consumer{DB: db, at: func(point string) {
		if point == os.Getenv(victimEnv) {
			fmt.Println("reached")
			select {}
		}
	}}
	r, err := c.Apply(ctx, it)
	fmt.Println("answered", r, err)
}

// A consumer that is killed between its steps leaves all of its work or none: the next
// delivery applies the item, or gets the stored answer. It is sent once.
func TestKilled(t *testing.T) {
	s := newShop(t, server(t))
	want := map[string]int{}
	for point, stored := range map[string]bool{"claimed": false, "acted": false, "committed": true} {
		for n := range 3 {
			id := fmt.Sprint(point, "-", n)
			s.stuck(id)
			want[id] = 1
			item, err := json.Marshal(requeueOf(id))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), victimEnv+"="+point, "CONSUMER_DSN="+s.dsn, "CONSUMER_ITEM="+string(item))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || strings.TrimSpace(line) != "reached" {
				t.Fatalf("%q, %v", line, err)
			}
			// A second delivery while the first hangs waits for it, and takes over once it is dead.
			second := make(chan Result, 1)
			go func() {
				r, err := (&Consumer{DB: s.db}).Apply(context.Background(), requeueOf(id))
				if err != nil {
					t.Error(err)
				}
				second <- r
			}()
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed, which is its error
			select {
			case r := <-second:
				if r.Outcome != Applied || r.Stored != stored {
					t.Errorf("killed when %s: the next delivery got %+v, want stored %t", point, r, stored)
				}
			case <-time.After(time.Minute):
				t.Fatalf("killed when %s: the item is locked for ever", point)
			}
			if n := s.one(`SELECT count(*)::text FROM inbox WHERE item_id = $1 AND outcome = 'applied'`, "item-"+id); n != "1" {
				t.Errorf("%s answers are stored", n)
			}
		}
	}
	s.work()
	s.sent(want)
}

// The connection is lost between update and commit: nothing of it stays.
func TestConnectionLost(t *testing.T) {
	s := newShop(t, server(t))
	s.stuck("a")
	c := &Consumer{DB: s.db, at: func(point string) {
		if point == "acted" {
			s.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`)
		}
	}}
	if r, err := c.Apply(t.Context(), requeueOf("a")); err == nil {
		t.Fatalf("the connection was lost, and the answer is %+v", r)
	}
	if got := s.one(`SELECT state || ' ' || (SELECT count(*) FROM inbox) FROM operation`); got != "processing 0" {
		t.Errorf("left behind: %s", got)
	}
	if r := apply(t, &Consumer{DB: s.db}, requeueOf("a")); r != (Result{Outcome: Applied}) {
		t.Errorf("%+v", r)
	}
	s.work()
	s.sent(map[string]int{"a": 1})
}
