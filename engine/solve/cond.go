package solve

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
