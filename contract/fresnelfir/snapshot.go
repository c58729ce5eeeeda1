package fresnelfir

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/walk"
	"github.com/thresh-dev/thresh/port/dut"
)

// kept is a snapshot of everything that makes up a traversal between two steps: the model, the
// module, and each thread's position in its protocol. It never changes.
type kept struct {
	tape     []uint64 // the decisions that led to it
	model    *model.Snapshot
	module   dut.Snapshot // nil: there is no module
	handles  []handle
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
	beyond   []excess

	size int
	used int64 // when it was last restored
}

// snapshot saves the traversal.
func (t *traversal) snapshot() *kept {
	x := &kept{model: &model.Snapshot{}}
	t.snapshotIn(x)
	return x
}

// snapshotIn saves the traversal in a snapshot that is no longer needed, reusing its memory.
func (t *traversal) snapshotIn(x *kept) {
	t.m.SaveIn(x.model)
	x.tape, x.alive, x.row = append(x.tape[:0], t.src.Tape().Values...), append(x.alive[:0], t.alive...), append(x.row[:0], t.in.row...)
	x.versions, x.memos, x.beyond = append(x.versions[:0], t.versions...), append(x.memos[:0], t.memos...), append(x.beyond[:0], t.beyond...)
	x.threads, x.actions, x.wide, x.passing, x.passed = t.threads, t.actions, t.wide, t.passing, t.passed
	x.walkers = slices.Grow(x.walkers[:0], t.threads)[:t.threads]
	for i := range x.walkers {
		x.walkers[i].Copy(&t.walkers[i])
	}
	x.size = 512 + 8*(len(x.tape)+len(x.row)) + x.model.Size() + 256*len(x.walkers) + 64*len(x.memos)
	if d := t.dev; d != nil {
		x.handles, x.made, x.module = slices.Clone(d.handles), slices.Clone(d.made), d.inst.Snapshot()
		x.size += 16*len(x.handles) + x.module.Size()
	}
}

// goBack restores a snapshot. From there on, a key determines the decisions.
func (t *traversal) goBack(x *kept, key uint64) {
	t.clear()
	t.src.Resume(x.tape, key)
	t.m.Load(x.model)
	if t.noting() {
		t.sketch = t.m.Sketch(t.p.actor)
	}
	for len(t.walkers) < x.threads {
		t.walkers = append(t.walkers, walk.Walker{})
	}
	for i := range x.walkers {
		t.walkers[i].Copy(&x.walkers[i])
	}
	t.alive, t.in.row = append(t.alive[:0], x.alive...), append(t.in.row[:0], x.row...)
	copy(t.versions, x.versions)
	t.memos, t.beyond = append(t.memos, x.memos...), append(t.beyond, x.beyond...)
	t.threads, t.actions, t.wide, t.passing, t.passed = x.threads, x.actions, x.wide, x.passing, x.passed
	if d := t.dev; d != nil {
		d.handles = append(d.handles[:0], x.handles...)
		copy(d.made, x.made)
		if err := d.inst.Restore(x.module); err != nil {
			d.broken = fmt.Errorf("going back to a state of the module: %w", err)
		}
	}
}

// depart begins the traversal's own part. What led to its beginning was counted when it was first
// done.
func (t *traversal) depart() {
	t.begun, t.blamed = t.actions, event{}
	t.seen.reset()
	clear(t.m.Tried)
	t.habits.clear()
	t.row = choice.Key(t.key, 3)
	if t.dev != nil {
		t.dev.inst.Take()
	}
}

// Limits of the snapshots that one executor keeps.
const (
	maxSnapshots     = 256
	maxSnapshotBytes = 32 << 20
)

// snapshots keeps snapshots with which traversals begin. They only save steps: a state without a
// snapshot is reached by its tape.
type snapshots struct {
	most  int             // bytes
	list  map[int64]*kept // by number of the corpus entry
	bytes int
	clock int64
}

// of returns the snapshot of an entry, or nil.
func (k *snapshots) of(e *entry) *kept {
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

// add keeps a snapshot, and drops the least recently used ones.
func (k *snapshots) add(e *entry, x *kept) {
	if k.list == nil {
		k.list = map[int64]*kept{}
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
	for len(k.list) > maxSnapshots || k.bytes > k.most {
		oldest := int64(-1)
		for n, m := range k.list {
			if oldest < 0 || m.used < k.list[oldest].used {
				oldest = n
			}
		}
		k.drop(oldest)
	}
}

func (k *snapshots) drop(number int64) {
	k.bytes -= k.list[number].size
	delete(k.list, number)
}
