// Package childfile writes the children of thresh mutate to a file, and continues an interrupted
// one: it makes the children in the file again and compares them. It is an edge: package operator
// itself touches no file.
package childfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
)

// Output is a destination of children.
type Output struct {
	w    *bufio.Writer
	file *os.File
	From int64 // the first seed whose children may be incomplete in the file
	// again is the content of the file from there on: the same children must be made first, or else
	// the file was started with other flags. line is its next line.
	again *bufio.Reader
	line  int
	Torn  bool // the last line of the file is incomplete and is made again
}

// To returns an output to an open writer.
func To(w io.Writer) *Output { return &Output{w: bufio.NewWriterSize(w, 64<<10)} }

// Open opens a file for children. If resume is set, the children of its last seed, which may be
// incomplete, are compared again; derive returns the seed of a child from its testcase id.
func Open(name string, resume bool, derive func(testcase string) uint64) (*Output, error) {
	mode := os.O_RDWR | os.O_CREATE
	if !resume {
		mode |= os.O_TRUNC
	}
	file, err := os.OpenFile(name, mode, 0o644)
	if err != nil {
		return nil, diag.Environment("opening %s: %w", name, err)
	}
	o := &Output{file: file, w: bufio.NewWriterSize(file, 64<<10)}
	if resume {
		if err := o.resume(name, derive); err != nil {
			_ = file.Close() // the error above is the one to report
			return nil, err
		}
	}
	return o, nil
}

// kept holds the fields read from a child in the file.
type kept struct {
	Version  string  `json:"schema_version"`
	Testcase string  `json:"testcase_id"`
	Ordinal  int64   `json:"seed_index"`
	Derived  *uint64 `json:"derived_seed"`
}

func (o *Output) resume(name string, derive func(string) uint64) error {
	r := bufio.NewReaderSize(o.file, 1<<20)
	var at, last int64
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if len(text) == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return diag.Environment("reading %s: %w", name, err)
		}
		if err != nil { // the line end is missing
			o.Torn = true
			break
		}
		var k kept
		if json.Unmarshal(bytes.TrimSpace(text), &k) != nil || k.Version != mutator.ChildVersion || k.Derived == nil {
			return diag.WithHint(diag.Refused("%s:%d: is not a child that thresh mutate wrote; nothing was changed", name, line), "give another file to --out")
		}
		if derive(k.Testcase) != *k.Derived {
			return diag.WithHint(diag.Refused("%s:%d: the child was made with another --seed-base or --rng-rule; nothing was changed", name, line), "give the flags with which the file was started")
		}
		if k.Ordinal != o.From || line == 1 {
			o.From, last, o.line = k.Ordinal, at, line
		}
		at += int64(len(text))
	}
	if err := o.file.Truncate(at); err != nil {
		return diag.Environment("cutting %s: %w", name, err)
	}
	if _, err := o.file.Seek(at, io.SeekStart); err != nil {
		return diag.Environment("continuing %s: %w", name, err)
	}
	o.again = bufio.NewReader(io.NewSectionReader(o.file, last, at-last))
	return nil
}

// Write adds a child.
func (o *Output) Write(line []byte) error {
	if o.again != nil {
		there, err := o.again.ReadBytes('\n')
		switch {
		case err == nil && bytes.Equal(there[:len(there)-1], line):
			o.line++
			return nil
		case err == nil:
			return o.mismatch()
		case !errors.Is(err, io.EOF):
			return diag.Environment("reading %s: %w", o.file.Name(), err)
		}
		o.again = nil
	}
	if _, err := o.w.Write(line); err != nil {
		return diag.Environment("writing children: %w", err)
	}
	if err := o.w.WriteByte('\n'); err != nil {
		return diag.Environment("writing children: %w", err)
	}
	return nil
}

// mismatch is the error for a file whose content differs from the children made now.
func (o *Output) mismatch() error {
	return diag.WithHint(diag.Refused("%s:%d: the child there differs from the one made now; nothing was changed", o.file.Name(), o.line),
		"give the flags, the seeds and the operators with which the file was started")
}

// Done must be called after all children have been made.
func (o *Output) Done() error {
	if o.again == nil {
		return nil
	}
	if _, err := o.again.Peek(1); err == nil {
		return o.mismatch()
	}
	return nil
}

// Close flushes and closes the output.
func (o *Output) Close() error {
	err := o.w.Flush()
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	if err != nil {
		return diag.Environment("writing children: %w", err)
	}
	return nil
}
