package bytemut

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"sort"

	"github.com/thresh-dev/thresh/engine/outline"
)

// DeepVersion names what [Deep] makes of its inputs. It changes whenever the bytes
// of any case change, and belongs to the identity of what depends on them.
const DeepVersion = "deep-1"

// Bounds of [Deep].
const (
	defaultOps  = 8       // most operations of a case by default
	leastLimit  = 1 << 20 // a case may always grow to this size
	growth      = 4       // and to this multiple of the largest seed
	outlineMost = 1 << 16 // larger inputs are outlined in part
	outlinePart = 1 << 12 // bytes of these that are outlined
	outlineNear = 256     // bytes that are outlined once the input has changed
	cachedTrees = 256     // outlines of parents that a buffer keeps
	cachedLarge = 16      // of these, outlines of inputs larger than outlinePart
)

// DeepParams say how [Deep] mutates.
type DeepParams struct {
	MaxBytes   int64 // largest size of a case; 0 or less: bounded only by the size of the seeds
	MaxOps     int   // largest number of operations of a case; negative: 8; 0: none
	Dictionary [][]byte
	Grammar    *Grammar // used by half of the operations; nil: none
	Derived    bool     // recompute the lengths and checksums of the seeds for each case
}

// Deep is the mutator that knows structure. A case has one or more operations: two
// half as often as one, three half as often as two. A Deep never changes.
type Deep struct {
	seeds  [][]byte
	seed   uint64
	limit  int
	maxOps int
	given  [][]byte // the user's dictionary
	found  [][]byte // tokens of the seeds

	grammar *Grammar
	derived [][]Field // fields of each seed
}

// NewDeep returns the mutator for a set of seed inputs, which must not change
// afterwards. rngSeed is the campaign's random seed; nil means 0.
func NewDeep(seeds [][]byte, p DeepParams, rngSeed *big.Int) *Deep {
	if rngSeed == nil {
		rngSeed = new(big.Int)
	}
	sum := sha256.Sum256([]byte(DeepVersion + "/" + rngSeed.String()))
	d := &Deep{
		seeds:  seeds,
		seed:   binary.LittleEndian.Uint64(sum[:]),
		limit:  leastLimit,
		maxOps: p.MaxOps,
		found:  seedTokens(seeds),

		grammar: p.Grammar,
	}
	for _, s := range seeds {
		d.limit = max(d.limit, growth*len(s))
		if p.Derived {
			d.derived = append(d.derived, Derived(s))
		}
	}
	if p.MaxBytes > 0 {
		d.limit = int(min(int64(d.limit), p.MaxBytes))
	}
	if d.maxOps < 0 {
		d.maxOps = defaultOps
	}
	for _, token := range p.Dictionary {
		if len(token) > 0 {
			d.given = append(d.given, token)
		}
	}
	return d
}

// Case implements [Mutator] on the seeds.
func (d *Deep) Case(index int64, buf *Buffer) []byte { return d.CaseOf(d.seeds, index, buf) }

// CaseOf makes a case from a corpus that has grown beyond the seeds. The index
// decides its parent.
func (d *Deep) CaseOf(corpus [][]byte, index int64, buf *Buffer) []byte {
	key := caseKey(d.seed, index)
	if len(corpus) == 0 {
		return d.mutate(nil, nil, key, 0, buf)
	}
	at := d.ParentOf(len(corpus), index)
	out := d.mutate(corpus[at], corpus, key, at, buf)
	if at < len(d.derived) && len(d.derived[at]) > 0 {
		b := &buf.deep
		b.current = deepCase{Deep: d, buf: buf, data: out, op: d.maxOps}
		b.current.rederive(d.derived[at])
		b.data, b.current = b.current.data, deepCase{}
		return b.data
	}
	return out
}

// ParentOf returns the position of a case's parent in a corpus of n inputs, n > 0.
func (d *Deep) ParentOf(n int, index int64) int {
	// A different key, so that the parent does not depend on the operations.
	r := newPRNG(^caseKey(d.seed, index))
	return r.below(n)
}

// Pool is the source of guided cases.
type Pool struct {
	Inputs [][]byte // not empty
	Ends   []uint64 // running sums of the inputs' weights, the last below 2^63; nil: equal weights
	Words  [][]byte // tokens besides those of the user and of the seeds

	// Every second case from First on is one of these, in order.
	Staged []Staged
	First  int64
}

// StagedAt returns the case of an index if it is a staged one.
func (p *Pool) StagedAt(index int64) (Staged, bool) {
	i := index - p.First
	if i < 0 || i%2 == 0 || i/2 >= int64(len(p.Staged)) {
		return Staged{}, false
	}
	return p.Staged[i/2], true
}

// GuidedCase makes a case from a corpus of inputs that reached something new. The
// weights say how often an input is the parent.
func (d *Deep) GuidedCase(p Pool, index int64, buf *Buffer) []byte {
	if st, ok := p.StagedAt(index); ok {
		return d.substitute(p.Inputs[st.Parent], st.Substitution, buf)
	}
	at := d.GuidedParent(p, index)
	buf.deep.words = p.Words
	out := d.mutate(p.Inputs[at], p.Inputs, caseKey(d.seed, index), at, buf)
	buf.deep.words = nil
	return out
}

// GuidedParent returns the position of the parent of a guided case that is not
// staged.
func (d *Deep) GuidedParent(p Pool, index int64) int {
	r := newPRNG(^caseKey(d.seed, index))
	if len(p.Ends) == 0 {
		return r.below(len(p.Inputs))
	}
	at := r.next() >> 1 % p.Ends[len(p.Ends)-1]
	return sort.Search(len(p.Ends), func(i int) bool { return p.Ends[i] > at })
}

// mutate makes a variant of parent; slot says where its outline is cached.
func (d *Deep) mutate(parent []byte, corpus [][]byte, key uint64, slot int, buf *Buffer) []byte {
	buf.reset()
	b := &buf.deep
	b.data = append(b.data[:0], parent...)
	c := &b.current // in the buffer, to save an allocation
	if slot %= cachedTrees; len(parent) > outlinePart {
		slot %= cachedLarge
	}
	*c = deepCase{Deep: d, buf: buf, rng: newPRNG(key), data: b.data, parent: parent, corpus: corpus, slot: slot, nearOf: -1}
	if len(c.data) > d.limit {
		c.edit(clamp, d.limit, len(c.data)-d.limit, nil)
	}
	if d.maxOps > 0 {
		c.run()
	}
	b.data = c.data
	*c = deepCase{} // keep no parent or corpus alive
	return b.data
}

// deepBuffer is the part of a Buffer that [Deep] uses.
type deepBuffer struct {
	current deepCase

	data  []byte
	tmp   []byte // bytes to insert
	other []byte // bytes to insert at a second place
	near  outline.Outline
	words [][]byte // of a guided case's pool
	trees [cachedTrees]struct {
		src  []byte
		tree outline.Outline
	}
}

// outlineOf returns the outline of src, which is cached if an earlier case had the
// same src.
func (b *deepBuffer) outlineOf(src []byte, slot int) *outline.Outline {
	t := &b.trees[slot]
	if len(t.src) == 0 || !bytes.Equal(t.src, src) {
		t.src = append(t.src[:0], src...)
		t.tree.Scan(src)
	}
	return &t.tree
}

// seedTokens collects the tokens in seeds, in order, each once.
func seedTokens(seeds [][]byte) [][]byte {
	const (
		shortest, longest = 2, 32
		most              = 512
		budget            = 1 << 20 // bytes looked at
	)
	var out [][]byte
	var o outline.Outline
	seen := map[string]bool{}
	left := budget
	for _, s := range seeds {
		if !outline.Texty(s) {
			continue
		}
		s = s[:min(len(s), outlineMost, left)]
		left -= len(s)
		o.Scan(s)
		for _, t := range o.Tokens {
			text := s[t.From:t.To]
			useful := t.Kind == outline.Word || t.Kind == outline.Number || t.Kind == outline.String
			if !useful || len(text) < shortest || len(text) > longest || seen[string(text)] {
				continue
			}
			seen[string(text)] = true
			if out = append(out, bytes.Clone(text)); len(out) == most {
				return out
			}
		}
	}
	return out
}
