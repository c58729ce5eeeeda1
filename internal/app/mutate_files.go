package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
)

// seedInput is the seeds of all input files, one after the other.
type seedInput struct {
	a      *application
	f      *mutateFlags
	given  mutator.Filter // bucket and surface of the flags
	from   int64          // seeds before this one have their children already
	opened int
	file   *os.File
	reader *operator.SeedReader
	read   int64
	past   diag.List
	faults diag.List // records that are no seeds; the others are mutated
}

// mostFaults is how many faults of seeds are told before reading ends: a file
// of another kind has one in every line.
const mostFaults = 1000

// next returns the next seed, or io.EOF.
func (in *seedInput) next() (*mutator.Seed, error) {
	for {
		if in.reader == nil && in.opened >= max(len(in.f.in), 1) {
			return nil, io.EOF
		}
		if in.reader == nil {
			if err := in.open(); err != nil {
				return nil, err
			}
		}
		seed, err := in.reader.Next()
		if errors.Is(err, io.EOF) {
			in.done()
			continue
		}
		var list diag.List
		if errors.As(err, &list) {
			in.read++
			if in.faults = append(in.faults, list...); len(in.faults) >= mostFaults {
				return nil, io.EOF
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		seed.Ordinal = in.read
		in.read++
		if seed.Ordinal >= in.from {
			in.route(seed)
			return seed, nil
		}
	}
}

// route gives a seed the bucket and surface of the flags.
func (in *seedInput) route(seed *mutator.Seed) {
	if in.given.Bucket != "" {
		seed.Bucket, seed.BucketTag = in.given.Bucket, in.f.bucket
	}
	if in.given.Surface != "" {
		seed.Surface, seed.SurfaceTag = in.given.Surface, in.f.surface
	}
}

func (in *seedInput) open() error {
	format := operator.Format(in.f.format)
	if len(in.f.in) == 0 || in.f.in[in.opened] == "-" {
		in.opened++
		in.reader = operator.NewSeedReader(in.a.io.In, "standard input", format)
		return nil
	}
	name := in.f.in[in.opened]
	in.opened++
	file, err := os.Open(name)
	if err != nil {
		return diag.Refused("%s: %s", name, reason(err))
	}
	in.file = file
	in.reader = operator.NewSeedReader(file, name, format)
	return nil
}

// done ends a file.
func (in *seedInput) done() {
	in.past = append(in.past, in.reader.Warnings()...)
	if n := in.reader.Blocked(); n > 0 {
		in.past = append(in.past, diag.Diagnostic{Code: "operator.seed-blocked", Level: diag.Warning, Message: fmt.Sprintf("%d records are not mutated: their is_mutable is false", n)})
	}
	in.reader = nil
	in.close()
}

func (in *seedInput) close() {
	if in.file != nil {
		_ = in.file.Close() // was only read
		in.file = nil
	}
}

// warnings is what was doubtful about the seeds.
func (in *seedInput) warnings() diag.List {
	list := in.past
	if in.reader != nil {
		list = append(list, in.reader.Warnings()...)
	}
	return list
}

// childOutput is where children go.
type childOutput struct {
	w    *bufio.Writer
	file *os.File
	from int64 // the first seed that has no children in the file yet
}

// openChildren opens the output. A file that children are added to is cut
// where its last seed begins, which may not have all of its children.
func (a *application) openChildren(f *mutateFlags, m *mutator.Mutator) (*childOutput, error) {
	if f.out == "" || f.out == "-" {
		return &childOutput{w: bufio.NewWriterSize(a.io.Out, 64<<10)}, nil
	}
	mode := os.O_RDWR | os.O_CREATE
	if !f.resume {
		mode |= os.O_TRUNC
	}
	file, err := os.OpenFile(f.out, mode, 0o644)
	if err != nil {
		return nil, diag.Environment("opening %s: %w", f.out, err)
	}
	o := &childOutput{file: file, w: bufio.NewWriterSize(file, 64<<10)}
	if f.resume {
		if err := o.resume(a, f, m); err != nil {
			_ = file.Close() // the error above is the one to tell
			return nil, err
		}
	}
	return o, nil
}

// kept is what is read of a child that is in the file.
type kept struct {
	Version  string  `json:"schema_version"`
	Testcase string  `json:"testcase_id"`
	Ordinal  int64   `json:"seed_index"`
	Derived  *uint64 `json:"derived_seed"`
}

func (o *childOutput) resume(a *application, f *mutateFlags, m *mutator.Mutator) error {
	r := bufio.NewReaderSize(o.file, 1<<20)
	var at, cut int64
	torn := false
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if len(text) == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return diag.Environment("reading %s: %w", f.out, err)
		}
		if err != nil { // without its line end
			torn = true
			break
		}
		var k kept
		if json.Unmarshal(bytes.TrimSpace(text), &k) != nil || k.Version != mutator.ChildVersion || k.Derived == nil {
			return diag.WithHint(diag.Refused("%s:%d: is no child that thresh mutate has written; nothing was changed", f.out, line), "give another file to --out")
		}
		if m.Derive(k.Testcase) != *k.Derived {
			return diag.WithHint(diag.Refused("%s:%d: the child was made with another --seed-base or --rng-rule; nothing was changed", f.out, line), "give the flags that the file was begun with")
		}
		if k.Ordinal != o.from {
			o.from, cut = k.Ordinal, at
		}
		at += int64(len(text))
	}
	if torn {
		fmt.Fprintf(a.io.Err, "note: the last line of %s was torn; it is made again\n", f.out)
	}
	if err := o.file.Truncate(cut); err != nil {
		return diag.Environment("cutting %s: %w", f.out, err)
	}
	if _, err := o.file.Seek(cut, io.SeekStart); err != nil {
		return diag.Environment("going on with %s: %w", f.out, err)
	}
	return nil
}

func (o *childOutput) write(line []byte) error {
	if _, err := o.w.Write(line); err != nil {
		return diag.Environment("writing children: %w", err)
	}
	if err := o.w.WriteByte('\n'); err != nil {
		return diag.Environment("writing children: %w", err)
	}
	return nil
}

func (o *childOutput) close() error {
	err := o.w.Flush()
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	if err != nil {
		return diag.Environment("writing children: %w", err)
	}
	return nil
}
