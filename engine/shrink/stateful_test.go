package shrink_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/choice"
)

// Faulty stateful programs with the model that tells their faults, as sequences
// of calls: the three that stateful testers are compared by. What is made of a
// tape is told up to the call whose answer is wrong.

// maxCalls is how many calls a sequence has at most.
const maxCalls = 30

// calls makes a sequence; call makes one and reports whether its answer is right.
func calls(s *choice.Source, call func(say func(string, ...any)) bool) (string, bool) {
	var told []string
	say := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	for {
		s.Begin()
		if !s.More(len(told), maxCalls) {
			s.End()
			return "", false
		}
		right := call(say)
		s.End()
		if !right {
			return strings.Join(told, " "), true
		}
	}
}

// ringQueue has a place too few: one that is full looks empty.
func ringQueue(s *choice.Source) (string, bool) {
	n := int(s.Draw(10)) + 1
	ring, in, out := make([]uint64, n), 0, 0
	var model []uint64
	told, fails := calls(s, func(say func(string, ...any)) bool {
		weights := []float64{1, 1, 1}
		if len(model) == n {
			weights[1] = 0
		}
		if len(model) == 0 {
			weights[2] = 0
		}
		switch s.Weighted(weights) {
		case 1:
			v := s.Draw(0)
			say("put(%d)", v)
			model = append(model, v)
			ring[in], in = v, (in+1)%n
			return true
		case 2:
			say("get()")
			v := ring[out]
			out = (out + 1) % n
			want := model[0]
			model = model[1:]
			return v == want
		}
		say("size()")
		return (in-out+n)%n == len(model)
	})
	return fmt.Sprintf("new(%d) %s", n, told), fails
}

// shareList of an archived document outlives it.
func shareList(s *choice.Source) (string, bool) {
	type doc struct {
		owner             uint64
		archived, deleted bool
		shared, kept      map[uint64]bool
	}
	var docs []*doc
	return calls(s, func(say func(string, ...any)) bool {
		weights := []float64{1, 0, 0, 0, 0, 0}
		if len(docs) > 0 {
			weights = []float64{1, 1, 1, 1, 1, 1}
		}
		what := s.Weighted(weights)
		if what == 0 {
			u := s.Draw(4)
			say("create(%d)", u)
			docs = append(docs, &doc{owner: u, shared: map[uint64]bool{}, kept: map[uint64]bool{}})
			return true
		}
		i := s.Draw(uint64(len(docs)))
		d := docs[i]
		switch what {
		case 1:
			u := s.Draw(4)
			say("read(%d, %d)", i, u)
			return (d.kept[u] || !d.deleted && d.owner == u) == (!d.deleted && (d.owner == u || d.shared[u]))
		case 2:
			u := s.Draw(4)
			say("share(%d, %d)", i, u)
			if !d.deleted {
				d.shared[u], d.kept[u] = true, true
			}
		case 3:
			say("archive(%d)", i)
			d.archived = !d.deleted
		case 4:
			say("restore(%d)", i)
			d.archived = false
		case 5:
			say("delete(%d)", i)
			d.deleted = true
			if !d.archived {
				d.kept = map[uint64]bool{}
			}
		}
		return true
	})
}

// forgetful loses the entry with the smallest key when the ninth is put.
func forgetful(s *choice.Source) (string, bool) {
	model, kept, lost := map[uint64]uint64{}, map[uint64]uint64{}, false
	return calls(s, func(say func(string, ...any)) bool {
		what := s.Weighted([]float64{1, 1, 1})
		k := s.Draw(64)
		switch what {
		case 0:
			say("get(%d)", k)
			want, was := model[k]
			got, is := kept[k]
			return want == got && was == is
		case 1:
			v := s.Draw(0)
			say("put(%d, %d)", k, v)
			_, had := kept[k]
			model[k], kept[k] = v, v
			if !had && len(kept) == 9 && !lost {
				lost = true
				least := k
				for x := range kept {
					least = min(least, x)
				}
				delete(kept, least)
			}
		case 2:
			say("del(%d)", k)
			delete(model, k)
			delete(kept, k)
		}
		return true
	})
}

// Every sequence of calls comes down to the fewest that show the fault, in their
// one simplest form.
func TestSequences(t *testing.T) {
	for _, x := range []struct {
		problem
		most int
	}{
		{problem{"queue", "new(1) put(0) size()", ringQueue}, 60},
		{problem{"docs", "create(0) share(0, 0) archive(0) delete(0) read(0, 0)", shareList}, 60},
		{problem{"kv", "put(0, 0) put(1, 0) put(2, 0) put(3, 0) put(4, 0) put(5, 0) put(6, 0) put(7, 0) put(8, 0) get(0)", forgetful}, 200},
	} {
		t.Run(x.name, func(t *testing.T) { solve(t, x.problem, x.most) })
	}
}
