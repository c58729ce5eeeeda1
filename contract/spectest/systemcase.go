package spectest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
)

// systemCall is a case of type system.call.
type systemCall struct {
	plan  *sut.Plan
	call  sut.Call
	looks bool // the case asserts how the call ends
}

// plans are the systems that cases of a document name, each read once. Several goroutines decode
// cases, and a case is decoded again when it runs.
type plans struct {
	mu   sync.Mutex
	list map[string]*loadedPlan // by path, or by the text of an inline one
	set  campaign.Settings
	with string // the file of --system; "": none
	used bool   // a case to run calls one
}

type loadedPlan struct {
	plan   *sut.Plan
	faults diag.List
	exact  bool // the faults have their true place in the document
}

// plan returns the system that a case names; n is nil if it names none.
func (d *document) plan(n *doctree.Node) *loadedPlan {
	s := &d.systems
	s.mu.Lock()
	defer s.mu.Unlock()
	key, inline := s.with, s.with == "" && n.Kind == doctree.Map
	if key == "" && inline {
		key = fmt.Sprintf("%d:%d ", n.Pos.Line, n.Pos.Col) + string(jsonBytes(n))
	} else if key == "" {
		if key = filepath.FromSlash(textOf(n)); !filepath.IsAbs(key) {
			key = filepath.Join(filepath.Dir(d.path), key)
		}
	}
	if p := s.list[key]; p != nil {
		return p
	}
	p := &loadedPlan{exact: inline}
	if inline {
		p.plan, p.faults = systemfile.Embedded(d.path, n, jsonBytes(n), d.source, s.set.Read, s.set.Digest)
	} else {
		p.plan, p.faults = systemfile.Load(key, s.set.Read, s.set.Digest)
	}
	if p.plan != nil && slices.ContainsFunc(p.plan.Command, func(w string) bool { return strings.Contains(w, campaign.Self) }) {
		p.plan.Command = s.set.Programs(p.plan.Command)
		if sum, err := s.set.Digest(s.set.Self); err == nil {
			p.plan.Digest, p.plan.Unknown = p.plan.Digest+sum, ""
		}
	}
	if s.list == nil {
		s.list = make(map[string]*loadedPlan)
	}
	s.list[key] = p
	return p
}

// all returns the systems read so far, in a fixed order.
func (s *plans) all() []*sut.Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*sut.Plan
	for _, p := range s.list {
		if p.plan != nil {
			list = append(list, p.plan)
		}
	}
	slices.SortFunc(list, func(a, b *sut.Plan) int { return strings.Compare(a.Digest, b.Digest) })
	return list
}

// Traits implements [campaign.WithTraits]: resetting an instance that others use at the same time
// would cause false findings.
func (c *Campaign) Traits() campaign.Traits {
	return campaign.Traits{
		Planned: c.Planned(), Early: true, Exclusive: slices.ContainsFunc(c.doc.systems.all(), (*sut.Plan).Exclusive),
		Once: func(at campaign.Case, _ *campaign.Outcome) string { return c.unrepeatable(at) }, SkipReason: c.skipReason, Gauge: noGauge,
	}
}

func (d *decoder) systemCall(s *doctree.Section) {
	x := &systemCall{}
	d.c.system = x
	named, op := d.harness.Node("system"), s.Node("operation")
	if !op.IsNull() {
		x.call.Operation, d.c.about = trimmed(op), op.Pos
	}
	d.arguments(s.Value("arguments"))
	if in := s.Node("input"); !in.IsNull() {
		if x.call.Input = []byte(textOf(in)); in.Kind == doctree.Map || in.Kind == doctree.Seq {
			x.call.Input = jsonBytes(in)
		}
	}
	if x.call.Operation == "" && x.call.Input == nil {
		d.schema(s.Raw(), "missing-key", "operation", "system.call requires operation, or input if the system file names an input")
	}
	d.limit(&x.call.Timeout)
	d.repeatable(true)
	x.looks = d.c.tree.asksFor("status", "end")
	if named.IsNull() && d.doc.systems.with == "" {
		d.schema(d.harness.Raw(), "missing-key", "harness.system", "system.call requires harness.system: a system file or a mapping; or give --%s FILE", optSystem)
		return
	}
	p := d.doc.plan(named)
	for _, f := range p.faults {
		if !p.exact {
			d.faults = append(d.faults, f)
		} else {
			f.Path = strings.TrimSuffix("harness.system."+f.Path, ".")
			d.faults = append(d.faults, f)
		}
		if f.Level == diag.Error && d.c.fault == nil {
			at := d.c.pos(named)
			d.c.fault = &Failure{Category: Schema, Message: "the system cannot be used: " + diag.Diagnostic{Path: f.Path, Message: f.Message}.Text(), Path: "harness.system", Line: at.Line, Col: at.Col}
		}
	}
	if x.plan = p.plan; x.plan == nil {
		return
	}
	if x.plan.OpenAPI == "" && (x.plan.Kind == sut.HTTP || x.plan.Kind == sut.Driver && len(x.plan.Operations) > 0) {
		if f := x.unknown(x.plan.Operations); f != nil {
			d.fail(Schema, d.c.pos(op), "unknown-word", f.Path, f.Message, f.Saw)
		}
	}
}

// arguments reads the arguments of the operation: a mapping by name, a list by position.
func (d *decoder) arguments(n *doctree.Node) {
	call := &d.c.system.call
	value := func(v *doctree.Node) json.RawMessage {
		j := v.JSON()
		return jsontree.Style{Kept: true}.Append(nil, &j)
	}
	switch {
	case n == nil:
	case n.Kind == doctree.Map:
		for i := range n.Members() {
			call.Named = append(call.Named, sut.Named{Name: textOf(&n.Members()[i].Key), Value: value(&n.Members()[i].Value)})
		}
	default:
		for i := range n.Items() {
			call.Positional = append(call.Positional, value(&n.Items()[i]))
		}
	}
}

// unknown is the failure of a call to an operation, or with an argument, that the system does not
// have. Saw suggests what might be meant.
func (x *systemCall) unknown(known []sut.Operation) *Failure {
	if len(known) == 0 || x.call.Operation == "" {
		return nil
	}
	var names []string
	for _, o := range known {
		names = append(names, o.Name)
	}
	nearest := func(name string, list []string) string {
		return cmp.Or(diag.DidYouMean(name, list), "known are "+oneOf(list))
	}
	op, ok := sut.Find(known, x.call.Operation)
	if !ok {
		return &Failure{Category: Schema, Path: "operation", Message: fmt.Sprintf("the system %s has no operation %q", x.plan.Name, x.call.Operation), Saw: nearest(x.call.Operation, names)}
	}
	names = nil
	for _, a := range op.Arguments {
		names = append(names, a.Name)
	}
	for _, a := range x.call.Named {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			return &Failure{Category: Schema, Path: "arguments." + a.Name, Message: fmt.Sprintf("the operation %s has no argument %q", op.Name, a.Name), Saw: nearest(a.Name, names)}
		}
	}
	return nil
}

// asksFor reports whether a leaf in a tree examines one of some targets.
func (n *node) asksFor(targets ...string) bool {
	return n != nil && (n.kind == leaf && (slices.Contains(targets, n.target) || n.asksWhen(targets...)) ||
		slices.ContainsFunc(n.children, func(c *node) bool { return c.asksFor(targets...) }))
}

// observed is the observation of a system call.
type observed struct{ sut.Observation }

// subject implements subjects.
func (o observed) subject(target string) (speclang.Value, *Failure) {
	text := func(json []byte) (speclang.Value, *Failure) {
		v, err := speclang.ParseJSON(validText(json))
		if err != nil {
			return v, notJSON(target, validText(json), err)
		}
		return v, nil
	}
	switch target {
	case "status":
		return speclang.IntValue(int64(o.Status)), nil
	case "end":
		return speclang.StringValue(string(o.End)), nil
	case "output":
		return speclang.StringValue(validText(o.Output)), nil
	case "value":
		if o.Value == nil {
			return text([]byte("null"))
		}
		return text(o.Value)
	case "events":
		list := o.Events
		if list == nil {
			list = []sut.Event{}
		}
		j, _ := json.Marshal(list) // raw JSON and strings
		return text(j)
	}
	return speclang.Value{}, &Failure{Category: Schema, Message: "unknown assert target for system.call: " + target}
}

// opened returns the system of a plan, opened for this lane.
func (x *executor) opened(ctx context.Context, p *sut.Plan) (sut.System, error) {
	if s := x.systems[p]; s != nil {
		return s, nil
	}
	open := x.c.contract.targets.Systems
	if open == nil {
		return nil, campaign.Fatal("systems cannot be reached: %w", errNoTarget)
	}
	if x.systems == nil {
		x.systems = make(map[*sut.Plan]sut.System)
	}
	if key := x.systemKey(p); key != "" {
		if kept, ok := x.session.cache.Take(key); ok {
			x.systems[p] = kept.(sut.System) // nothing else is cached under this key
			return x.systems[p], nil
		}
	}
	s, err := open(ctx, p, sut.Worker{Index: x.lane.Index, Of: x.lane.Of, Cold: x.lane.Cold})
	if err != nil {
		return nil, err
	}
	x.systems[p] = s
	return s, nil
}

// systemKey is the name under which a per-run system is cached for later documents of the run; ""
// if it is not cached.
func (x *executor) systemKey(p *sut.Plan) string {
	if p.Per != sut.PerRun || len(p.Command) == 0 || p.Digest == "" || x.lane.Cold {
		return ""
	}
	return "spectest system " + p.Digest
}

// callSystem runs a system.call case: a reset and one call.
func (x *executor) callSystem(ctx context.Context, c *Case) (*Failure, evidence, error) {
	s, err := x.opened(ctx, c.system.plan)
	if err != nil {
		return nil, nil, err
	}
	if !x.chain[c.system.plan] { // a chain is one case
		if err := s.Reset(ctx); err != nil {
			return nil, nil, err
		}
	}
	if x.chain != nil {
		x.chain[c.system.plan] = true
	}
	if f := c.system.unknown(s.Operations()); f != nil {
		f.Message, f.Saw = f.Message+" ("+f.Saw+")", ""
		return f, nil, nil
	}
	o, err := s.Call(ctx, c.system.call)
	if err != nil {
		return nil, nil, err
	}
	if o.End == sut.Unreachable { // this says nothing about the system under test
		return nil, nil, campaign.Transient("the system %s is unreachable: %s", c.system.plan.Name, o.Why)
	}
	var notes evidence
	notes.add("call", []byte(c.system.String()+"\n"))
	notes.add("answer", answerText(&o))
	notes.add("stderr", o.Printed)
	if o.End != sut.Answered && !c.system.looks {
		return &Failure{Category: Runtime, Path: "operation", Message: fmt.Sprintf("%s %s: %s", strings.TrimSuffix("the call of "+c.system.call.Operation, " of "), o.End, o.Why)}, notes, nil
	}
	return x.eval.judge(c, observed{o}), notes, nil
}

// answerText describes the observation of a call.
func answerText(o *sut.Observation) []byte {
	text := string(o.End)
	if o.Status != 0 {
		text += " status " + strconv.Itoa(o.Status)
	}
	if o.Why != "" {
		text += ": " + o.Why
	}
	text += "\n"
	if o.Value != nil && string(o.Value) != string(o.Output) {
		text += "value " + string(o.Value) + "\n"
	}
	for _, e := range o.Events {
		j, _ := json.Marshal(e) // raw JSON and strings
		text += "event " + string(j) + "\n"
	}
	return fmt.Appendf(nil, "%s\n%s", text, validText(o.Output))
}

// String returns the call in readable form.
func (x *systemCall) String() string {
	var args []string
	for _, a := range x.call.Named {
		args = append(args, a.Name+"="+string(a.Value))
	}
	for _, v := range x.call.Positional {
		args = append(args, string(v))
	}
	text := x.call.Operation + "(" + strings.Join(args, ", ") + ")"
	if x.plan != nil {
		text = x.plan.Name + ": " + text
	}
	if x.call.Input != nil {
		text += " with the input " + quoteClipped(string(x.call.Input))
	}
	if x.call.Timeout > 0 {
		text += " within " + x.call.Timeout.Round(time.Millisecond).String()
	}
	return text
}
