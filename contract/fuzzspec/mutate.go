package fuzzspec

import (
	"math/big"
	"slices"

	"github.com/thresh-dev/thresh/engine/bytemut"
)

// maker makes the inputs of a campaign's cases; it is shared by its lanes.
type maker interface {
	lane() laneMaker
	// parent is the index in the pool of the input that case index is made from.
	parent(from bytemut.Pool, index int64) int
}

// laneMaker makes inputs on one lane.
type laneMaker interface {
	// input is the bytes of case index, in the document's terms, made from the
	// pool. They are valid until the next call and must not be changed.
	input(from bytemut.Pool, index int64) []byte
	// log is the mutations.jsonl of the last input.
	log() []byte
}

// newMaker returns the maker of the campaign's inputs.
func newMaker(c *Campaign) (maker, error) {
	if c.deep != nil {
		return newDeepMaker(c), nil
	}
	if c.set.text {
		return newTextMaker(c)
	}
	m := &c.spec.Mutations
	p := bytemut.Params{MaxOps: int(min(m.OpLimit(), 1<<30)), Strategies: m.Strategies}
	if limit, ok := m.ByteLimit(); ok {
		p.MaxBytes = limit
	}
	ref, err := bytemut.NewReference(c.seed, p, m.RNGSeed)
	if err != nil {
		return nil, err
	}
	return referenceMaker{ref}, nil
}

// referenceMaker makes the cases of the reference mutator, byte for byte.
type referenceMaker struct{ ref *bytemut.Reference }

func (m referenceMaker) lane() laneMaker { return &referenceLane{ref: m.ref} }

type referenceLane struct {
	ref *bytemut.Reference
	buf bytemut.Buffer
}

func (l *referenceLane) input(_ bytemut.Pool, index int64) []byte { return l.ref.Case(index, &l.buf) }

func (l *referenceLane) log() []byte { return bytemut.AppendLog(nil, l.buf.Ops()) }

func (m referenceMaker) parent(bytemut.Pool, int64) int { return 0 }

// Mutation is one case of a document, for callers that need only the bytes.
type Mutation struct {
	Input []byte // valid until the next call
	Log   []byte // mutations.jsonl
}

// Mutations returns a function that makes any case of the campaign, even beyond the planned ones.
// Only one goroutine may use it.
func (c *Campaign) Mutations() func(index int64) Mutation {
	lane := c.maker.lane()
	from := c.pool(c.Start(noFacts))
	return func(index int64) Mutation {
		return Mutation{Input: lane.input(from, index), Log: slices.Clip(lane.log())}
	}
}

// EffectiveSeed returns the generator's seed for one case.
func (c *Campaign) EffectiveSeed(index int64) *big.Int { return c.spec.Mutations.EffectiveSeed(index) }
