package solve

import "slices"

// Truth is what is known of a condition under a partial assignment.
type Truth int8

// The truth values. Unknown is the zero value.
const (
	Unknown Truth = iota
	False
	True
)

// Of is True or False.
func Of(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Not is the negation: Unknown stays Unknown.
func (t Truth) Not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// Open marks a variable without a value in a partial assignment.
const Open = -1

// Cond is a condition on some of the variables.
type Cond struct {
	// Vars are the variables that decide it: ascending, each once.
	Vars []int
	// Eval says what is known of it. row[v] is the index of the value of variable
	// v, or Open. An answer other than Unknown must hold for every completion of
	// row; where all of Vars have values, Unknown counts as False. Eval must depend
	// on the cells of Vars alone and must not keep or change row.
	Eval func(row []int) Truth
}

// In holds if the value of v is one of those marked; set has an entry for each
// value of v.
func In(v int, set []bool) Cond {
	return Cond{Vars: []int{v}, Eval: func(row []int) Truth {
		if row[v] == Open {
			return Unknown
		}
		return Of(set[row[v]])
	}}
}

// Or holds where one of list does.
func Or(list ...Cond) Cond { return fold(list, True) }

// fold combines conditions, one of which decides all if it has the value
// decisive.
func fold(list []Cond, decisive Truth) Cond {
	list = slices.Clone(list)
	var vars []int
	for _, c := range list {
		vars = append(vars, c.Vars...)
	}
	return Cond{Vars: union(vars), Eval: func(row []int) Truth {
		known := decisive.Not()
		for _, c := range list {
			switch c.Eval(row) {
			case decisive:
				return decisive
			case Unknown:
				known = Unknown
			}
		}
		return known
	}}
}

// union is the distinct numbers of list, ascending.
func union(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
