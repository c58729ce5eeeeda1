package fresnelfir

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/dut"
	"github.com/thresh-dev/thresh/engine/walk"
)

// moment is all that a traversal is between two steps: the model, the module,
// and where each thread stands in its protocol. It is never changed.
type moment struct {
	tape     []uint64 // the decisions that led to it
	model    *model.Snapshot
	module   dut.Snapshot // nil: there is none
	handles  []int64
	made     []int64
	walkers  []walk.Walker
	alive    []int
	row      []int
	versions []int
	memos    []memo
	threads  int
	actions  int
	wide     bool
	passing  uint64
	passed   *failure

	size int
	used int64 // when it was gone back to last
}

// moment saves what the traversal is.
func (t *traversal) moment() *moment {
	x := &moment{
		tape: slices.Clone(t.src.Tape().Values), model: t.m.Save(), walkers: make([]walk.Walker, t.threads),
		alive: slices.Clone(t.alive), row: slices.Clone(t.in.row), versions: slices.Clone(t.versions),
		memos: slices.Clone(t.memos), threads: t.threads, actions: t.actions, wide: t.wide,
		passing: t.passing, passed: t.passed,
	}
	for i := range x.walkers {
		x.walkers[i].Copy(&t.walkers[i])
	}
	x.size = 512 + 8*(len(x.tape)+len(x.row)) + x.model.Size() + 256*len(x.walkers) + 64*len(x.memos)
	if d := t.dev; d != nil {
		x.handles, x.made, x.module = slices.Clone(d.handles), slices.Clone(d.made), d.inst.Snapshot()
		x.size += 8*len(x.handles) + x.module.Size()
	}
	return x
}

// goBack makes the traversal what it was at a moment; from there on it decides
// by a key.
func (t *traversal) goBack(x *moment, key uint64) {
	t.clear()
	t.src.Resume(x.tape, key)
	t.m.Load(x.model)
	t.sketch = t.m.Sketch(t.p.actor)
	for len(t.walkers) < x.threads {
		t.walkers = append(t.walkers, walk.Walker{})
	}
	for i := range x.walkers {
		t.walkers[i].Copy(&x.walkers[i])
	}
	t.alive, t.in.row = append(t.alive[:0], x.alive...), append(t.in.row[:0], x.row...)
	copy(t.versions, x.versions)
	t.memos = append(t.memos, x.memos...)
	t.threads, t.actions, t.wide, t.passing, t.passed = x.threads, x.actions, x.wide, x.passing, x.passed
	if d := t.dev; d != nil {
		d.handles = append(d.handles[:0], x.handles...)
		copy(d.made, x.made)
		if err := d.inst.Restore(x.module); err != nil {
			d.broken = fmt.Errorf("going back to a state of the module: %w", err)
		}
	}
}

// depart begins the part of a traversal that is its own: what led to where it
// begins was counted when it was done first.
func (t *traversal) depart() {
	t.begun, t.blamed = t.actions, event{}
	t.seen.reset()
	clear(t.m.Tried)
	t.row = choice.Key(t.key, 3)
	if t.dev != nil {
		t.dev.inst.Take()
	}
}

// Bounds on the moments that are kept, of one executor.
const (
	maxMoments     = 256
	maxMomentBytes = 32 << 20
)

// moments keeps moments that traversals begin at. It saves steps and nothing
// else: a moment that is not kept is come to by its tape.
type moments struct {
	most  int               // bytes
	list  map[int64]*moment // by number of the entry
	bytes int
	clock int64
}

// of is the moment of an entry, or nil.
func (k *moments) of(e *entry) *moment {
	if k == nil {
		return nil
	}
	x := k.list[e.number]
	if x == nil || !slices.Equal(x.tape, e.tape) {
		return nil
	}
	k.clock++
	x.used = k.clock
	return x
}

// keep keeps a moment, in place of those that were not gone back to for longest.
func (k *moments) keep(e *entry, x *moment) {
	if k.list == nil {
		k.list = map[int64]*moment{}
	}
	if was := k.list[e.number]; was != nil {
		k.drop(e.number)
	}
	if x.size > k.most/4 {
		return
	}
	k.clock++
	x.used = k.clock
	k.list[e.number], k.bytes = x, k.bytes+x.size
	for len(k.list) > maxMoments || k.bytes > k.most {
		oldest := int64(-1)
		for n, m := range k.list {
			if oldest < 0 || m.used < k.list[oldest].used {
				oldest = n
			}
		}
		k.drop(oldest)
	}
}

func (k *moments) drop(number int64) {
	k.bytes -= k.list[number].size
	delete(k.list, number)
}
