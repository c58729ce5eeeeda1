package operator

import (
	"maps"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// tally counts children and applications, for the campaign's summary.
type tally struct {
	children map[textop.Status]int64
	novelty  mutator.Novelty
	applied  map[application]statusCount
	kinds    map[kind]statusCount // children by the properties of their seeds
	verdicts map[verdictKey]int64
	points   [][2]float64 // children made, distinct children
	made     int64
	judged   int64 // children with a verdict of PASS or FAIL
	stale    int64 // children whose verdict is on another text
	missed   int64 // those of them whose verdict is FAIL
	met      int64 // verdicts in the file on children of the run
	attacks  attacks
}

type application struct {
	op     int
	bucket textop.Bucket
}

type verdictKey struct {
	application
	judgement mutator.Judgement
}

// statusCount counts statuses.
type statusCount struct{ ok, skipped, invalid int64 }

func (c *statusCount) add(s textop.Status) {
	switch s {
	case textop.OK:
		c.ok++
	case textop.Skipped:
		c.skipped++
	default:
		c.invalid++
	}
}

func (c statusCount) total() int64 { return c.ok + c.skipped + c.invalid }

func newTally() *tally {
	return &tally{
		children: make(map[textop.Status]int64), applied: make(map[application]statusCount),
		kinds: make(map[kind]statusCount), verdicts: make(map[verdictKey]int64),
	}
}

func (t *tally) clone() *tally {
	c := *t
	c.children, c.applied, c.kinds, c.verdicts = maps.Clone(t.children), maps.Clone(t.applied), maps.Clone(t.kinds), maps.Clone(t.verdicts)
	c.attacks = t.attacks.clone()
	c.points = append([][2]float64(nil), t.points...)
	return &c
}

// maxPoints is the approximate number of points on the curve of distinct children.
const maxPoints = 240

// count adds a case; again means that its text occurred before: verdicts are counted by text.
func (t *tally) count(c *Campaign, seed *mutator.Seed, f *facts, match mutator.Match, again, judged bool, v Verdict) {
	t.children[f.status]++
	k := kind{seed.Bucket, seed.Surface}
	by := t.kinds[k]
	by.add(f.status)
	t.kinds[k] = by
	for _, a := range f.applied {
		key := application{a.Op, seed.Bucket}
		n := t.applied[key]
		n.add(a.Status)
		t.applied[key] = n
		if judged && !again && a.Status == textop.OK && v.Judgement != mutator.Unknown {
			t.verdicts[verdictKey{key, v.Judgement}]++
		}
	}
	if judged && v.Judgement != mutator.Unknown {
		t.judged++
	}
	if f.unjudged {
		t.stale++
		if v.Judgement == mutator.Fail {
			t.missed++
		}
	}
	t.made++
	if f.status == textop.OK {
		t.novelty.Count(match)
	}
	if step := max(1, c.planned()/maxPoints); t.made%step == 0 && len(t.points) < 4*maxPoints {
		t.points = append(t.points, [2]float64{float64(t.made), float64(t.novelty.Distinct())})
	}
}

// judged returns the verdict on a case, and whether it counts.
func (c *Campaign) judged(id string, f *facts) (v Verdict, judged bool) {
	switch {
	case f.unjudged:
		return c.verdicts[id], false
	case f.judged:
		return Verdict{Judgement: f.judgement, Score: f.score}, true
	}
	v, judged = c.verdicts[id]
	return v, judged
}

// rewards are the values of a child for the operators that made it: the verdict or, without an
// oracle, whether the child is new.
func (c *Campaign) rewards(odds map[string]float64, seed *mutator.Seed, f *facts, match mutator.Match, judged bool, v Verdict) []mutator.Reward {
	if f.unjudged {
		return nil // its value is unknown
	}
	value := 0.0
	switch {
	case judged:
		value = v.reward()
	case c.oracle == "" && c.plan == nil && c.verdicts == nil && f.status == textop.OK && !c.rejects(match):
		value = 1
	}
	var list []mutator.Reward
	for _, a := range f.applied {
		if a.Status != textop.OK && judged {
			continue // it was not part of what was judged
		}
		id := c.base.Registry().Entries()[a.Op].Meta.ID
		r := mutator.Reward{Arm: mutator.Arm{Bucket: string(seed.Bucket), Op: id}, Probability: odds[id]}
		if a.Status == textop.OK {
			r.Value = value
		}
		list = append(list, r)
	}
	return list
}
