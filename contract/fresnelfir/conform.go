package fresnelfir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/walk"
)

// recorded is a step of a recorded trace.
type recorded struct {
	Action   string         `json:"action"`
	Args     map[string]any `json:"args"`
	Returns  any            `json:"returns"`
	Rejected any            `json:"rejected"`
	at       string         // "line 3", "state 3"
}

// refused reports whether the system refused the step.
func (r *recorded) refused() bool { return r.Rejected != nil && r.Rejected != false }

func (r *recorded) String() string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(r.Args)) {
		args = append(args, name+" = "+plainText(r.Args[name]))
	}
	return r.Action + "(" + strings.Join(args, ", ") + ")"
}

// plainText formats a value of a trace like a value of the model.
func plainText(v any) string {
	switch x := v.(type) {
	case map[string]any:
		if n, ok := x["#bigint"].(string); ok {
			return n
		}
		if tag, ok := x["tag"].(string); ok && (tag == "Some" || x["value"] != nil) {
			return plainText(x["value"])
		}
	case string:
		return x
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // the value was read from JSON
	}
	return string(b)
}

// readTrace reads a trace: JSON lines, or the Informal Trace Format.
func readTrace(text []byte) ([]recorded, error) {
	var itf struct{ States []map[string]any }
	whole := json.NewDecoder(bytes.NewReader(text))
	whole.UseNumber()
	if whole.Decode(&itf) == nil && itf.States != nil {
		return ofITF(itf.States), nil
	}
	var list []recorded
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		r := recorded{at: fmt.Sprintf("line %d", i+1)}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf(`line %d: must be {"action": NAME, "args": {...}}: %w`, i+1, err)
		}
		if r.Action == "" {
			return nil, fmt.Errorf(`line %d: names no action: must be {"action": NAME, "args": {...}}`, i+1)
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return nil, errors.New("the trace has no steps")
	}
	return list, nil
}

// ofITF returns the steps of a trace in the Informal Trace Format. Each state names the action that
// led to it, and what was picked for it.
func ofITF(states []map[string]any) []recorded {
	var list []recorded
	for i, s := range states {
		r := recorded{at: fmt.Sprintf("state %d", i), Args: map[string]any{}}
		for _, key := range []string{"action", "mbt::actionTaken", "action_taken"} {
			if a, ok := s[key].(string); ok {
				r.Action = a
			}
		}
		if picks, ok := s["mbt::nondetPicks"].(map[string]any); ok {
			for name, v := range picks {
				if x, ok := v.(map[string]any); ok && x["tag"] == "None" {
					continue
				}
				r.Args[name] = v
			}
		}
		if args, ok := s["args"].(map[string]any); ok {
			r.Args = args
		}
		if r.Action != "" && r.Action != "init" {
			list = append(list, r)
		}
	}
	return list
}

// world is a state that a trace may have led to, with the trace's names of its instances.
type world struct {
	at    *kept
	names map[string]string // "Order 17": "Order#1"
	past  *passed           // how it was reached, if that is kept
}

// conformance replays a trace on the model.
type conformance struct {
	c      *Campaign
	x      *exhaustion
	worlds []world
	open   map[string]bool // actions that the model allows at the current step
	why    string          // why the current step leads nowhere
	unsure string          // a step that does not record everything and was tried with only some values
	keeps  bool            // record how worlds were reached
}

// mostWorlds is the largest number of states in which a trace is followed at once.
const mostWorlds = 10_000

// conform replays a trace up to the first step that the model does not allow, and says why. The
// result is unsure if a step does not record what was passed, because the model may allow it after
// all.
func (c *Campaign) conform(steps []recorded, keeps bool) (at int, why, unsure string, past *passed) {
	for i := range c.plan.grammar.Nodes { // the length of a trace is not a claim about the system
		if n := &c.plan.grammar.Nodes[i]; n.Kind == walk.Repeat && n.Max > n.Min {
			n.Max = math.MaxInt32
		}
	}
	t := newTraversal(c.plan)
	t.in.plain, t.in.unlikely = true, true
	f := &conformance{c: c, x: &exhaustion{t: t}, keeps: keeps}
	f.x.enumerate(1, func(try []uint64) {
		t.src.Reset(0)
		t.src.Try(append([]uint64{0}, try...))
		t.start()
	}, func() bool {
		if t.failed == nil && len(t.beyond) == 0 {
			if fresh, going := f.x.fresh(); fresh && going {
				f.worlds = append(f.worlds, world{at: t.snapshot(), names: map[string]string{}})
			}
		}
		return false
	})
	for i := range steps {
		asked := f.question(&steps[i])
		if why := f.stray(&steps[i]); asked == nil && why != "" {
			return i, why, "", f.firstHistory()
		}
		var next []world
		switch {
		case asked != nil && f.refused(&steps[i]):
			continue // the model does not say when an observer refuses
		case asked != nil:
			f.open, f.why = map[string]bool{}, ""
			next = f.ask(&steps[i], asked)
		case f.refused(&steps[i]):
			if next, unsure = f.refuse(&steps[i]); len(next) == 0 {
				return i, "it was refused, and the model allows it", unsure, f.firstHistory()
			}
		default:
			next = f.follow(&steps[i])
		}
		switch {
		case len(next) == 0:
			return i, f.reason(&steps[i]), f.unsure, f.firstHistory()
		case len(next) > mostWorlds:
			return i, "it may have led to very many states", fmt.Sprintf("more than %d: record more of its arguments in the trace", mostWorlds), f.firstHistory()
		}
		f.worlds = next
	}
	return len(steps), "", "", f.firstHistory()
}

// refused reports whether the system refused a step, either because the recording says so or
// because the action's binding reads the answer as a refusal.
func (f *conformance) refused(r *recorded) bool {
	b := f.c.plan.doc.Binding(r.Action)
	if r.refused() || b == nil || b.Rejects == nil {
		return r.refused()
	}
	is := refusing(b.Rejects)
	n, err := strconv.ParseInt(plainText(r.Returns), 10, 64)
	return is != nil && err == nil && is(n)
}

// firstHistory returns how the first of the possible states was reached.
func (f *conformance) firstHistory() *passed {
	if len(f.worlds) == 0 {
		return nil
	}
	return f.worlds[0].past
}

// stray describes an argument of a step that the action neither passes nor chooses; "": none.
func (f *conformance) stray(r *recorded) string {
	p := f.c.plan
	action := p.program.Action(r.Action)
	if action < 0 {
		return ""
	}
	a := &p.program.Actions()[action]
	var known []string
	if a.Binding != nil {
		known = slices.Clone(a.Binding.Args)
	}
	for k := range a.Picks() {
		known = append(known, p.program.Vars()[a.PickSlot(k)])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Args)) {
		if !slices.Contains(known, name) {
			return strings.TrimSuffix(fmt.Sprintf("%s has no argument %s (%s)", r.Action, name, diag.DidYouMean(name, known)), " ()")
		}
	}
	return ""
}

// follow returns where a step may lead.
func (f *conformance) follow(r *recorded) []world {
	t, p := f.x.t, f.c.plan
	f.open, f.why = map[string]bool{}, ""
	action := p.program.Action(r.Action)
	if action < 0 {
		return nil
	}
	b := p.program.Actions()[action].Binding
	t.in.given = map[int]model.Value{}
	defer func() { t.in.given = nil }()
	for name, v := range r.Args {
		src, ok := p.doc.ArgumentOf(b, name)
		if !ok || src.Kind != ir.ArgInput {
			continue
		}
		x, d := p.doc.Domain(src.Domain), p.program.Domain(src.Domain)
		at, ok := p.valueOf(plainText(v), x)
		if !ok {
			f.why = fmt.Sprintf("%s = %s is not a value of the input %s", name, plainText(v), x.Name)
			return nil
		}
		t.in.given[d] = at
	}
	var next []world
	met := map[string]bool{}
	for _, w := range f.worlds {
		f.x.enumerate(len(w.at.tape), func(try []uint64) {
			t.goBack(w.at, 0)
			t.src.Try(try)
			t.seen.reset()
			t.trace, t.in.narrow = &trace{}, ""
			was := t.actions
			t.step()
			tr := t.trace
			t.trace = nil
			if t.actions == was || len(tr.Steps) == 0 {
				return
			}
			s := tr.Steps[len(tr.Steps)-1]
			if t.failed == nil {
				f.open[s.Action] = true
			}
			if s.Action == r.Action && t.in.narrow != "" {
				f.untold(r, t.in.narrow)
			}
			names, ok := f.matches(r, &s, w.names)
			if s.Action != r.Action || !ok {
				return
			}
			if t.failed != nil {
				f.why = t.failed.inFull(t.m)
				return
			}
			key := string(t.m.Key(nil)) + fmt.Sprint(names)
			for i := range t.threads {
				key = string(t.walkers[i].Sketch([]byte(key)))
			}
			if !met[key] && len(next) <= mostWorlds {
				met[key] = true
				at := t.snapshot()
				at.tape = nil // nobody asks how the state was reached
				n := world{at: at, names: names}
				if f.keeps {
					n.past = show(w.past, s, t.m)
				}
				next = append(next, n)
			}
		}, func() bool { return false })
	}
	return next
}

// valueOf returns the value of an input that a text represents.
func (p *plan) valueOf(text string, x *ir.Domain) (model.Value, bool) {
	switch x.Type {
	case ir.Int:
		var n int64
		_, err := fmt.Sscanf(text, "%d", &n)
		return model.Number(n), err == nil && fmt.Sprint(n) == text && n >= x.Min && n <= x.Max
	case ir.Bool:
		return map[string]model.Value{"true": model.True, "false": model.False}[text], text == "true" || text == "false"
	}
	v, known := p.program.Symbol(text)
	return v, known && slices.Contains(x.Values, text)
}

// matches reports whether a step of the model equals a recorded one: the same arguments and, if the
// model predicts it, the same answer. It returns the trace's names of instances, extended by the
// step.
func (f *conformance) matches(r *recorded, s *traceStep, names map[string]string) (map[string]string, bool) {
	if s.Action != r.Action {
		return nil, false
	}
	names = maps.Clone(names)
	same := func(entity, instance, called string) bool {
		was, known := names[entity+" "+called]
		if known {
			return was == instance
		}
		for k, v := range names {
			if v == instance && strings.HasPrefix(k, entity+" ") {
				return false // it has another name
			}
		}
		names[entity+" "+called] = instance
		return true
	}
	given := map[string]bool{}
	for _, a := range slices.Concat(s.Args, s.picks) { // passed arguments, and chosen instances by the model's variables
		name, is, _ := strings.Cut(a, "=")
		v, ok := r.Args[name]
		if !ok || given[name] {
			continue
		}
		given[name] = true
		want := plainText(v)
		if entity, _, handle := strings.Cut(is, "#"); handle && f.c.plan.program.Entity(entity) >= 0 {
			if !same(entity, is, want) {
				return nil, false
			}
		} else if is != want && is != fmt.Sprintf("%q", want) && (is != nothing || want != "" && v != nil) {
			return nil, false
		}
	}
	if r.Returns == nil {
		return names, true
	}
	if s.expected != "" && s.expected != plainText(r.Returns) {
		f.why = "the model answers " + s.expected
		return nil, false
	}
	b := f.c.plan.doc.Binding(r.Action)
	if b == nil {
		return names, true // the model does not predict the answer of an action without a call
	}
	if entity := f.c.plan.program.Entity(b.Result.Entity); entity >= 0 && s.made != "" {
		name := f.c.plan.doc.Entities[entity].Name
		if key := name + " " + plainText(r.Returns); b.Reuses != "" && f.gone(entity, names[key], b.Reuses) {
			delete(names, key)
		}
		return names, same(name, s.made, plainText(r.Returns))
	}
	return names, true
}

// gone reports whether an instance belongs to the refinement of those whose handles may be given out
// again.
func (f *conformance) gone(entity int, name, refinement string) bool {
	m := f.x.t.m
	return slices.ContainsFunc(m.Live(entity), func(i int32) bool { return m.Name(i) == name && m.Is(f.c.plan.program.Refined(refinement), i) })
}

// reason says why a step leads nowhere.
func (f *conformance) reason(r *recorded) string {
	all := slices.Sorted(maps.Keys(f.open))
	switch {
	case f.why != "":
		return f.why
	case f.c.plan.program.Action(r.Action) < 0:
		var known []string
		for _, a := range f.c.plan.program.Actions() {
			known = append(known, a.Name)
		}
		why := "the model has no such action"
		if hint := diag.DidYouMean(r.Action, known); hint != "" {
			why += " (" + hint + ")"
		}
		return why
	case f.open[r.Action]:
		return "the model allows the action, but not with these arguments"
	case len(all) == 0:
		return "the model allows no action here"
	}
	return "the model does not allow the action here; it allows " + strings.Join(all, ", ")
}
