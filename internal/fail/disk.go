package fail

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Disk gives an error of the file system its class, Resources, and its remedy; nil stays
// nil, and an *Error is itself. format and args say what could not be done.
func Disk(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	e := Wrap(Resources, err, "%s", fmt.Sprintf(format, args...))
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return e.WithHint("free disk and run again; nothing was published")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return e.WithHint("make the folder writable, or name another one with --out")
	}
	return e
}
