package spectest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/sut"
)

// chain is a group of cases that pass values on: one case with steps.
type chain struct {
	slots []slot // of the document, in order
	needs [][]int
	cases []*Case // every case, decoded, in order
	first int     // number of the first case in the document, from 1
	c     *Case   // the combined case
	taken []slot
}

// link finds the chains of a document. A case that uses ${NAME} needs the nearest case above that
// captures NAME; one that keeps cookies needs the nearest above that does; one with harness.after
// needs those it names.
func (c *Campaign) link(ctx context.Context) (list diag.List) {
	c.chained, c.chains = nil, nil
	if !c.doc.mentions("capture", "after", "jar") && (len(c.set.vars) == 0 || !c.doc.mentions("${")) {
		return nil
	}
	known := variables{}
	maps.Copy(known, c.set.vars)
	maps.Copy(known, c.doc.setupNames())
	type linked struct {
		at    slot
		needs []int
		chain int // index of the first case of its chain
	}
	var all []linked
	holds := make(map[string]int) // the last case that captured a name
	ids := make(map[string]int)
	later := make(map[string][]slot)
	jar := -1 // the last case that kept cookies
	of := func(i int) int {
		for all[i].chain != i {
			i = all[i].chain
		}
		return i
	}
	for u := 0; u < c.doc.units() && ctx.Err() == nil; u++ {
		for i, e := range c.doc.unit(u) {
			me := len(all)
			all = append(all, linked{at: slot{int32(u), int32(i)}, chain: me})
			if e.node == nil || e.node.Kind != doctree.Map {
				continue
			}
			need := func(from int) {
				all[me].needs = append(all[me].needs, from)
				a, b := of(from), of(me)
				all[max(a, b)].chain = min(a, b)
			}
			if after := e.node.Get("harness").Get("after"); !after.IsNull() {
				wanted := []string{trimmed(after)}
				if after.Kind == doctree.Seq {
					wanted = texts(after)
				}
				for _, id := range wanted {
					if from, known := ids[id]; known {
						need(from)
					} else {
						list = append(list, c.doc.problem(after.Pos, "unknown-word", "harness.after", fmt.Sprintf("no case above has the id %q", id), diag.DidYouMean(id, slices.Sorted(maps.Keys(ids)))))
					}
				}
			}
			if kept := e.node.Get("request").Get("jar"); kept != nil && kept.Truthy() {
				if jar >= 0 {
					need(jar)
				}
				jar = me
			}
			if id := e.node.Get("id"); id != nil {
				ids[trimmed(id)] = me
			}
			for _, name := range uses(e.node) {
				from, held := holds[name]
				if !held {
					if _, fixed := known[name]; !fixed {
						later[name] = append(later[name], slot{int32(e.from), int32(me)})
					}
					continue
				}
				need(from)
			}
			if n := e.node.Get("capture"); n != nil && n.Kind == doctree.Map {
				for _, name := range keys(n) {
					holds[name] = me
				}
			}
		}
		c.doc.release()
	}
	for name := range holds {
		known[name] = given{}
	}
	for _, name := range slices.Sorted(maps.Keys(later)) {
		for _, at := range later[name] {
			hint := diag.DidYouMean(name, known.names())
			p := c.doc.problem(doctree.Pos{Line: int(at.unit), Col: 1}, "capture", "", fmt.Sprintf("no case above captures ${%s}: it stays as it is written", name), hint)
			if _, below := holds[name]; below || hint != "" {
				p.Level = diag.Warning
				list = append(list, p)
			}
		}
	}
	members := make(map[int]*chain)
	place := make(map[int]int) // index of a case in its chain
	c.chained = make(map[slot]*chain)
	for i := range all {
		root := of(i)
		ch := members[root]
		if ch == nil {
			ch = &chain{first: root + 1}
			members[root] = ch
		}
		place[i] = len(ch.slots)
		ch.slots, ch.needs = append(ch.slots, all[i].at), append(ch.needs, nil)
		for _, n := range all[i].needs {
			ch.needs[place[i]] = append(ch.needs[place[i]], place[n])
		}
		ch.cases = append(ch.cases, nil)
		c.chained[all[i].at] = ch
	}
	for at, ch := range c.chained {
		if len(ch.slots) == 1 {
			delete(c.chained, at)
		}
	}
	return list
}

// note receives every case of the chain in order; taken reports whether it passes the filter.
func (ch *chain) note(at slot, c *Case, taken bool) {
	i := slices.Index(ch.slots, at)
	ch.cases[i] = c
	if taken {
		ch.taken = append(ch.taken, at)
	}
}

// chainUp makes one case of each chain that has a selected case. The selected cases bring along the
// cases they need and those that clean up.
func (c *Campaign) chainUp() (list diag.List) {
	var done []*chain
	for at, ch := range c.chained {
		if at != ch.slots[0] || len(ch.taken) == 0 || !c.set.inShard(c.name, ch.first) {
			continue
		}
		done = append(done, ch)
		want := make([]bool, len(ch.slots))
		var add func(i int)
		add = func(i int) {
			if !want[i] {
				want[i] = true
				for _, n := range ch.needs[i] {
					add(n)
				}
			}
		}
		for _, t := range ch.taken {
			add(slices.Index(ch.slots, t))
		}
		for i, n := range ch.needs {
			if ch.cases[i].always && !slices.ContainsFunc(n, func(k int) bool { return !want[k] }) {
				want[i] = true
			}
		}
		var dragged []string
		one := &Case{Type: typeChain}
		var steps []slot
		for i, cs := range ch.cases {
			if !want[i] {
				continue
			}
			steps = append(steps, ch.slots[i])
			one.steps = append(one.steps, cs)
			if !slices.Contains(ch.taken, ch.slots[i]) {
				dragged = append(dragged, cs.label())
			}
			if one.unrepeatable == "" && cs.unrepeatable != "" {
				one.unrepeatable = cs.label() + ": " + cs.unrepeatable
			}
			if one.skip == "" {
				one.skip = cs.skip
			}
			one.Tags = append(one.Tags, cs.Tags...)
		}
		first, last := one.steps[0], one.steps[len(one.steps)-1]
		one.ID, one.Title, one.at, one.From, one.To = first.label(), first.Title, first.at, first.From, last.To
		if len(one.steps) > 1 {
			one.ID += ".." + last.label()
		}
		if len(dragged) > 0 {
			p := c.doc.problem(first.at, "capture", "", fmt.Sprintf("--%s also selects %s, on whose values the others depend", optFilter, oneOf(dragged)), "")
			p.Level = diag.Warning
			list = append(list, p)
		}
		ch.slots, ch.c = steps, one
	}
	if len(done) == 0 {
		return list
	}
	c.chains = make(map[slot]*chain)
	for _, ch := range done {
		c.chains[ch.slots[0]] = ch
		c.slots = append(c.slots, ch.slots[0])
	}
	slices.SortFunc(c.slots, func(a, b slot) int {
		if a.unit != b.unit {
			return int(a.unit - b.unit)
		}
		return int(a.item - b.item)
	})
	return list
}

// parts are the cases that a case of the campaign consists of.
func (c *Case) parts() []*Case {
	if c.steps != nil {
		return c.steps
	}
	return []*Case{c}
}

// runChain runs the cases of a chain, each with the values captured before it. After a failure only
// the cases that clean up run.
func (x *executor) runChain(ctx context.Context, c *Case) (failure *Failure, notes evidence, err error) {
	vars, taken := maps.Clone(x.set.vars), variables{}
	x.chain = map[*sut.Plan]bool{}
	x.jar++
	defer func() { x.chain = nil }()
	var log strings.Builder
	ch := x.c.chains[x.slot]
	for i, at := range ch.slots {
		e := x.c.doc.unit(int(at.unit))[at.item]
		e.node = vars.fill(e.node)
		lacks := failure != nil && e.node != nil && slices.ContainsFunc(uses(e.node), func(name string) bool {
			return slices.ContainsFunc(c.steps, func(s *Case) bool {
				return slices.ContainsFunc(s.captures, func(k capture) bool { return k.name == name })
			})
		})
		if failure != nil && (lacks || !c.steps[i].always) {
			fmt.Fprintf(&log, "%s:%d %s  not run\n", x.c.name, e.from, c.steps[i].label())
			x.step.skipCase(c.steps[i])
			continue
		}
		step, _, _ := decode(x.c.doc, x.set, e)
		if run, err := x.step.ask(ctx, step.label()+"  "+step.Type, step.From, step.To); err != nil {
			return nil, nil, err
		} else if !run {
			continue
		}
		x.eval.subjects = nil
		f, seen, err := x.attempt(ctx, step)
		if _, redo := campaign.IsRedo(err); err != nil && (failure == nil || redo || ctx.Err() != nil) {
			return nil, nil, err
		}
		if err != nil { // what failed before stands
			fmt.Fprintf(&log, "%s:%d %s  no result: %v\n", x.c.name, e.from, step.label(), err)
			continue
		}
		if f != nil && x.mended != nil && x.mended(step, f) {
			f = nil
		}
		got, missing := x.captured(step)
		if f == nil {
			maps.Copy(vars, got)
			maps.Copy(taken, got)
			f = firstOf(missing)
		}
		f, seen = hide(x.set.hidden, f, seen)
		x.step.ended(step, f, seen, taken.redactor(true))
		switch {
		case f == nil && len(got) > 0:
			fmt.Fprintf(&log, "%s:%d %s  holds, captures %s\n", x.c.name, e.from, step.label(), oneOf(seq.Map(step.captures, func(k capture) string { return k.name })))
		case f == nil:
			fmt.Fprintf(&log, "%s:%d %s  holds\n", x.c.name, e.from, step.label())
		default:
			fmt.Fprintf(&log, "%s:%d %s  fails: %s\n", x.c.name, e.from, step.label(), f.summary())
		}
		if f == nil {
			continue
		}
		g := *f
		if g.Step, g.Line = step.label(), cmp.Or(g.Line, step.From); failure == nil {
			failure, notes = &g, seen
		} else {
			failure.more = slices.Concat(failure.more, []*Failure{&g}, g.more)
		}
	}
	notes.add(chainNote, []byte(log.String()))
	f, n := hide(taken.redactor(true), failure, notes)
	return f, n, nil
}

// chainNote is the attachment with the result of each case of a chain.
const chainNote = "chain"

// typeChain is the type of a case that is a chain of others.
const typeChain = "chain"
