package operator

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/engine/mutator"
)

// hashSeeds are those under which operators in Python must give the same results. A run always has
// the same seed, and nothing else has. A set of two texts has the same order under half of all.
const hashSeeds = 5

// checkElsewhere applies the operators in Python in other processes, with other hash seeds.
func (p *Plugins) checkElsewhere(ctx context.Context, list []Checked) error {
	for seed := 1; seed <= hashSeeds; seed++ {
		var left []*Checked
		for i := range list {
			if c := &list[i]; c.sums != nil && !c.Faults[boxRandom].HasErrors() {
				left = append(left, c)
			}
		}
		name := strconv.Itoa(seed)
		err := p.inProcess(ctx, name, left, func(c *Checked, at int) error {
			where, hint := "with PYTHONHASHSEED="+name, "the order of a set, or hash(), decides the result: use sorted(), or hashlib"
			err := p.inProcess(ctx, "", []*Checked{c}, func(*Checked, int) error {
				where, hint = "in another process", "something besides its arguments decides the result, such as the time, os.urandom or id()"
				return nil
			})
			c.fault(boxRandom, c.Entry.Source, "gives another result %s for the same text, context and generator: %s (OC-5.3)", where, c.probes[at].words())
			c.Faults[boxRandom][len(c.Faults[boxRandom])-1].Hint = hint
			return err
		})
		if err != nil {
			return fmt.Errorf("checking in another process: %w", err)
		}
	}
	return nil
}

// inProcess repeats the probes of operators in a new process, and passes on those that have another
// result there, each with the first such probe.
func (p *Plugins) inProcess(ctx context.Context, hashSeed string, list []*Checked, differs func(c *Checked, at int) error) error {
	if len(list) == 0 {
		return nil
	}
	set := p.set()
	set.HashSeed = hashSeed
	host, err := p.open(ctx, set)
	if err != nil {
		return err
	}
	defer host.Close()
	for _, c := range list {
		answers, err := p.apply(ctx, host, &c.Entry, c.probes)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Entry.Meta.ID, err)
		}
		for at := range answers {
			if sumOf(&answers[at]) != c.sums[at] {
				if err := differs(c, at); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// sumOf is a digest of an answer. Of a fault it has only that there was one: the words of an exception may
// name an address.
func sumOf(a *mutator.Answered) [sha256.Size]byte {
	if a.Fault != "" {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(mutator.AppendResult(nil, &a.Result))
}
