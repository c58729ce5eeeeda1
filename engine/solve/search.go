package solve

// Solve answers a query.
func (s *Solver) Solve(q Query) Answer {
	if len(s.nogoods) > maxLearned || len(q.Only) > 0 || len(s.only) > 0 {
		s.forget() // what was learned from some conditions does not follow from others
	}
	s.only = q.Only
	defer s.undo(0)
	clear(s.core)
	nodes := q.Nodes
	if nodes <= 0 {
		nodes = DefaultNodes
	}
	var a Answer
	s.marks = append(s.marks[:0], len(s.trail)) // the level of what holds without choices
	if !s.start() {
		return s.refuted(a)
	}
	for v, x := range q.Fixed {
		if x == Open || s.row[v] == x && s.left[v] == 1 {
			continue
		}
		if !s.has(v, x) {
			s.blameRemovals(v)
			return s.refuted(a)
		}
		s.decide(v, x)
		if !s.propagate() {
			s.analyze()
			return s.refuted(a)
		}
	}
	given := len(s.marks)
	for {
		v := s.choose(q.Order)
		if v < 0 {
			a.Status, a.Row = Sat, append([]int(nil), s.row...)
			return a
		}
		s.decide(v, s.value(q.Prefer, v))
		for !s.propagate() {
			choices, last := s.analyze()
			if last < given {
				return s.refuted(a)
			}
			if a.Nodes++; a.Nodes > nodes {
				return a
			}
			s.learn(choices, given)
		}
	}
}

func (s *Solver) refuted(a Answer) Answer {
	a.Status = Unsat
	for i, in := range s.core {
		if in {
			a.Core = append(a.Core, i)
		}
	}
	return a
}

// start propagates what holds without any choice.
func (s *Solver) start() bool {
	s.todo = s.todo[:0]
	for i := range s.clauses {
		if len(s.clauses[i].lits) < 2 && !s.check(int32(i)) {
			s.analyze()
			return false
		}
	}
	for i := range s.nogoods {
		if g := &s.nogoods[i]; len(g.choices) == 1 && !s.exclude(g.choices[0], int32(learned+i)) {
			s.analyze()
			return false
		}
	}
	for v := range s.sizes {
		if s.left[v] == 1 || len(s.rawBy[v]) > 0 {
			s.todo = append(s.todo, int32(v))
		}
	}
	if !s.propagate() {
		s.analyze()
		return false
	}
	return true
}

// propagate removes values until nothing more follows, and reports whether
// every condition can still hold.
func (s *Solver) propagate() bool {
	for len(s.todo) > 0 {
		v := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if s.row[v] != Open && !s.recall(int(v), s.row[v]) {
			return false
		}
		for _, i := range s.by[v] {
			if !s.check(i) {
				return false
			}
		}
		for _, r := range s.rawBy[v] {
			if !s.ask(r) {
				return false
			}
		}
	}
	return true
}

// check inspects whether a clause still leaves a choice.
func (s *Solver) check(i int32) bool {
	c := &s.clauses[i]
	if s.only != nil && !s.only[c.from] {
		return true
	}
	open := lit{v: -1}
	for _, l := range c.lits {
		some, other := false, false
		at := s.at[l.v]
		for w := range s.words[l.v] {
			d, set := s.dom[at+w], s.sets[l.set+w]
			some = some || d&set != 0
			other = other || d&^set != 0
		}
		if !some {
			continue
		}
		if !other || open.v >= 0 {
			return true
		}
		open = l
	}
	if open.v < 0 {
		s.blame = i
		return false
	}
	s.narrow(open.v, s.sets, open.set, i)
	return true
}

// ask evaluates a raw condition: if one variable is open, it tries its values.
func (s *Solver) ask(r int32) bool {
	i := s.raw[r]
	if s.only != nil && !s.only[i] {
		return true
	}
	c := s.conds[i]
	open, many := -1, false
	for _, v := range c.Vars {
		if s.row[v] == Open {
			many = open >= 0
			open = v
			if many {
				break
			}
		}
	}
	t := c.Eval(s.row)
	if t == True || t == Unknown && many {
		return true
	}
	if t == False || open < 0 {
		s.blame = ^int32(i)
		return false
	}
	keep := make([]uint64, s.words[open])
	any := false
	for x := range s.sizes[open] {
		if !s.has(open, x) {
			continue
		}
		s.row[open] = x
		if c.Eval(s.row) == True {
			keep[x>>6] |= 1 << (x & 63)
			any = true
		}
	}
	s.row[open] = Open
	if !any {
		s.blame = ^int32(i)
		return false
	}
	s.narrow(int32(open), keep, 0, ^int32(i))
	return true
}

// choose returns the next variable to get a value; -1 if all have one.
func (s *Solver) choose(order []int) int {
	if order != nil {
		for _, v := range order {
			if s.left[v] > 1 {
				return v
			}
		}
		return -1
	}
	best := -1
	for v, n := range s.left {
		if n > 1 && (best < 0 || n < s.left[best] || n == s.left[best] && len(s.by[v]) > len(s.by[best])) {
			best = v
		}
	}
	return best
}

// value returns the first remaining value of v, in the order of preference.
func (s *Solver) value(prefer func(v int, row []int) []int, v int) int {
	if prefer != nil {
		for _, x := range prefer(v, s.row) {
			if s.has(v, x) {
				return x
			}
		}
	}
	x := 0
	for !s.has(v, x) {
		x++
	}
	return x
}

// analyze finds which choices caused the conflict, and blames the conditions
// that took part. It returns the choices with the level of the last of them, -1
// if there are none.
func (s *Solver) analyze() (choices []choice, last int) {
	clear(s.used)
	s.markReason(s.blame)
	last = -1
	level := len(s.marks) - 1
	for k := len(s.trail) - 1; k >= 0; k-- {
		for level >= 0 && k < s.marks[level] {
			level--
		}
		c := s.trail[k]
		if !s.used[c.v] {
			continue
		}
		if c.reason != decision {
			s.markReason(c.reason)
			continue
		}
		if n := len(choices); n > 0 && choices[n-1].v == int(c.v) {
			continue // another word of the same choice
		}
		choices = append(choices, choice{int(c.v), s.row[c.v], level})
		last = max(last, level)
	}
	return choices, last
}

// markReason marks the variables and conditions behind a removal or conflict.
func (s *Solver) markReason(reason int32) {
	switch {
	case reason < 0:
		i := ^reason
		s.core[i] = true
		for _, v := range s.conds[i].Vars {
			s.used[v] = true
		}
	case reason >= learned:
		g := &s.nogoods[reason-learned]
		for _, i := range g.from {
			s.core[i] = true
		}
		for _, c := range g.choices {
			s.used[c.v] = true
		}
	default:
		c := &s.clauses[reason]
		s.core[c.from] = true
		for _, l := range c.lits {
			s.used[l.v] = true
		}
	}
}

// blameRemovals blames what removed values of v.
func (s *Solver) blameRemovals(v int) {
	clear(s.used)
	s.used[v] = true
	for k := len(s.trail) - 1; k >= 0; k-- {
		if c := s.trail[k]; s.used[c.v] && c.reason != decision {
			s.markReason(c.reason)
		}
	}
}
