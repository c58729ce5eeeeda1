package draft

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Op is an operation of a stateful system: an export, an operation of an API, a tool, or an action
// of a recorded trace.
type Op struct {
	Name   string // name to call
	Slots  []Slot // its arguments
	Handle int    // the slot that names an instance; -1: none
	Entity string // of that instance, or of the one that it makes; "": the system itself
	Makes  bool   // it makes an instance, which its answer names
	// Pure, Again and Ends are the reasons to assume that it changes nothing, changes nothing more
	// when repeated, and ends the instance it names; "": no such assumption.
	Pure, Again, Ends string
	Answers           bool   // its answer is one that a model can compute
	FieldName         string // of the field that it reads
	Skip              bool   // do not call it
	Left              string // why it is not part of the draft; "": it is
}

// Slot is an argument of an operation.
type Slot struct {
	Name     string // for display, and of the input
	Kind     string // int, bool, text
	Min, Max int64
	Values   []string // for kind text
}

// Step is one call of a sequence with its observation. Values are int64, bool, string or nil.
type Step struct {
	Op      int
	Args    []any
	Refused bool
	Broken  string // how it crashed; "": it did not
	Value   any
	Made    string // the instance that it made
	On      string // the instance that it is about
	Before  State  // of that instance
	After   State
	Live    int  // number of instances before the call
	Spread  bool // other instances changed
	Twice   bool // when repeated, it answered and changed nothing more
	Undone  bool // when repeated, it did not
}

// State is the known state of an instance: values by field.
type State map[string]any

// words splits a name into words in lower case.
func words(name string) (list []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			list = append(list, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	was := ' '
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(was):
			end()
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		was = r
	}
	end()
	return list
}

// Verbs by what operations with these names usually do.
var (
	making  = strings.Fields("create new add make register insert spawn open start begin place post issue")
	moving  = making[7:] // these can also apply to an existing instance: a door is opened
	asking  = strings.Fields("get read find fetch show balance size len length count is has status peek list query search describe lookup view total value state left")
	ending  = strings.Fields("delete remove close destroy free drop cancel unregister end kill release")
	setting = strings.Fields("set put update write replace rename freeze thaw enable disable lock unlock activate deactivate publish archive restore")
)

// verb returns the first word of a name that is in a list of verbs.
func verb(name string, of []string) string {
	for _, w := range words(name) {
		if slices.Contains(of, w) {
			return w
		}
	}
	return ""
}

// nounOf is a name without its verbs, as the name of an entity.
func nounOf(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		if !slices.Contains(slices.Concat(making, asking, ending, setting), w) {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	n := strings.TrimSuffix(b.String(), "s")
	if n == "" || !unicode.IsLetter(rune(n[0])) || slices.Contains([]string{"True", "False", "None"}, n) {
		return ""
	}
	return n
}

// Classify infers from names what operations do, unless something better is known: which ones make
// instances, and which argument names one. Pure is already set for operations that were seen to
// change nothing, or that say so themselves.
func Classify(ops []Op) {
	for i := range ops {
		o := &ops[i]
		if v := verb(o.Name, making); v != "" && o.Answers && o.Pure == "" && !o.Makes {
			o.Makes, o.Entity = true, nounOf(o.Name)
			o.Entity = cmp.Or(o.Entity, "Thing")
		}
	}
	for i := range ops { // locker_open(locker, pin) beside locker_new(pin)
		if o := &ops[i]; o.Makes && verb(o.Name, moving) != "" && len(o.Slots) > 0 && o.Slots[0].Kind == "int" &&
			slices.ContainsFunc(ops, func(m Op) bool { return m.Makes && m.Entity == o.Entity && verb(m.Name, moving) == "" }) {
			o.Makes, o.Entity = false, ""
		}
	}
	for i := range ops {
		o := &ops[i]
		var taken []string
		o.FieldName = identifier(o.Name, &taken)
		if v := verb(o.Name, ending); v != "" && o.Ends == "" && o.Pure == "" {
			o.Ends = "named " + v
		}
		if v := verb(o.Name, setting); v != "" && o.Again == "" && o.Pure == "" {
			o.Again = "named " + v
		}
		if o.Makes || o.Handle >= 0 || len(o.Slots) == 0 || o.Slots[0].Kind != "int" {
			continue
		}
		best := ""
		for k := range ops {
			if m := &ops[k]; m.Makes && (best == "" || slices.ContainsFunc(words(o.Name), func(w string) bool { return strings.EqualFold(w, m.Entity) })) {
				best = m.Entity
			}
		}
		if best != "" {
			o.Handle, o.Entity = 0, best
		}
	}
}

// Unmake corrects what names made Classify conclude: the operations that not says so of make no
// instances, and arguments name only instances that some operation makes.
func Unmake(ops []Op, not func(op int) bool) {
	for i := range ops {
		if o := &ops[i]; o.Makes && not(i) {
			o.Makes, o.Entity = false, ""
		}
	}
	for i := range ops {
		if o := &ops[i]; o.Handle >= 0 && !slices.ContainsFunc(ops, func(m Op) bool { return m.Makes && m.Entity == o.Entity }) {
			o.Handle, o.Entity = -1, ""
		}
	}
}

// Naming scores how closely the name of an argument matches what an operation makes: from 1, only
// the values match, to 4.
func Naming(argument, maker string) int {
	score := 1
	if verb(maker, making) != "" {
		score++
	}
	w := words(argument)
	if n := len(w); n > 1 && slices.Contains(naming, w[n-1]) {
		w = w[:n-1]
	}
	if noun := nounOf(maker); noun != "" && strings.EqualFold(strings.Join(w, ""), noun) {
		score += 2
	}
	return score
}

// Recorded infers from names what the operations of a trace do: only what was recorded is known
// about them.
func Recorded(ops []Op) {
	for i := range ops {
		o := &ops[i]
		var taken []string
		o.FieldName = identifier(o.Name, &taken)
		if o.Makes {
			continue
		}
		if v := verb(o.Name, asking); v != "" && o.Answers && verb(o.Name, slices.Concat(ending, setting)) == "" {
			o.Pure = "named " + v
		} else if v := verb(o.Name, ending); v != "" {
			o.Ends = "named " + v
		}
	}
}
