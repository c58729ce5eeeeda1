package operator

import (
	"errors"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
)

// seedInput reads the seeds of all input files, one file after another.
type seedInput struct {
	d      campaign.Desk
	f      *mutateFlags
	given  mutator.Filter // bucket and surface from the flags
	from   int64          // earlier seeds have their children already
	opened int
	file   io.Closer
	reader *SeedReader
	name   string // of the current file
	read   int64
	twice  int // number of repeated ids
	ids    map[string]bool
	past   diag.List
	faults diag.List // records that are not seeds; the others are mutated
}

// mostIDs limits the ids that are remembered: a stream may be endless.
const mostIDs = 1 << 16

// mostTwice limits the reported repeated ids.
const mostTwice = 20

// checkID warns about an id that an earlier seed has: their children would have the same ids.
func (in *seedInput) checkID(id string) {
	switch {
	case in.ids[id] && in.twice < mostTwice:
		in.twice++
		in.past = append(in.past, in.reader.Doubt("seed-twice", fmt.Sprintf("an earlier seed has the id %q too: children of both would have the same testcase_id", id)))
	case len(in.ids) < mostIDs:
		if in.ids == nil {
			in.ids = make(map[string]bool)
		}
		in.ids[id] = true
	}
}

// mostFaults is the number of faults after which reading ends: a file of another kind has one in
// every line.
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
		if list, ok := errors.AsType[diag.List](err); ok {
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
		in.checkID(seed.ID)
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
		in.begin(in.d.In(), "standard input")
		return nil
	}
	name := in.f.in[in.opened]
	in.opened++
	file, err := in.d.Open(name)
	if err != nil {
		return diag.Refused("%s: %s", name, cause(err))
	}
	in.file = file
	in.begin(file, name)
	return nil
}

func (in *seedInput) begin(r io.Reader, name string) {
	in.name = name
	in.reader = NewSeedReader(r, name, Format(in.f.format))
	in.reader.Constraints.TrimTrailing = in.f.trim
}

// done finishes a file.
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
		_ = in.file.Close() // it was only read
		in.file = nil
	}
}

// warnings returns the warnings about the seeds.
func (in *seedInput) warnings() diag.List {
	list := in.past
	if in.reader != nil {
		list = append(list, in.reader.Warnings()...)
	}
	return list
}

// partnersOf reads the texts that seeds are crossed with.
func partnersOf(d campaign.Desk, f *mutateFlags) ([]string, error) {
	if f.partners == "" {
		return nil, nil
	}
	file, err := d.Open(f.partners)
	if err != nil {
		return nil, diag.Refused("%s: %s", f.partners, cause(err))
	}
	defer file.Close()
	r := NewSeedReader(file, f.partners, "")
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
			return PartnerTexts(seeds), nil
		case errors.As(err, &list):
			faults = append(faults, list...)
		case err != nil:
			return nil, err
		default:
			seeds = append(seeds, *seed)
		}
	}
}
