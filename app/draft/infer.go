package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// The effect of an operation is searched among simple expressions over the fields of its instance
// and its arguments: an expression is kept if it explains every call that was seen.

// term is an expression over what is known before a call.
type term struct {
	text string
	cost int
	eval func(s *Step) (any, bool) // false: an operand is unknown
}

// names are the names of variables in an operation's expressions.
type names struct {
	self string   // the variable of the instance
	args []string // by slot
}

func constant(v any) term {
	return term{literal(v), 4, func(*Step) (any, bool) { return v, true }}
}

// literal writes a value in the language.
func literal(v any) string {
	switch x := v.(type) {
	case bool:
		return map[bool]string{true: "True", false: "False"}[x]
	case string:
		return strconv.Quote(x)
	}
	return fmt.Sprint(v)
}

// fieldOf, argOf and countOf are the atoms of expressions.
func (n *names) fieldOf(f string) term {
	return term{n.self + "." + f, 1, func(s *Step) (any, bool) { v, ok := s.Before[f]; return v, ok && v != nil }}
}

func (n *names) argOf(i int) term {
	return term{n.args[i], 2, func(s *Step) (any, bool) { return s.Args[i], true }}
}

// sum is a+b, or a-b.
func sum(a, b term, sign int64) term {
	text := a.text + map[int64]string{1: " + ", -1: " - "}[sign] + b.text
	return term{text, a.cost + b.cost, func(s *Step) (any, bool) {
		x, ok := a.eval(s)
		y, also := b.eval(s)
		m, isX := x.(int64)
		n, isY := y.(int64)
		return m + sign*n, ok && also && isX && isY
	}}
}

// terms returns the candidate expressions for a value, over the given fields.
func (n *names) terms(fields []string, slots []Slot, handle int) (list []term) {
	var atoms []term
	for _, f := range fields {
		atoms = append(atoms, n.fieldOf(f))
	}
	var args []term
	for i := range slots {
		if i != handle {
			args = append(args, n.argOf(i))
		}
	}
	list = slices.Concat(atoms, args)
	for _, f := range atoms {
		for _, a := range args {
			list = append(list, sum(f, a, 1), sum(f, a, -1))
		}
		list = append(list, sum(f, constant(int64(1)), 1), sum(f, constant(int64(1)), -1))
		flip := f
		list = append(list, term{"not " + f.text, 3, func(s *Step) (any, bool) {
			v, ok := flip.eval(s)
			b, is := v.(bool)
			return !b, ok && is
		}})
	}
	for i, a := range args {
		for _, b := range args[i+1:] {
			list = append(list, sum(a, b, 1), sum(a, b, -1), sum(b, a, -1))
		}
	}
	return list
}

// least is the minimum number of calls that an expression must explain unless it is a plain copy.
const least = 2

// explain finds the cheapest expression for the value that want returns for each step.
func explain(steps []*Step, list []term, want func(*Step) (any, bool), conds []term) (term, bool) {
	type sample struct {
		s *Step
		v any
	}
	var all []sample
	var constants []term
	for _, s := range steps {
		if v, ok := want(s); ok {
			all = append(all, sample{s, v})
			if len(constants) < 4 && !slices.ContainsFunc(constants, func(c term) bool { return c.text == literal(v) }) {
				constants = append(constants, constant(v))
			}
		}
	}
	if len(all) == 0 {
		return term{}, false
	}
	list = append(slices.Clone(list), constants...)
	slices.SortStableFunc(list, func(a, b term) int { return cmp.Compare(a.cost, b.cost) })
	right := make([][]bool, len(list))
	hits := make([]int, len(list))
	for k, t := range list {
		right[k] = make([]bool, len(all))
		for i, x := range all {
			v, ok := t.eval(x.s)
			if right[k][i] = ok && v == x.v; right[k][i] {
				hits[k]++
			}
		}
		if hits[k] == len(all) && (len(all) >= least || t.cost == 1) {
			return t, true
		}
	}
	// One expression under a condition, and another one otherwise.
	best, found := term{}, false
	for a := range list {
		if hits[a] < least+1 {
			continue
		}
		for b := range list {
			if a == b || hits[b] < least+1 || found && list[a].cost+list[b].cost >= best.cost {
				continue
			}
			var yes, no []*Step
			covers := true
			for i, x := range all {
				switch {
				case right[a][i] && !right[b][i]:
					yes = append(yes, x.s)
				case right[b][i] && !right[a][i]:
					no = append(no, x.s)
				case !right[a][i]:
					covers = false
				}
			}
			if !covers || len(yes) < least+1 || len(no) < least+1 {
				continue
			}
			if c, ok := separate(yes, no, conds, 1, 1); ok {
				x, y := list[a], list[b]
				best, found = term{x.text + " if " + c.text + " else " + y.text, x.cost + y.cost, func(s *Step) (any, bool) {
					if is, ok := c.eval(s); !ok {
						return nil, false
					} else if is == true {
						return x.eval(s)
					}
					return y.eval(s)
				}}, true
			}
		}
	}
	return best, found
}

// separate finds a condition, with at most the given number of parts, that holds for all allowed
// steps and for no refused one. Each part must exclude at least kills steps that no earlier part
// excludes.
func separate(allowed, refused []*Step, list []term, parts, kills int) (term, bool) {
	type atom struct {
		term
		kills []bool
		n     int
	}
	var atoms []atom
	add := func(text string, cost int, holds func(v any) bool, of term) {
		a := atom{term: term{text, cost, func(s *Step) (any, bool) { v, ok := of.eval(s); return ok && holds(v), ok }}, kills: make([]bool, len(refused))}
		for _, s := range allowed {
			if v, ok := a.eval(s); ok && v == false {
				return
			}
		}
		for i, s := range refused {
			if v, ok := a.eval(s); ok && v == false {
				a.kills[i], a.n = true, a.n+1
			}
		}
		if a.n > 0 {
			atoms = append(atoms, a)
		}
	}
	for _, t := range list {
		var in, out []int64
		seen := map[any]bool{}
		for _, s := range allowed {
			if v, ok := t.eval(s); ok {
				seen[v] = true
				if n, is := v.(int64); is {
					in = append(in, n)
				}
			}
		}
		for _, s := range refused {
			if v, ok := t.eval(s); ok {
				if n, is := v.(int64); is {
					out = append(out, n)
				} else if _, is := v.(bool); !is && !seen[v] {
					add(t.text+" != "+literal(v), t.cost+2, func(x any) bool { return x != v }, t)
				}
			}
		}
		if len(seen) == 1 && len(in) == 0 {
			for v := range seen {
				if b, is := v.(bool); is {
					add(map[bool]string{true: t.text, false: "not " + t.text}[b], t.cost, func(x any) bool { return x == b }, t)
				} else {
					add(t.text+" == "+literal(v), t.cost+1, func(x any) bool { return x == v }, t)
				}
			}
		}
		if len(in) == 0 || len(out) == 0 {
			continue
		}
		low, high := slices.Min(in), slices.Max(in)
		var under, over []int64
		for _, n := range out {
			if n < low {
				under = append(under, n)
			} else if n > high {
				over = append(over, n)
			} else if !seen[n] {
				add(t.text+" != "+literal(n), t.cost+3, func(x any) bool { return x != n }, t)
			}
		}
		if len(under) > 0 {
			at := roundBound(slices.Max(under)+1, low)
			add(t.text+" >= "+fmt.Sprint(at), t.cost+1, func(x any) bool { n, is := x.(int64); return is && n >= at }, t)
		}
		if len(over) > 0 {
			at := roundBound(high, slices.Min(over)-1)
			add(t.text+" <= "+fmt.Sprint(at), t.cost+1, func(x any) bool { n, is := x.(int64); return is && n <= at }, t)
		}
	}
	left := make([]bool, len(refused))
	rest := len(refused)
	var chosen []term
	for rest > 0 && len(chosen) < parts {
		best, most := -1, kills-1
		for i := range atoms {
			n := 0
			for k, kills := range atoms[i].kills {
				if kills && !left[k] {
					n++
				}
			}
			if n > most || n == most && best >= 0 && n > 0 && atoms[i].cost < atoms[best].cost {
				best, most = i, n
			}
		}
		if best < 0 {
			return term{}, false
		}
		for k, kills := range atoms[best].kills {
			if kills && !left[k] {
				left[k] = true
				rest--
			}
		}
		chosen = append(chosen, atoms[best].term)
	}
	if rest > 0 || len(chosen) == 0 {
		return term{}, false
	}
	out := chosen[0]
	for _, c := range chosen[1:] {
		was := out
		out = term{was.text + " and " + c.text, was.cost + c.cost, func(s *Step) (any, bool) {
			a, ok := was.eval(s)
			b, also := c.eval(s)
			return a == true && b == true, ok && also
		}}
	}
	return out, true
}

// roundBound is the number in a range that a person would choose as a bound.
func roundBound(low, high int64) int64 {
	if low >= high {
		return low
	}
	if low <= 0 && high >= 0 {
		return 0
	}
	if low <= 1 && high >= 1 {
		return 1
	}
	for unit := int64(1_000_000_000); unit > 1; unit /= 10 {
		for _, k := range []int64{1, 5, 2} {
			if at := unit * k; at >= low && at <= high {
				return at
			}
		}
		if at := high / unit * unit; at >= low && at != 0 {
			return at
		}
	}
	return high
}
