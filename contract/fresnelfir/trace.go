package fresnelfir

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/dut"
)

// trace is a traversal for people, step by step. It is recorded only to explain a failing case, not
// while cases run.
type trace struct {
	Cast       []string    `json:"cast"` // actors with their fields
	Steps      []traceStep `json:"steps"`
	Place      string      `json:"place,omitempty"`   // in the document, of what does not hold
	Report     string      `json:"report,omitempty"`  // output of the system in the call that failed
	Subject    string      `json:"subject,omitempty"` // what was called
	Generation int         `json:"-"`                 // number of actions applied
	via        []string
	passed     []string      // broken properties that are passed over
	beyond     string        // what the step assigned beyond a field's bounds
	was        []model.Value // fields before the step
	count      int
	shows      bool         // states are recorded, to be written to a file
	shown      *passed      // the last recorded step
	state      dut.Snapshot // of the module before the step; nil: not needed
}

// traceStep is one row of the table.
type traceStep struct {
	Thread  int      `json:"thread"`
	Actor   string   `json:"actor,omitempty"`
	Action  string   `json:"action"`
	Args    []string `json:"args,omitempty"`
	Via     []string `json:"via,omitempty"`
	Changes []string `json:"changes,omitempty"`
	Answer  string   `json:"answer,omitempty"`  // by the module
	Effects string   `json:"effects,omitempty"` // in the module, if the document's hooks ask for them
	Result  string   `json:"result,omitempty"`
	Broke   bool     `json:"broke,omitempty"` // Result says how a call of the module failed

	expected string   // the answer that the model predicts; "" if it does not
	made     string   // the instance that was created
	picks    []string // instances that the action chose, written like Args
}

// noteCreated notes an instance that the harness created.
func (x *trace) noteCreated(m *model.Machine, i int32) {
	if len(x.Steps) > 0 || len(x.Cast) >= 64 {
		return
	}
	x.Cast = append(x.Cast, describe(m, i))
}

// describe describes an instance with its fields.
func describe(m *model.Machine, i int32) string {
	var b strings.Builder
	b.WriteString(m.Name(i))
	doc := m.Program().Document()
	for k, f := range doc.Entities[m.EntityOf(i)].Fields {
		if f.Name != "id" && !doc.Waits(f) {
			fmt.Fprintf(&b, " %s=%s", f.Name, sayValue(m, m.Get(i, k), f.Type))
		}
	}
	return b.String()
}

func (x *trace) noteBranch(branch string) { x.via = append(x.via, branch) }

func (x *trace) begin(t *traversal, action int) {
	m := t.m
	a := &t.p.program.Actions()[action]
	s := traceStep{Thread: t.thread + 1, Action: a.Name, Via: x.via}
	x.via = nil
	if slot := t.p.program.Slot("actor"); slot >= 0 {
		s.Actor = m.Name(m.Var(slot))
	}
	if a.Binding != nil {
		for _, name := range a.Binding.Args {
			s.Args = append(s.Args, name+"="+t.argument(a.Binding, name))
		}
	}
	for k := range a.Picks() {
		slot := a.PickSlot(k)
		name, is := t.p.program.Vars()[slot], m.Name(m.Var(slot))
		s.Via, s.picks = append(s.Via, name+" = "+is), append(s.picks, name+"="+is)
	}
	if a.Binding != nil && a.Binding.Answer != nil {
		if v, ok := m.Modelled(t.p.program.Condition(a.Binding.Answer).Code); ok {
			s.expected = m.Text(v)
		}
	}
	x.Steps = append(x.Steps, s)
	if x.state = nil; t.dev != nil && t.p.hooked(a.Name, "side_effects") {
		x.state = t.dev.inst.Snapshot()
	}
	x.was, x.count = allFields(m, x.was[:0]), m.Instances()
}

// sayValue formats a value in a sentence. A text is quoted, because it may contain anything or be
// empty.
func sayValue(m *model.Machine, v model.Value, of ir.Type) string {
	text := m.Text(v)
	switch {
	case v.Kind != model.Symbol || v.N < 0 || v == model.Foreign:
	case of == ir.String:
		return strconv.Quote(text)
	case of == ir.Ref && text == "":
		return nothing
	}
	return text
}

// nothing describes a reference to no instance.
const nothing = "nothing"

// argument formats the value of a binding's argument for people.
func (t *traversal) argument(b *ir.ActionBinding, name string) string {
	m, p := t.m, t.p.program
	src, known := t.p.doc.ArgumentOf(b, name)
	if !known {
		return nothing
	}
	switch src.Kind {
	case ir.ArgInput:
		d := p.Domain(src.Domain)
		return sayValue(m, m.Input(d), t.p.doc.Inputs.Domains[d].Type)
	case ir.ArgWith:
		return m.Text(t.given[src.With])
	case ir.ArgValue:
		v, _ := m.Modelled(p.Condition(src.Value.Value).Code)
		return sayValue(m, v, src.Value.Result.Type)
	}
	slot := p.Slot(src.Var)
	if slot < 0 {
		return "the newest"
	}
	i := m.Var(slot)
	if i == model.None {
		return nothing
	}
	if src.Kind == ir.ArgField {
		for k, f := range t.p.doc.Entities[m.EntityOf(i)].Fields {
			if f.Name == src.Field {
				return sayValue(m, m.Get(i, k), f.Type)
			}
		}
	}
	return m.Name(i)
}

func allFields(m *model.Machine, list []model.Value) []model.Value {
	for i := range int32(m.Instances()) {
		for k := range m.Program().Document().Entities[m.EntityOf(i)].Fields {
			list = append(list, m.Get(i, k))
		}
	}
	return list
}

// end notes what the step changed, and how it failed.
func (x *trace) end(t *traversal) {
	m := t.m
	s := &x.Steps[len(x.Steps)-1]
	at := 0
	for i := range int32(m.Instances()) {
		if int(i) >= x.count {
			s.made = m.Name(i)
			s.Changes = append(s.Changes, "+ "+describe(m, i))
			continue
		}
		for k, f := range t.p.doc.Entities[m.EntityOf(i)].Fields {
			if v := m.Get(i, k); v != x.was[at] && !t.p.doc.Waits(f) {
				s.Changes = append(s.Changes, fmt.Sprintf("%s.%s: %s -> %s", m.Name(i), f.Name, sayValue(m, x.was[at], f.Type), sayValue(m, v, f.Type)))
			}
			at++
		}
	}
	for _, what := range x.passed {
		s.Changes = append(s.Changes, what+", which is known")
	}
	x.passed = nil
	if x.state != nil {
		blocks, globals := t.dev.inst.Changed(x.state)
		s.Effects = fmt.Sprintf("memory changed in %s, and %s", diag.Plural(blocks, "block"), diag.Plural(globals, "global"))
	}
	if s.Result, x.beyond = x.beyond, ""; t.failed != nil {
		s.Result = strings.TrimPrefix(s.Result+"; "+t.failed.inFull(m), "; ")
		if s.Broke = t.failed.kind == kindCrash || t.failed.kind == kindTimeout; s.Broke && t.dev != nil && t.dev.inst.Fault() != nil {
			x.Report, x.Subject = t.dev.inst.Fault().Report, t.failed.subject
		}
	}
	if x.shows {
		x.shown = show(x.shown, *s, m)
	}
}

// encode writes a trace as evidence.
func (x *trace) encode() []byte {
	b, err := json.Marshal(x)
	if err != nil {
		return nil // never happens: there are only strings and numbers
	}
	return b
}

const placeTitle = "Place in the document"

// exhibits returns exhibits for an encoded trace; none if data is something else.
func exhibits(data []byte) []campaign.Exhibit {
	var x trace
	if json.Unmarshal(data, &x) != nil {
		return nil
	}
	columns := []string{"#", "actor", "action", "arguments", "chosen", "what the model says", "what the system says"}
	asked := false
	var rows [][]string
	for _, c := range x.Cast {
		rows = append(rows, []string{"", "", "", "", "", c, ""})
	}
	for i, s := range x.Steps {
		says, answer := slices.Clone(s.Changes), s.Answer
		switch {
		case s.Broke && strings.HasSuffix(s.Result, answer):
			answer = s.Result
		case s.Broke:
			answer += "; " + s.Result
		case s.Result != "":
			says = append(says, s.Result)
		}
		if len(says) == 0 && s.Broke {
			says = []string{"expects a reply"}
		}
		if s.Effects != "" {
			answer = strings.TrimPrefix(answer+"; "+s.Effects, "; ")
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), s.Actor, s.Action, strings.Join(s.Args, ", "), strings.Join(s.Via, " > "), cmp.Or(strings.Join(says, "; "), "no change"), answer})
		asked = asked || answer != ""
	}
	if !asked {
		columns = columns[:len(columns)-1]
		for i := range rows {
			rows[i] = rows[i][:len(columns)]
		}
	}
	steps := campaign.TableExhibit("Steps", columns, rows)
	for i, s := range x.Steps {
		if s.Result != "" { // the first disagreement of the model and the module
			steps.Table.Focus = append(steps.Table.Focus, len(x.Cast)+i)
		}
	}
	list := []campaign.Exhibit{steps}
	if x.Report != "" {
		e := campaign.TextExhibit("Standard error", x.Report)
		e.Text.ReportOf = x.Subject
		list = append(list, e)
	}
	if x.Place != "" {
		list = append(list, campaign.TextExhibit(placeTitle, x.Place))
	}
	return list
}
