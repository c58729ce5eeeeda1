package mutator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// ask prepares the call of a remote operator for a child.
func (l *Lane) ask(w *work, op int, mutate *pyrand.Rand) {
	e := &l.m.registry.entries[op]
	w.op = op
	l.context(w, e)
	w.call = Call(e, w.child.Text, &l.ctx, w.child.Derived)
	if !w.fresh {
		w.call.State = mutate.AppendState(nil)
	}
	w.call.WantState = w.step+1 < l.m.cfg.Steps
	w.call.WantStateUnlessOK = l.m.cfg.Redraws > 0 && len(w.plan.ops) > 1
}

// Call returns the call of a remote operator with a new generator. The strength is
// passed as requested: existing modules clamp it themselves, and what they note in
// their traces must stay the same.
func Call(e *Entry, seed string, ctx *textop.Context, rng uint64) pyhost.OperatorCall {
	tag := ctx.SurfaceTag
	if ctx.Surface != "" {
		tag = e.Meta.SurfaceTag(ctx.Surface, ctx.SurfaceTag)
	}
	values, err := json.Marshal(ctx.Values(tag))
	if err != nil { // a context consists of JSON
		panic(err)
	}
	return pyhost.OperatorCall{Module: e.Module, Seed: seed, Context: values, RNG: rng}
}

// apply applies the operators that children wait for, and continues with each
// child. It returns those that wait again.
func (l *Lane) apply(ctx context.Context, waiting []*work) ([]*work, error) {
	if l.remote == nil {
		return nil, fmt.Errorf("operator %s: there is no host for it", l.m.registry.entries[waiting[0].op].Meta.ID)
	}
	calls := seq.Map(waiting, func(w *work) pyhost.OperatorCall { return w.call })
	left := waiting[:0]
	err := l.remote.Apply(ctx, calls, func(i int, reply *pyhost.OperatorReply) error {
		w := waiting[i]
		again, err := l.take(ctx, w, reply)
		if again {
			left = append(left, w) // overwrites an entry that has been read
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("applying operators in their host: %w", err)
	}
	return left, nil
}

// take continues a child with its operator's result, until it is finished or waits
// again.
func (l *Lane) take(ctx context.Context, w *work, reply *pyhost.OperatorReply) (waits bool, err error) {
	e := &l.m.registry.entries[w.op]
	l.context(w, e)
	a := Answer(e, w.child.Text, &l.ctx, reply)
	if len(reply.State) == 0 && w.call.WantStateUnlessOK && reply.End == pyhost.Applied && !w.takes(&a.Result) {
		// The operator said OK, but its child is refused. The next operator
		// continues from its generator's state, so it is asked again, for that
		// state.
		w.call.WantState, w.call.WantStateUnlessOK = true, false
		return true, nil
	}
	if len(reply.State) > 0 {
		if err := w.mutate.SetState(reply.State); err != nil {
			return false, fmt.Errorf("operator %s: %w", e.Meta.ID, err)
		}
		w.fresh = false
	} else if w.fresh { // the state was not asked for, or was lost with the host
		w.mutate.SeedUint64(w.child.Derived)
	}
	w.answer(w.op, e, &a)
	l.settle(w, w.op, &a.Result)
	return l.advance(ctx, w, &w.draw, &w.mutate)
}

// takes reports whether settle accepts the child of a result.
func (w *work) takes(r *textop.Result) bool {
	return r.Status == textop.OK && w.guard.Apply(r.Child).Text != w.child.Text
}

// Answer checks a reply against the contract, as [textop.Run] does for operators
// that are applied here.
func Answer(e *Entry, seed string, ctx *textop.Context, reply *pyhost.OperatorReply) Answered {
	a := Answered{At: e.Source, Printed: reply.Printed, GlobalRandom: reply.GlobalRandom}
	r := textop.Result{Status: textop.Status(reply.Status), Child: reply.Child}
	if reply.Error != nil {
		r.Error = *reply.Error
	}
	if reply.End == pyhost.Applied {
		raw, why := decodeTrace(reply.Trace)
		if why != "" {
			r.Breaches = append(r.Breaches, why)
		}
		Claim(&r, e.Meta.ID, seed, raw)
		for _, n := range reply.Notes {
			r.Breaches = append(r.Breaches, "what it returned cannot be written as it is: "+n)
		}
	} else {
		a.Fault = string(reply.End)
		if f := reply.Fault; f != nil {
			a.Fault = f.Class
			if f.Message != "" {
				a.Fault += ": " + f.Message
			}
			a.Fault = oneLine(a.Fault)
			if f.Line > 0 {
				a.At = diag.Pos{File: asNamed(f.File, e.Source.File), Line: f.Line, Col: 1}
			}
		}
		r = textop.Result{Status: textop.Invalid, Child: seed, Error: a.Fault}
		n := utf8.RuneCountInString(seed)
		r.Trace = textop.Step{OpID: e.Meta.ID, Status: r.Status, Params: textop.Params{{Key: "reason", Value: "exception"}}, LenBefore: n, LenAfter: n}
	}
	a.Result = textop.Run(answered{e.Meta, r}, seed, ctx, nil)
	return a
}

// asNamed returns an absolute path as the user named the file, if it is that file:
// all diagnostics of a file should show one path.
func asNamed(abs, named string) string {
	tail := path.Clean(named)
	for strings.HasPrefix(tail, "../") {
		tail = tail[len("../"):]
	}
	if strings.HasSuffix(abs, "/"+strings.TrimPrefix(tail, "/")) {
		return named
	}
	return abs
}

// answered is an operator whose answer is already there.
type answered struct {
	meta   *textop.Meta
	result textop.Result
}

func (a answered) Meta() *textop.Meta { return a.meta }
func (a answered) Apply(string, *textop.Context, *pyrand.Rand) textop.Result {
	return a.result
}

// decodeTrace reads a trace; why is not empty if it is not an object.
func decodeTrace(data json.RawMessage) (raw map[string]any, why string) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil || raw == nil {
		return map[string]any{}, "the trace is not a dict (OC-4.1)"
	}
	return raw, ""
}

// Claim fills r.Trace with the claims of a plug-in: a decoded trace, for an
// application of the operator id to seed that returned r.Status and r.Child. A
// missing minimal field (OC-5.1) is a breach and counts as correct, so that it is
// reported only once; other fields are kept. [textop.Run] compares the claims with
// the truth.
func Claim(r *textop.Result, id, seed string, raw map[string]any) {
	breach := func(format string, args ...any) { r.Breaches = append(r.Breaches, fmt.Sprintf(format, args...)) }
	r.Trace = textop.Step{OpID: id, Status: r.Status, LenBefore: utf8.RuneCountInString(seed), LenAfter: utf8.RuneCountInString(r.Child)}
	for _, key := range []string{"op_id", "status", "params", "len_before", "len_after"} {
		if _, ok := raw[key]; !ok {
			breach("the trace has no %s (OC-5.1)", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		v := raw[key]
		switch key {
		case "op_id":
			r.Trace.OpID = text(v)
		case "status":
			r.Trace.Status = textop.Status(text(v))
		case "len_before":
			r.Trace.LenBefore = whole(v)
		case "len_after":
			r.Trace.LenAfter = whole(v)
		case "params":
			p, ok := v.(map[string]any)
			if !ok {
				breach("the trace has params that are no dict (OC-5.1)")
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(p)) {
				r.Trace.Params = append(r.Trace.Params, textop.Param{Key: name, Value: p[name]})
			}
		default:
			r.Trace.Extra = append(r.Trace.Extra, textop.Param{Key: key, Value: v})
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// whole returns an integer, or -1, which is never a length.
func whole(v any) int {
	switch v := v.(type) {
	case int64:
		return int(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
	}
	return -1
}
