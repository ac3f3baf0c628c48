// Consumer applies the queues of recon-batch to an operation register in PostgreSQL:
// it checks each item again at the moment of acting, changes the register row only
// while it is as it was seen, and gives a second delivery the stored answer.
//
//	consumer -dsn "host=… dbname=…" init
//	consumer -dsn "host=… dbname=…" apply out/JOB/DATE/current/queues/*.ndjson
//	consumer -dsn "host=… dbname=…" export > operations.csv
//
// It is an example to copy: docs/queues.md has the contract, docs/workers-go.md the guide.
package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
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
		names := flags.Args()[1:]
		// What was withdrawn is known before anything is applied.
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
		for _, name := range names {
			if err := c.ApplyFile(ctx, name, out); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	return errors.New("usage: consumer -dsn DSN init | apply FILE.ndjson … | export")
}

func withdrawals(name string) bool { return filepath.Base(name) == "withdrawn.ndjson" }

func order(name string) int {
	if withdrawals(name) {
		return 0
	}
	return 1
}

// ApplyFile applies every item of a file and prints each answer, or takes in a list of
// withdrawn items. It stops at an error
// of the database; run it again, what was decided stays decided.
func (c *Consumer) ApplyFile(ctx context.Context, name string, out io.Writer) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if withdrawals(name) {
		return readLines(f, func(w Withdrawal) error { return c.Withdraw(ctx, w.ItemID, w.RunID) })
	}
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	return ReadItems(f, func(it Item) error {
		r, err := c.Apply(ctx, it)
		if err != nil {
			return fmt.Errorf("item %s: %w", it.ItemID, err)
		}
		stored := ""
		if r.Stored {
			stored = " (before)"
		}
		_, err = fmt.Fprintf(w, "%s %s %s: %s%s %s\n", it.ItemID, it.Queue, it.OperationID, r.Outcome, stored, r.Why)
		return err
	})
}
