package starop

import (
	"fmt"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/starbox"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Operator applies a file. Only one goroutine at a time may use it.
type Operator struct {
	source *Source
	box    *starbox.Box
	apply  starlark.Value
	rng    generator

	// What the last Apply did besides returning its result; see Witness.
	fault   string
	place   diag.Pos
	printed string
}

// New makes an operator with its own globals.
func (s *Source) New() (*Operator, error) {
	o := &Operator{source: s}
	box, err := s.prog.Open(starbox.DefaultLimits(), func(b *starbox.Budget) starlark.StringDict {
		o.rng.budget = b
		return environment(b)
	})
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", s.prog.Path, err)
	}
	o.box, o.apply = box, box.Global(applyName)
	return o, nil
}

// Meta implements [textop.Operator].
func (o *Operator) Meta() *textop.Meta { return &o.source.Meta }

// Witness returns what the last Apply did besides returning its result: the
// fault that made it INVALID, if it did not return one itself, its position in
// the file, and what was printed.
func (o *Operator) Witness() (fault string, at diag.Pos, printed string) {
	fault, at, printed = o.fault, o.place, o.printed
	o.fault, o.place, o.printed = "", diag.Pos{}, "" // reported once: a skip without a call leaves no trace
	if at.Line == 0 {
		at = o.source.Apply
	}
	return fault, at, printed
}

// Apply implements [textop.Operator].
func (o *Operator) Apply(seed string, ctx *textop.Context, rng *pyrand.Rand) textop.Result {
	o.fault, o.place = "", diag.Pos{}
	strength := ctx.Strength
	tag := ctx.SurfaceTag
	if ctx.Surface != "" {
		tag = o.source.Meta.SurfaceTag(ctx.Surface, ctx.SurfaceTag)
	}
	ctx.Strength = o.source.Meta.Strength.Clamp(strength)
	values := ctx.Values(tag)
	ctx.Strength = strength
	dict, err := lift(values)
	if err != nil {
		return o.failed(seed, "the context: "+err.Error())
	}
	o.rng.rand = rng
	v, err := o.box.Call(o.apply, starlark.String(seed), dict, &o.rng)
	o.rng.rand = nil
	o.printed = o.box.Printed()
	if err != nil {
		e := err.(*starbox.Error) // Call returns no other
		o.place = e.Pos
		return o.failed(seed, e.Message)
	}
	r, why := o.returned(seed, v)
	if why != "" {
		return o.failed(seed, why)
	}
	return r
}

// failed returns INVALID because of a fault of the file.
func (o *Operator) failed(seed, why string) textop.Result {
	o.fault = why
	n := utf8.RuneCountInString(seed)
	return textop.Result{Status: textop.Invalid, Child: seed, Error: why, Trace: textop.Step{
		OpID: o.source.Meta.ID, Status: textop.Invalid, Params: textop.Params{{Key: "reason", Value: "exception"}}, LenBefore: n, LenAfter: n,
	}}
}

// returned reads what apply returned; why is not empty if that is not a result.
func (o *Operator) returned(seed string, v starlark.Value) (r textop.Result, why string) {
	switch v := v.(type) {
	case *result:
		r = textop.Result{Status: textop.Status(v.status), Child: v.child, Error: v.err}
		if v.trace == nil || v.trace == starlark.None {
			p, err := params(v.params)
			if err != nil {
				return r, "the params: " + err.Error()
			}
			r.Trace = textop.Step{OpID: o.source.Meta.ID, Status: r.Status, Params: p, LenBefore: utf8.RuneCountInString(seed), LenAfter: utf8.RuneCountInString(v.child)}
			return r, ""
		}
		return r, o.trace(&r, seed, v.trace)
	case *starlark.Dict:
		var trace starlark.Value
		for _, item := range v.Items() {
			key, _ := starlark.AsString(item[0])
			text, isText := starlark.AsString(item[1])
			switch key {
			case "status":
				if !isText {
					return r, "status is " + named(item[1]) + ": expected a string"
				}
				r.Status = textop.Status(text)
			case "child_text":
				if !isText {
					return r, "child_text is " + named(item[1]) + ": expected a string"
				}
				r.Child = text
			case "error":
				if !isText && item[1] != starlark.None {
					return r, "error is " + named(item[1]) + ": expected a string or None"
				}
				r.Error = text
			case "trace":
				trace = item[1]
			}
		}
		for _, key := range []string{"status", "child_text", "trace"} {
			if _, found, _ := v.Get(starlark.String(key)); !found {
				return r, "the result has no " + key + ": expected status, child_text, trace and error (OC-4.1)"
			}
		}
		return r, o.trace(&r, seed, trace)
	}
	return r, fmt.Sprintf("apply returned a %s: expected an ApplyResult, or a dict like one (OC-4.1)", v.Type())
}

// trace reads a trace that the file made itself. A missing minimal field is a
// breach; the engine fills it in.
func (o *Operator) trace(r *textop.Result, seed string, v starlark.Value) string {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return "the trace is " + named(v) + ": expected a dict"
	}
	raw, err := jsonValue(d, 0)
	if err != nil {
		return "the trace: " + err.Error()
	}
	mutator.Claim(r, o.source.Meta.ID, seed, raw.(map[string]any))
	if p, found, _ := d.Get(starlark.String("params")); found {
		if pd, ok := p.(*starlark.Dict); ok { // in the dict's order
			r.Trace.Params, _ = params(pd) // plain has found no fault in it
		}
	}
	return ""
}
