// Consumer applies the queues of recon-batch to an operation register in PostgreSQL:
// it checks each item again at the moment of acting, changes the register row only
// while it is as it was seen, and gives a second delivery the stored answer.
//
//	consumer -dsn "host=… dbname=…" init
//	consumer -dsn "host=… dbname=…" apply out/JOB/DATE/current/queues/requeue.ndjson …
//	consumer -dsn "host=… dbname=…" export > operations.csv
//
// It is an example to copy: docs/queues.md has the contract, docs/workers-go.md the guide.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed schema.sql
var schema string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("consumer", flag.ContinueOnError)
	dsn := flags.String("dsn", os.Getenv("DATABASE_URL"), "connection string of the register's database")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := pgxpool.New(ctx, *dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	switch flags.Arg(0) {
	case "init":
		_, err := db.Exec(ctx, schema)
		return err
	case "export":
		return Export(ctx, db, out)
	case "apply":
		c := &Consumer{DB: db}
		for _, name := range flags.Args()[1:] {
			if err := c.ApplyFile(ctx, name, out); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	return errors.New("usage: consumer -dsn DSN init | apply FILE.ndjson … | export")
}

// ApplyFile applies every item of a file and prints each answer. It stops at an error
// of the database; run it again, what was decided stays decided.
func (c *Consumer) ApplyFile(ctx context.Context, name string, out io.Writer) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	return ReadItems(f, func(it Item) error {
		r, err := c.Apply(ctx, it)
		if err != nil {
			return err
		}
		stored := ""
		if r.Stored {
			stored = " (before)"
		}
		_, err = fmt.Fprintf(w, "%s %s %s: %s%s %s\n", it.ItemID, it.Queue, it.OperationID, r.Outcome, stored, r.Why)
		return err
	})
}
