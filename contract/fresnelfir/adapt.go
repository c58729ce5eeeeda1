package fresnelfir

import (
	"fmt"
	"maps"
	"slices"
)

// How exploration adapts, epoch by epoch. The numbers are those of the format's first
// implementation, except where its setting had no effect. A directive is given only if the document
// allows it, and a signal counts only if the document names it.
const (
	decay       = 0.95 // per epoch, of learned factors, towards 1
	newFactor   = 1.5  // for a branch that reached something new in its state
	least, most = 0.1, 10.0
	forceEpochs = 2 // how many epochs a branch is favoured
	skipEpochs  = 8 // how many epochs a branch that leads to calls which do not end is skipped
	wideEpochs  = 4 // how many epochs observers are asked about more instances
	plateau     = 3 // epochs without anything new
	shortLoops  = 3 // repetitions in an epoch of short loops
)

// adaptation turns an epoch's signals into directives.
type adaptation struct {
	p *plan
	s *state
}

func (p *plan) listens(signal string) bool {
	return slices.Contains(p.doc.Exploration.Signals, signal)
}

func (a adaptation) give(kind, target, cause string) bool {
	if !slices.Contains(a.p.doc.Exploration.Directives, kind) {
		return false
	}
	a.s.log = a.s.log.add(directive{a.s.epoch, kind, target, cause})
	return true
}

// name returns a branch's name for people.
func (a adaptation) name(e event) string {
	n := &a.p.nodes[e.node]
	if e.kind == eventNode {
		return n.action
	}
	return n.branches[e.child].id
}

func (a adaptation) adjust(e event, factor float64, cause string) {
	if e.kind != eventBranch {
		return
	}
	k := a.p.key(e.node, e.state, e.child)
	if !a.give("adjust_weight", fmt.Sprintf("%s x%g", a.name(e), factor), cause) {
		return
	}
	f, ok := a.s.learned[k]
	if !ok {
		f = 1
	}
	a.s.learned[k] = min(max(f*factor, least), most)
}

func (a adaptation) force(e event, cause string) {
	e.state = 0
	if a.give("force", a.name(e), cause) {
		a.s.forced[e] = forceEpochs
	}
}

// failing responds to a kind of failure with a directive for the branch that led to it. Calls that
// do not end cost the most and show nothing new, so a branch that led to two of them is skipped for
// a while. Differing answers make observers be asked about more instances.
func (a adaptation) failing(kind string, e event) {
	switch kind {
	case kindTimeout:
		e.state = 0
		if a.s.timeouts[e]++; a.s.timeouts[e] > 1 && a.give("skip", a.name(e), kind) {
			a.s.skipped[e] = skipEpochs
			delete(a.s.forced, e)
		}
		return
	case kindDiscrepancy:
		if a.s.wide == 0 && a.give("swap_observer", "all", kind) {
			a.s.wide = wideEpochs
		}
	}
	a.force(e, kind)
}

// expire counts down the epochs for which decisions hold.
func expire(list map[event]int) {
	for e, n := range list {
		if n <= 1 {
			delete(list, e)
		} else {
			list[e] = n - 1
		}
	}
}

// fold applies the results of an epoch's cases: what was new, and the branches taken by failing
// cases, by kind of failure.
func (a adaptation) fold(fresh []event, failing map[string]event) {
	s, x := a.s, &a.p.doc.Exploration
	s.epoch++
	if x.Decay != "none" {
		for k, f := range s.learned {
			s.learned[k] = 1 + (f-1)*decay
		}
	}
	expire(s.forced)
	expire(s.skipped)
	s.wide = max(0, s.wide-1)
	s.limit = 0
	if slices.ContainsFunc(fresh, func(e event) bool { return !e.ofModel() }) {
		s.quiet = 0
	} else {
		s.quiet++
	}
	if a.p.listens("coverage_delta") {
		for _, e := range fresh {
			a.adjust(e, newFactor, "coverage_delta")
		}
	}
	if a.p.listens("guard_failure") {
		a.open()
	}
	for _, kind := range slices.Sorted(maps.Keys(failing)) {
		if a.p.listens(kind) {
			a.failing(kind, failing[kind])
		}
	}
	if s.quiet >= plateau && a.p.listens("coverage_plateau") {
		a.onPlateau()
	}
	a.floor(x.CoverageFloor)
	s.weigh(a.p)
}

// onPlateau favours everything that was never reached. Every other time it shortens repetitions, so
// that what follows them is reached more often.
func (a adaptation) onPlateau() {
	for at := range a.p.nodes {
		for i := range a.p.nodes[at].branches {
			if a.p.nodes[at].branches[i].unreachable == "" && a.s.branchHits(at, i) == 0 {
				a.force(event{kind: eventBranch, node: at, child: i}, "coverage_plateau")
			}
		}
	}
	if a.s.quiet%2 == 0 && a.give("loop_limit", fmt.Sprint(shortLoops), "coverage_plateau") {
		a.s.limit = shortLoops
	}
}

// open works towards branches that were reached but never taken because their guards did not hold.
// It favours the branches that lead to an action which sets a field that such a guard reads.
func (a adaptation) open() {
	done := map[event]bool{}
	for _, e := range a.s.sortedClosed() {
		e.kind, e.state = eventBranch, 0
		if done[e] || a.s.branchHits(e.node, e.child) > 0 {
			continue
		}
		done[e] = true
		for _, feed := range a.p.feeds()[e] {
			if a.s.forced[feed] == 0 {
				a.force(feed, "guard_failure")
			}
		}
	}
}

// floor keeps branches that were never taken likely: together they get at least the share of their
// alternative's weight that the document names.
func (a adaptation) floor(share float64) {
	a.s.floors = map[event]float64{}
	for at := range a.p.nodes {
		branches := a.p.nodes[at].branches
		total, cold := 0.0, 0.0
		var never []int
		for i := range branches {
			w := branches[i].weight
			total += w
			if branches[i].unreachable == "" && a.s.branchHits(at, i) == 0 {
				cold += w
				never = append(never, i)
			}
		}
		if cold == 0 || cold >= share*total || share >= 1 {
			continue
		}
		// cold*f / (total-cold+cold*f) = share
		f := share * (total - cold) / ((1 - share) * cold)
		for _, i := range never {
			a.s.floors[event{kind: eventBranch, node: at, child: i}] = f
		}
	}
}
