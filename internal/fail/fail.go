// Package fail gives every expected failure a class, and every class one exit
// status. The table is the one of docs/exit-codes.md; an error without a class
// is a bug and ends with status 1.
//
// It imports none of our packages, so that every stage can use it.
package fail

import (
	"errors"
	"fmt"
)

// Class of an expected failure. Its number is the exit status.
type Class int

// The exit statuses of all commands. 130 and 143 stand for signals.
const (
	OK        Class = 0 // completed, gates pass; there may be work in the queues
	Internal  Class = 1 // a bug
	Usage     Class = 2 // usage or configuration
	Gate      Class = 3 // completed and published, but a gate failed (runs diff: different)
	Input     Class = 4 // input not ready, incomplete, or a control total is wrong
	Temporary Class = 5 // temporary outside failure after retries
	Conflict  Class = 6 // lease held, compare-and-set lost
	Integrity Class = 7 // conservation, digest or audit chain
	Resources Class = 8 // disk, memory, time
	Policy    Class = 9 // refused by policy: blast radius, vacuous run, closed date
	Interrupt Class = 130
	Terminate Class = 143
)

// Error is an expected failure: what went wrong, and what to do about it.
type Error struct {
	Class Class
	Msg   string // one sentence without a full stop; names file, record, column
	Hint  string // the remedy, often the next command to type; may be empty
	Err   error  // cause, may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Msg + ": " + e.Err.Error()
	}
	return e.Msg
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// New makes an Error of the class; format and args give its message.
func New(c Class, format string, args ...any) *Error {
	return &Error{Class: c, Msg: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error of the class around a cause.
func Wrap(c Class, err error, format string, args ...any) *Error {
	return &Error{Class: c, Msg: fmt.Sprintf(format, args...), Err: err}
}

// WithHint returns e with the remedy set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// ClassOf tells the class of err: OK for nil, Internal for an error without one.
func ClassOf(err error) Class {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Internal
}
