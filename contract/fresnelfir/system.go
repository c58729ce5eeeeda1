package fresnelfir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// optSystem is the option that names the system to explore with the model.
const optSystem = "system"

// systemRuntime is the runtime of a document whose entry is a system file.
const systemRuntime = "system"

// leastOfSystems is leastTraversals for systems, whose calls take longer than those of modules.
const leastOfSystems = 1000

// Systems sets how to open systems that a document or a user names.
func (k *Contract) Systems(open sut.Opener) *Contract {
	k.systems = open
	return k
}

// systemOf reads the system: the one that --system names, else the document's entry if its runtime
// is a system. nil: there is none.
func (k *Contract) systemOf(doc campaign.Spec, d *ir.Document, src *ir.Source, set campaign.Settings) (*sut.Plan, string, diag.List) {
	path := set.Get(optSystem, "")
	entry := d.Bindings.Place.Within("entry")
	refuse := func(message string) (*sut.Plan, string, diag.List) {
		return nil, "", diag.List{src.Report(diag.Error, entry, "entry", message, "")}
	}
	switch {
	case path != "" && set.Get(optModule, "") != "":
		return nil, "", diag.List{{Code: "fresnelfir.option", Pos: diag.Pos{File: doc.Path}, Message: "--" + optSystem + " and --" + optModule + " both name what is explored: give one"}}
	case path == "" && (d.Bindings.Runtime != systemRuntime || set.Get(optModule, "") == "none"):
		return nil, "", nil
	case path != "":
	case set.Get(optModule, "") != "":
		return refuse("is a system file; --" + optModule + " names a module")
	case d.Bindings.Entry == "":
		return refuse("must name a system file, as the runtime is " + systemRuntime)
	case !filepath.IsLocal(d.Bindings.Entry):
		return refuse(fmt.Sprintf("must be a path below the document's folder, got %q; name a system elsewhere with --%s", d.Bindings.Entry, optSystem))
	default:
		path = filepath.Join(filepath.Dir(doc.Path), d.Bindings.Entry)
	}
	plan, list := systemfile.Load(path, set.Read, set.Digest)
	if plan == nil {
		return nil, path, list
	}
	if plan.Kind == sut.Command || plan.Kind == sut.Chat {
		refused, _, why := refuse(fmt.Sprintf("the system %s is of kind %s, which keeps no state between calls: a model needs one of kind http, mcp, python, wasm or driver", plan.Name, plan.Kind))
		return refused, path, append(list, why...)
	}
	return plan, path, append(list, bindOperations(plan, d, src)...)
}

// bindOperations checks the document's bindings against the system's operations, if all are known,
// and notes which of them can refuse.
func bindOperations(plan *sut.Plan, d *ir.Document, src *ir.Source) (list diag.List) {
	complete := plan.Kind == sut.HTTP && plan.OpenAPI == ""
	check := func(at ir.Place, key, name string, args []string) *sut.Operation {
		o, ok := sut.Find(plan.Operations, name)
		if !ok && complete {
			list = append(list, src.Report(diag.Error, at.Within(key), "missing-operation",
				fmt.Sprintf("the system %s has no operation %q", plan.Name, name), diag.DidYouMean(name, operations(plan.Operations))))
		}
		if why := unfit(plan, o, args); why != "" {
			list = append(list, src.Report(diag.Error, at, "arity", why, ""))
		}
		return o
	}
	for i := range d.Bindings.Actions {
		b := d.Bindings.Actions[i]
		o := check(b.Place, "function", b.Function, b.Args)
		if o != nil && o.Refuses && b.Rejects == nil {
			b.Rejects = &ir.Rejects{Place: b.Place}
		}
	}
	for _, f := range d.Functions {
		if f.Observer {
			check(f.Place, "binding", f.Binding, seq.Map(f.Params, func(x ir.Param) string { return x.Name }))
		}
	}
	return list
}

// unfit says why an operation cannot be called with the arguments; "" if it can, as far as is
// known.
func unfit(plan *sut.Plan, o *sut.Operation, args []string) string {
	if o == nil || plan.Kind != sut.HTTP {
		return ""
	}
	names := seq.Map(o.Arguments, func(a sut.Argument) string { return a.Name })
	if slices.ContainsFunc(args, func(name string) bool { return !slices.Contains(names, name) }) { // passed by position
		if len(args) > len(names) {
			return fmt.Sprintf("the operation %q takes %s, got %s", o.Name, diag.Plural(len(names), "argument"), strconv.Itoa(len(args)))
		}
		args = names[:len(args)]
	}
	for _, a := range o.Arguments {
		if a.In == "path" && !slices.Contains(args, a.Name) {
			return fmt.Sprintf("the operation %q has {%s} in its path: the binding must give it as an argument", o.Name, a.Name)
		}
	}
	return ""
}

// operations returns the names of operations.
func operations(list []sut.Operation) (names []string) {
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}

// forSystem passes enum values by name, where modules take indices.
func (m *module) forSystem() {
	m.noun = "system"
	for i := range m.plan.Bindings {
		b := &m.plan.Bindings[i]
		for j := range b.Params {
			if b.Params[j].Kind == dut.Enum {
				b.Params[j].Kind = dut.String
			}
		}
		if b.Result == dut.Enum {
			b.Result = dut.String
		}
	}
	for i := range m.actions {
		for j := range m.actions[i].args {
			if a := &m.actions[i].args[j]; a.kind == dut.Enum {
				a.kind = dut.String
			}
		}
	}
}

// devices returns a dut.Opener for a system. The first bindings are those of actions.
func devices(open sut.Opener, plan *sut.Plan, actions int, crowd bool) dut.Opener {
	return func(_ context.Context, p dut.Plan) (dut.Device, error) {
		return &systemDevice{open: open, plan: plan, bindings: p.Bindings, actions: actions, crowd: crowd}, nil
	}
}

type systemDevice struct {
	open     sut.Opener
	plan     *sut.Plan
	bindings []dut.Binding
	actions  int  // how many bindings are of actions; the rest are of observers
	crowd    bool // actors call the system at the same time
}

// Info implements dut.Device.
func (d *systemDevice) Info() dut.Info {
	var notes []string
	if d.plan.KeepsState() {
		notes = append(notes, fmt.Sprintf("the system %s keeps its state between traversals, as its reset is none", d.plan.Name))
	}
	if d.plan.Unknown != "" {
		notes = append(notes, fmt.Sprintf("the system %s: %s", d.plan.Name, d.plan.Unknown))
	}
	return dut.Info{Notes: notes}
}

// Open implements dut.Device.
func (d *systemDevice) Open(ctx context.Context) (dut.Instance, error) {
	x, err := d.open(ctx, d.plan, sut.Worker{Of: 1, Crowd: d.crowd})
	if err != nil {
		return nil, err
	}
	s := &systemInstance{ctx: ctx, device: d, system: x, ops: x.Operations(), ids: &names{}}
	for _, b := range d.bindings {
		o, ok := sut.Find(s.ops, b.Function)
		if why := unfit(d.plan, o, seq.Map(b.Params, func(p dut.Param) string { return p.Name })); why != "" {
			return nil, errors.Join(diag.Environment("%s: the system %s: %s", b.At, d.plan.Name, why), x.Close())
		}
		if !ok && len(s.ops) > 0 {
			err := diag.Environment("%s: the system %s has no operation %q", b.At, d.plan.Name, b.Function)
			if near := diag.DidYouMean(b.Function, operations(s.ops)); near != "" {
				err = diag.WithHint(err, near)
			}
			return nil, errors.Join(err, x.Close())
		}
	}
	return s, s.Reset()
}

// Close implements dut.Device.
func (*systemDevice) Close() error { return nil }

// systemInstance is a system in the place of an instance of a module. It has no snapshots: to
// restore a state, it makes the calls again.
type systemInstance struct {
	ctx    context.Context
	device *systemDevice
	system sut.System
	ops    []sut.Operation
	calls  *made
	ids    *names // handles that are not numbers
	apart  bool   // one of several connections, whose calls are never repeated
	fault  *dut.Fault
	broken error
	trace  dut.Trace
}

// made is a call and the calls before it.
type made struct {
	before  *made
	binding int
	args    []dut.Value
}

// Size implements dut.Snapshot.
func (*made) Size() int { return 64 }

// Reset implements dut.Instance.
func (s *systemInstance) Reset() error {
	s.ids.clear()
	s.calls, s.broken = nil, nil
	return s.system.Reset(s.ctx)
}

// Snapshot implements dut.Instance.
func (s *systemInstance) Snapshot() dut.Snapshot { return s.calls }

// Restore implements dut.Instance.
func (s *systemInstance) Restore(to dut.Snapshot) error {
	if err := s.Reset(); err != nil {
		return err
	}
	var list []*made
	at, _ := to.(*made)
	for ; at != nil; at = at.before {
		list = append(list, at)
	}
	for _, c := range slices.Backward(list) {
		if s.Call(c.binding, c.args); s.broken != nil {
			return s.broken
		}
	}
	return nil
}

// Broken implements dut.Reached.
func (s *systemInstance) Broken() error { return s.broken }

// Changed implements dut.Instance. A system's memory is not visible.
func (*systemInstance) Changed(dut.Snapshot) (blocks, globals int) { return 0, 0 }

// Take implements dut.Instance.
func (s *systemInstance) Take() *dut.Trace { return &s.trace }

// Output implements dut.Instance.
func (*systemInstance) Output() (stdout, stderr []byte) { return nil, nil }

// Fault implements dut.Instance.
func (s *systemInstance) Fault() *dut.Fault { return s.fault }

// Close implements dut.Instance.
func (s *systemInstance) Close() error { return s.system.Close() }

// Call implements dut.Instance.
func (s *systemInstance) Call(binding int, args []dut.Value) dut.Reply {
	b := &s.device.bindings[binding]
	s.fault = nil
	if binding < s.device.actions && !s.apart {
		s.calls = &made{s.calls, binding, slices.Clone(args)}
	}
	call := sut.Call{Operation: b.Function}
	list := make([]json.RawMessage, len(args))
	names, ok := s.byName(b)
	op, _ := sut.Find(s.ops, b.Function)
	for i, a := range args {
		list[i] = s.lower(a)
		if op == nil || a.Kind != dut.String || !holdsJSON(a.Str) {
			continue
		}
		at := i
		if ok {
			at = slices.IndexFunc(op.Arguments, func(x sut.Argument) bool { return x.Name == names[i] })
		}
		if at < len(op.Arguments) && slices.Contains([]string{"array", "object"}, op.Arguments[at].Type) {
			list[i] = json.RawMessage(a.Str)
		}
	}
	if ok {
		for i, name := range names {
			call.Named = append(call.Named, sut.Named{Name: name, Value: list[i]})
		}
	} else {
		call.Positional = list
	}
	o, err := s.system.Call(s.ctx, call)
	if err == nil && o.End == sut.Unreachable {
		err = diag.Environment("the system %s is unreachable: %s", s.device.plan.Name, o.Why)
	}
	if err != nil {
		s.broken = err
		return s.fails(dut.OtherTrap, err.Error(), nil)
	}
	switch {
	case o.End == sut.Answered:
		if b.Part == "" && s.device.plan.Kind == sut.MCP {
			o.Value = agentcall.Unwrapped(o.Value, o.Output)
		}
		v, ok := valueAt(b.Part, o.Value)
		if !ok {
			s.fails(dut.Refused, fmt.Sprintf("the answer %.60s has no %s", o.Value, b.Part), nil)
			return dut.Reply{Cause: dut.Refused}
		}
		if b.Nested && len(v) > 0 && (v[0] == '[' || v[0] == '{') {
			return dut.Reply{Value: dut.Text(canonical(v))}
		}
		return s.lift(b.Result, v)
	case o.End == sut.Refused && !o.Undeclared:
		s.fails(dut.Refused, o.Why, nil)
		return dut.Reply{Cause: dut.Refused}
	case o.End == sut.Refused:
		return s.fails(dut.OtherTrap, o.Why+" is not a refusal that the operation lists", nil)
	case o.End == sut.Hung:
		return s.fails(dut.Timeout, o.Why, nil)
	}
	cause := crash.Analyze(crash.Death{Signal: o.Signal, ExitCode: o.Exit, Stderr: o.Printed})
	how := dut.OtherTrap
	if k := s.device.plan.Kind; k != sut.Python && k != sut.WASM { // these refuse with an exception or a trap
		how = dut.Died
	}
	reply := s.fails(how, crash.Restore(crash.Mask(o.Why), []byte(o.Why)), cause.Frames)
	s.fault.Report = strings.ToValidUTF8(string(o.Printed), "\uFFFD")
	return reply
}

// byName returns the names of a binding's arguments if the operation takes arguments by these
// names; false: they are passed by position.
func (s *systemInstance) byName(b *dut.Binding) (names []string, ok bool) {
	if k := s.device.plan.Kind; k == sut.Driver || k == sut.Python || k == sut.WASM {
		return nil, false
	}
	op, _ := sut.Find(s.ops, b.Function)
	for _, p := range b.Params {
		if op == nil || !slices.ContainsFunc(op.Arguments, func(a sut.Argument) bool { return a.Name == p.Name }) {
			return nil, false
		}
		names = append(names, p.Name)
	}
	return names, true
}

func (s *systemInstance) fails(cause dut.Cause, message string, frames []string) dut.Reply {
	s.fault = &dut.Fault{Cause: cause, Message: message, Stack: frames}
	return dut.Reply{Cause: cause}
}

// lower converts a value for the system. A handle is passed as the system returned it.
func (s *systemInstance) lower(v dut.Value) json.RawMessage {
	switch v.Kind {
	case dut.String:
		text, err := json.Marshal(strings.ToValidUTF8(v.Str, "\uFFFD"))
		if err != nil {
			return json.RawMessage("null")
		}
		return text
	case dut.Bool:
		return strconv.AppendBool(nil, v.Int != 0)
	case dut.Ref:
		if id, ok := s.ids.of(v.Int); ok {
			return json.RawMessage(id)
		}
	}
	return strconv.AppendInt(nil, v.Int, 10)
}

// lift converts an answer for the model.
func (s *systemInstance) lift(kind dut.Kind, v json.RawMessage) dut.Reply {
	text := string(v)
	bad := func() dut.Reply {
		return s.fails(dut.BadResult, fmt.Sprintf("the answer %.60s does not fit what the binding returns", v), nil)
	}
	number := func(k dut.Kind) dut.Reply {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || f != float64(int64(f)) {
				return bad()
			}
			n = int64(f)
		}
		return dut.Reply{Value: dut.Number(k, n)}
	}
	switch kind {
	case dut.Void:
		return dut.Reply{}
	case dut.Bool:
		switch text {
		case "true":
			return dut.Reply{Value: dut.Number(dut.Bool, 1)}
		case "false", "null":
			return dut.Reply{Value: dut.Number(dut.Bool, 0)}
		}
		return number(dut.Bool)
	case dut.String:
		var str string
		if json.Unmarshal(v, &str) != nil {
			return bad()
		}
		return dut.Reply{Value: dut.Text(str)}
	case dut.Ref:
		switch {
		case text == "null":
			return dut.Reply{Value: dut.Number(dut.Ref, 0)}
		case strings.HasPrefix(text, `"`):
			return dut.Reply{Value: dut.Number(dut.Ref, s.ids.number(text))}
		}
	}
	return number(kind)
}

// Traits implements [campaign.WithTraits]. A model cannot be explored while others change the same
// state, and parallel actors never do the same thing twice.
func (c *Campaign) Traits() campaign.Traits {
	out := campaign.Traits{Planned: c.budget, Exclusive: c.system != nil && c.system.Shared(), Gauge: c.gauge}
	if c.parallel {
		out.Comparable = campaign.CompareNone
	}
	return out
}
