package fresnelfir

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// A recorded trace may also contain queries: calls for which the model has observers. They change
// nothing, and their answers must match the model.

// question returns the observer that a step of a trace calls; nil: it is an action, or unknown.
func (f *conformance) question(r *recorded) *ir.Function {
	p := f.c.plan
	if p.program.Action(r.Action) >= 0 {
		return nil
	}
	for _, x := range p.doc.Functions {
		if (x.Name == r.Action || x.Binding == r.Action) && p.doc.Pair(x) != nil {
			return x
		}
	}
	return nil
}

// ask keeps the states in which the model gives the recorded answer to a query.
func (f *conformance) ask(r *recorded, x *ir.Function) []world {
	t, p := f.x.t, f.c.plan
	code := p.program.Call(p.doc.Pair(x).Name)
	returned := p.program.Entity(x.Result.Entity)
	return slices.DeleteFunc(slices.Clone(f.worlds), func(w world) bool {
		t.goBack(w.at, 0)
		var about []int32
		for _, param := range x.Params {
			v, given := r.Args[param.Name]
			if !given && len(x.Params) == 1 && len(r.Args) == 1 { // whatever name the trace uses
				for _, v = range r.Args {
					given = true
				}
			}
			at := model.None
			for _, i := range t.m.Live(p.program.Entity(param.Entity)) {
				if name := w.names[param.Entity+" "+plainText(v)]; name == t.m.Name(i) {
					at = i
				}
			}
			if !given || at == model.None {
				f.why = fmt.Sprintf("it does not name the %s that it asks about, as an earlier step did", param.Entity)
				return true
			}
			about = append(about, at)
		}
		v, ok := t.m.ValueWith(code, about)
		if !ok || r.Returns == nil {
			return false // the model does not predict the answer
		}
		want, got := t.m.Text(v), plainText(r.Returns)
		if returned >= 0 {
			got = w.names[x.Result.Entity+" "+got]
		}
		if want != got && want != fmt.Sprintf("%q", got) {
			f.why = "the model answers " + want
			return true
		}
		return false
	})
}

// refuse keeps the states in which the model does not allow what the system refused, wherever in
// its protocol it is. If there are none and the step does not record everything that was passed,
// the result is unsure.
func (f *conformance) refuse(r *recorded) (left []world, unsure string) {
	all, known := f.worlds, f.unsure
	keys, allowed := make([]string, len(all)), make(map[string]bool)
	whole := *r
	whole.Returns = nil // a refusal is no answer that the model could predict
	for i, w := range all {
		f.x.t.goBack(w.at, 0)
		keys[i] = string(f.x.t.m.Key(nil)) + fmt.Sprint(w.names)
		f.worlds = all[i : i+1]
		allowed[keys[i]] = len(f.follow(&whole)) > 0 || allowed[keys[i]]
	}
	f.worlds, f.unsure = all, known
	for i, w := range all {
		if !allowed[keys[i]] {
			left = append(left, w)
		}
	}
	if b := f.c.plan.doc.Binding(r.Action); b != nil && len(left) == 0 {
		for _, name := range b.Args {
			if src, ok := f.c.plan.doc.ArgumentOf(b, name); ok && src.Kind == ir.ArgInput && r.Args[name] == nil {
				f.untold(r, name)
			}
		}
	}
	return left, f.unsure
}

// untold notes the first step that does not record an argument and was not tried with all values.
func (f *conformance) untold(r *recorded, name string) {
	if f.unsure == "" {
		f.unsure = fmt.Sprintf("%s does not record %s, so this is uncertain: record it in the trace", r.at, name)
	}
}
