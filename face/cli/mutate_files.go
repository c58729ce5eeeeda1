package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/thresh-dev/thresh/app"
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
	name   string // of what is read
	read   int64
	twice  int // ids that came again
	ids    map[string]bool
	past   diag.List
	faults diag.List // records that are no seeds; the others are mutated
}

// mostIDs is how many ids of seeds are told apart: a stream may have no end.
const mostIDs = 1 << 16

// mostTwice is how many ids that come again are told.
const mostTwice = 20

// meet doubts an id that an earlier seed has: their children have the same ids.
func (in *seedInput) meet(id string) {
	switch {
	case in.ids[id] && in.twice < mostTwice:
		in.twice++
		in.past = append(in.past, in.reader.Doubt("seed-twice", fmt.Sprintf("the id %q is that of an earlier seed: children of both have the same testcase_id", id)))
	case len(in.ids) < mostIDs:
		if in.ids == nil {
			in.ids = make(map[string]bool)
		}
		in.ids[id] = true
	}
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
		in.meet(seed.ID)
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
	if len(in.f.in) == 0 || in.f.in[in.opened] == "-" {
		in.opened++
		in.begin(in.a.io.In, "standard input")
		return nil
	}
	name := in.f.in[in.opened]
	in.opened++
	file, err := os.Open(name)
	if err != nil {
		return diag.Refused("%s: %s", name, app.Reason(err))
	}
	in.file = file
	in.begin(file, name)
	return nil
}

func (in *seedInput) begin(r io.Reader, name string) {
	in.name = name
	in.reader = operator.NewSeedReader(r, name, operator.Format(in.f.format))
	in.reader.Constraints.TrimTrailing = in.f.trim
}

// done ends a file.
func (in *seedInput) done() {
	in.past = append(in.past, in.reader.Warnings()...)
	if n := in.reader.Blocked(); n > 0 {
		in.past = append(in.past, diag.Diagnostic{Code: "operator.seed-blocked", Level: diag.Warning, Pos: diag.Pos{File: in.name, Line: 1, Col: 1}, Message: fmt.Sprintf("records with is_mutable false: %d are not mutated", n)})
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

// partnersOf reads the texts that seeds are crossed with.
func partnersOf(f *mutateFlags) ([]string, error) {
	if f.partners == "" {
		return nil, nil
	}
	file, err := os.Open(f.partners)
	if err != nil {
		return nil, diag.Refused("%s: %s", f.partners, app.Reason(err))
	}
	defer file.Close()
	r := operator.NewSeedReader(file, f.partners, "")
	r.Constraints.TrimTrailing = f.trim
	var seeds []mutator.Seed
	var faults diag.List
	for {
		seed, err := r.Next()
		var list diag.List
		switch {
		case errors.Is(err, io.EOF) && len(faults) > 0:
			return nil, faults
		case errors.Is(err, io.EOF) && len(seeds) == 0:
			return nil, diag.Refused("%s: there is no seed in it", f.partners)
		case errors.Is(err, io.EOF):
			return operator.PartnerTexts(seeds), nil
		case errors.As(err, &list):
			faults = append(faults, list...)
		case err != nil:
			return nil, err
		default:
			seeds = append(seeds, *seed)
		}
	}
}

// childOutput is where children go.
type childOutput struct {
	w    *bufio.Writer
	file *os.File
	from int64 // the first seed that may lack children in the file
	// again is what the file holds from there on: the same children are made
	// first, or else the file was begun with other flags. line is its next line.
	again *bufio.Reader
	line  int
}

// openChildren opens the output. A file that children are added to is gone
// through again from its last seed on, which may not have all of its children.
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
	var at, last int64
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
		if k.Ordinal != o.from || line == 1 {
			o.from, last, o.line = k.Ordinal, at, line
		}
		at += int64(len(text))
	}
	if torn {
		fmt.Fprintf(a.io.Err, "note: the last line of %s was torn; it is made again\n", f.out)
	}
	if err := o.file.Truncate(at); err != nil {
		return diag.Environment("cutting %s: %w", f.out, err)
	}
	if _, err := o.file.Seek(at, io.SeekStart); err != nil {
		return diag.Environment("going on with %s: %w", f.out, err)
	}
	o.again = bufio.NewReader(io.NewSectionReader(o.file, last, at-last))
	return nil
}

func (o *childOutput) write(line []byte) error {
	if o.again != nil {
		there, err := o.again.ReadBytes('\n')
		switch {
		case err == nil && bytes.Equal(there[:len(there)-1], line):
			o.line++
			return nil
		case err == nil:
			return o.other()
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

// other is the error for a file that holds what is not made now.
func (o *childOutput) other() error {
	return diag.WithHint(diag.Refused("%s:%d: another child stands there than is made now; nothing was changed", o.file.Name(), o.line),
		"give the flags, the seeds and the operators that the file was begun with")
}

// done is called when all children were made.
func (o *childOutput) done() error {
	if o.again == nil {
		return nil
	}
	if _, err := o.again.Peek(1); err == nil {
		return o.other()
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
