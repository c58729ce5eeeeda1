package solve

// nogood is a set of choices that cannot all be made. The first two are
// watched: the no-good is only inspected when one of them is made.
type nogood struct {
	choices []choice
	from    []int32 // the conditions that it follows from
}

// choice is a value for a variable, and the level at which it was made.
type choice struct{ v, x, level int }

// maxLearned is how many no-goods are kept from one query to the next.
const maxLearned = 1 << 11

// forget drops everything that was learned.
func (s *Solver) forget() {
	for i := range s.nogoods {
		for _, c := range s.nogoods[i].choices {
			s.watch[s.cell(c.v, c.x)] = nil
		}
	}
	s.nogoods = s.nogoods[:0]
}

// learn adds the no-good of choices, goes back to where it leaves one
// possibility, but not before the given values, and takes that.
func (s *Solver) learn(choices []choice, given int) {
	for i := range choices { // the latest two come first
		for k := range min(2, i) {
			if choices[i].level > choices[k].level {
				choices[i], choices[k] = choices[k], choices[i]
			}
		}
	}
	g := nogood{choices: choices}
	for i, in := range s.core {
		if in {
			g.from = append(g.from, int32(i))
		}
	}
	n := len(s.nogoods)
	s.nogoods = append(s.nogoods, g)
	back := given - 1
	if len(choices) > 1 {
		back = max(back, choices[1].level)
		for _, c := range choices[:2] {
			k := s.cell(c.v, c.x)
			s.watch[k] = append(s.watch[k], int32(n))
		}
	}
	s.undo(back + 1)
	s.exclude(choices[0], int32(learned+n)) // its value is possible: the choice was undone
}

// recall inspects the no-goods that watch the choice of x for v, which was made
// or follows. Each then watches a choice that is not made, or excludes its last
// one.
func (s *Solver) recall(v, x int) bool {
	k := s.cell(v, x)
	list := s.watch[k]
	keep := list[:0]
	for i, n := range list {
		choices := s.nogoods[n].choices
		if choices[0].v == v && choices[0].x == x {
			choices[0], choices[1] = choices[1], choices[0]
		}
		moved := false
		for j := 2; j < len(choices) && !moved; j++ {
			if c := choices[j]; s.row[c.v] != c.x {
				choices[1], choices[j] = c, choices[1]
				to := s.cell(c.v, c.x)
				s.watch[to] = append(s.watch[to], n)
				moved = true
			}
		}
		if moved {
			continue
		}
		keep = append(keep, n)
		if !s.exclude(choices[0], learned+n) {
			s.watch[k] = append(keep, list[i+1:]...)
			return false
		}
	}
	s.watch[k] = keep
	return true
}

// exclude removes a value from a variable, and reports whether any is left.
func (s *Solver) exclude(c choice, reason int32) bool {
	if s.row[c.v] == c.x {
		s.blame = reason
		return false
	}
	if !s.has(c.v, c.x) {
		return true
	}
	w := int32(c.x >> 6)
	k := s.at[c.v] + w
	s.trail = append(s.trail, change{int32(c.v), w, s.dom[k], reason})
	s.dom[k] &^= 1 << (c.x & 63)
	s.left[c.v]--
	s.settle(int32(c.v))
	s.todo = append(s.todo, int32(c.v))
	return true
}
