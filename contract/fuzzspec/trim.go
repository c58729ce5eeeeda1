package fuzzspec

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/process"
)

// An input that joins the corpus is shortened first, as in AFL and libFuzzer, so that no mutation
// is wasted on parts that do not matter and no case has to read them. The outcome lists the parts
// that were cut, so that folding yields the same input.

const (
	trimEvery = 8       // bytes of an input per run
	trimMost  = 64      // runs in total
	trimWork  = 1 << 20 // edges that these runs may take
	trimIndex = 257     // index of no case that is cross-checked
)

// span is a part of an input.
type span struct{ at, length int }

// trim returns the parts that an input does not need, in the order of their removal: without them
// it still ends normally and takes all tuples that no earlier round has seen. The returned tuples
// and work are those of the shortened input. late means that time ended one of the runs, so that
// another attempt might cut more.
func (x *executor) trim(ctx context.Context, s *state, pc process.Case, tuples []uint32, work uint64) (cuts []span, late bool, left process.Case, _ []uint32, _ uint64, err error) {
	fresh := seq.Filter(tuples, s.unseen)
	pc.Index = trimIndex
	runs := min(len(pc.Input)/trimEvery, trimMost, int(trimWork/(work+1)))
	try := func(input []byte) (process.Result, bool, error) {
		res, err := x.runner.Run(ctx, process.Case{Index: pc.Index, RunID: pc.RunID, Input: input, Budget: pc.Budget})
		late = late || res.Status == process.SetAside
		if err != nil || res.Status != process.Exited || res.OutputLimit {
			return res, false, err
		}
		missing := slices.ContainsFunc(fresh, func(t uint32) bool {
			_, ok := slices.BinarySearch(res.Edges, t)
			return !ok
		})
		return res, !missing, nil
	}
	input := pc.Input
	for size := (len(input) + 1) / 2; size > 0 && runs > 1; size /= 2 {
		for at := len(input) - size; at >= 0 && runs > 1; at -= size {
			runs--
			shorter := slices.Concat(input[:at], input[at+size:])
			if _, ok, err := try(shorter); err != nil {
				return nil, late, pc, tuples, work, err
			} else if ok {
				input, cuts = shorter, append(cuts, span{at, size})
			}
		}
	}
	if len(cuts) == 0 {
		return nil, late, pc, tuples, work, nil
	}
	res, ok, err := try(input)
	if err != nil || !ok { // this is chance, which must not decide
		return nil, late, pc, tuples, work, err
	}
	pc.Input = input
	return cuts, late, pc, slices.Clone(res.Edges), res.Work, nil
}

// withLate prepends to the data of a case that joins the corpus the note that time ended a trimming
// run.
func withLate(late bool, data []byte) []byte {
	if !late {
		return data
	}
	return append([]byte{0, 'l'}, data...)
}

// cutLate splits off that note.
func cutLate(data []byte) (rest []byte, late bool) { return bytes.CutPrefix(data, []byte{0, 'l'}) }

// withTrim prepends the parts to remove to the data of a case that joins the corpus.
func withTrim(cuts []span, data []byte) []byte {
	if len(cuts) == 0 {
		return data
	}
	b := binary.AppendUvarint([]byte{0, 's'}, uint64(len(cuts)))
	for _, c := range cuts {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.at)), uint64(c.length))
	}
	return append(b, data...)
}

// cutTrim splits them off, and returns a function that removes them from an input.
func cutTrim(data []byte) (trimmed func(input []byte) []byte, rest []byte) {
	same := func(input []byte) []byte { return input }
	if len(data) < 2 || data[0] != 0 || data[1] != 's' {
		return same, data
	}
	rest = data[2:]
	next := func() int {
		v, n := binary.Uvarint(rest)
		rest = rest[max(n, 0):]
		return int(min(v, 1<<40))
	}
	var cuts []span
	for range min(next(), trimMost) {
		cuts = append(cuts, span{next(), next()})
	}
	return func(input []byte) []byte {
		for _, c := range cuts {
			if c.at+c.length <= len(input) {
				input = slices.Concat(input[:c.at], input[c.at+c.length:])
			}
		}
		return input
	}, rest
}
