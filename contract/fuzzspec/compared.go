package fuzzspec

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/port/process"
)

// Each input that joins the corpus runs once more on a program that reports its comparisons. Where
// an operand occurs in the input, cases are staged with the other operand in its place; operands
// that are words join the dictionary. All of it is part of the outcome, and folded.

const (
	comparedMost   = 128     // comparisons kept per input
	comparedPart   = 1 << 16 // bytes examined of an input
	comparedSeeds  = 256     // seeds whose comparisons are read
	stagedOfOne    = 256     // cases staged per input
	stagedMost     = 4096    // waiting cases
	stagedAlike    = 8       // inputs in which the same operand is replaced by the same other one
	rememberedMost = 1 << 16 // pairs of operands whose uses are counted
	learnedMost    = 256     // words
)

// learning is what a guided campaign knows about the program's comparisons.
type learning struct {
	staged []bytemut.Staged // waiting cases, in order
	words  [][]byte         // from the program's file, then from its comparisons
	uses   map[uint64]uint8 // number of inputs in which a pair of operands was tried
}

// listen returns the comparisons that the program makes on an input, encoded for an outcome and
// limited to the usable ones; listens reports whether the program makes any.
func (c *Campaign) listen(ctx context.Context, r process.Runner, pc process.Case) (_ []byte, listens bool, _ error) {
	l, ok := r.(process.Comparer)
	if !ok {
		return nil, false, nil
	}
	list, err := l.Compare(ctx, pc)
	if err != nil {
		return nil, false, err
	}
	part := bytemut.NewHaystack(pc.Input[:min(len(pc.Input), comparedPart)])
	var b []byte
	n := 0
	for _, found := range list {
		if !part.Teaches(bytemut.Comparison{Kind: bytemut.ComparisonKind(found.Kind), Constant: found.Constant, A: found.A, B: found.B}) {
			continue
		}
		kind := byte(found.Kind) << 1
		if found.Constant {
			kind |= 1
		}
		b = append(b, kind, byte(len(found.A)), byte(len(found.B)))
		b = append(append(b, found.A...), found.B...)
		if n++; n == comparedMost {
			break
		}
	}
	return b, len(list) > 0, nil
}

// decodeCompared decodes the result of listen.
func decodeCompared(b []byte) (list []bytemut.Comparison) {
	for len(b) >= 3 {
		kind, i, j := b[0], 3+int(b[1]), 3+int(b[1])+int(b[2])
		if j > len(b) {
			break
		}
		list = append(list, bytemut.Comparison{Kind: bytemut.ComparisonKind(kind >> 1), Constant: kind&1 != 0, A: b[3:i], B: b[i:j]})
		b = b[j:]
	}
	return list
}

// withCompared prepends comparisons to the data of a case that joins the corpus.
func withCompared(compared, kept []byte) []byte {
	if len(compared) == 0 || kept == nil {
		return kept
	}
	b := binary.AppendUvarint([]byte{0, 'c'}, uint64(len(compared)))
	return append(append(b, compared...), kept...)
}

// cutCompared splits off the comparisons.
func cutCompared(data []byte) (compared, kept []byte) {
	if len(data) < 2 || data[0] != 0 || data[1] != 'c' {
		return nil, data
	}
	size, n := binary.Uvarint(data[2:])
	data = data[2+max(n, 0):]
	size = min(size, uint64(len(data)))
	return data[:size], data[size:]
}

// learn stages cases that the comparisons of a corpus input suggest.
func (s *state) learn(parent int, compared []byte) {
	list := decodeCompared(compared)
	if len(list) == 0 {
		return
	}
	input := s.corpus[parent][:min(len(s.corpus[parent]), comparedPart)]
	part := bytemut.NewHaystack(input)
	for _, w := range part.Words(list) {
		if len(s.words) < len(s.facts.Words)+learnedMost && !slices.ContainsFunc(s.words, func(known []byte) bool { return bytes.Equal(known, w) }) {
			s.words = append(slices.Clip(s.words), w)
		}
	}
	uses := maps.Clone(s.uses)
	if uses == nil || len(uses) > rememberedMost {
		uses = map[uint64]uint8{}
	}
	here := map[uint64]bool{}
	staged := slices.Clip(s.staged)
	for _, sub := range part.Substitutions(list, stagedOfOne) {
		if len(staged) == stagedMost {
			break
		}
		h := fnv.New64a()
		h.Write(input[sub.At : sub.At+sub.Length])
		h.Write([]byte{0, byte(len(sub.Value))})
		h.Write(sub.Value)
		pair := h.Sum64()
		if !here[pair] {
			if here[pair] = true; uses[pair] == stagedAlike {
				here[pair] = false
				continue
			}
			uses[pair]++
		}
		staged = append(staged, bytemut.Staged{Parent: parent, Substitution: sub})
	}
	s.staged, s.uses = staged, uses
}
