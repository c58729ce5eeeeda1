package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/dut"
)

// Limits of the calls made to a module to see what it does.
const (
	sequences = 300
	inARow    = 14
	// Every third sequence repeats one function on one instance, half of them with large numbers. It
	// is longer than the traversals of a run, so that it meets the bounds that they can reach: a draft
	// that has not seen a bound claims that there is none.
	repeating = 3
	repeated  = 40
	largest   = 100 // largest integer tried
)

// modelOfModule drafts a model of a module from calls made to it.
func modelOfModule(ctx context.Context, f *draft.ModelFacts, binary []byte, calls []draft.Export, dictionary []byte) (err error) {
	plan := dut.Plan{Binary: binary}
	for i := range calls {
		plan.Bindings = append(plan.Bindings, calls[i].Bind())
		o := draft.Op{Name: calls[i].Name, Handle: -1, Answers: calls[i].Result}
		for k, p := range calls[i].Params {
			s := draft.Slot{Name: plan.Bindings[i].Params[k].Name, Kind: "int", Max: largest}
			if p.Text {
				s.Kind, s.Values = "text", draft.Texts(dictionary)
			}
			o.Slots = append(o.Slots, s)
		}
		f.Ops = append(f.Ops, o)
	}
	draft.Classify(f.Ops)
	device, err := modules()(ctx, plan)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	x, err := device.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	s := &sampler{ops: f.Ops, x: x, plan: &plan, rng: rand.New(rand.NewPCG(1, 2)), fresh: make([]int, len(f.Ops)), again: make([]int, len(f.Ops))}
	// A function that never changes the module's memory only reads.
	moved, took := make([]bool, len(f.Ops)), make([]int, len(f.Ops))
	first, varied := make([]any, len(f.Ops)), make([]bool, len(f.Ops))
	s.watch = func(op int, before dut.Snapshot, st *draft.Step) {
		if st.Refused || st.Broken != "" {
			return
		}
		if took[op]++; took[op] == 1 {
			first[op] = st.Value
		}
		varied[op] = varied[op] || st.Value != first[op]
		if blocks, globals := x.Changed(before); blocks+globals > 0 {
			moved[op] = true
		}
	}
	for range sequences {
		if _, err := s.sequence(ctx); err != nil {
			return err
		}
	}
	draft.Unmake(f.Ops, func(op int) bool { return s.again[op] > s.fresh[op] })
	for i := range f.Ops {
		o := &f.Ops[i]
		if o.Makes || !o.Answers || took[i] < 5 || moved[i] {
			continue
		}
		// One answer for all arguments may be how it refuses arguments that were never right.
		if !varied[i] && slices.ContainsFunc(o.Slots, func(x draft.Slot) bool { return o.Handle < 0 || x.Name != o.Slots[o.Handle].Name }) {
			o.Left, o.Skip = fmt.Sprintf("%d calls changed nothing and answered %v: what else it may do was not seen", took[i], first[i]), true
		} else {
			o.Pure, o.Again, o.Ends = fmt.Sprintf("%d calls changed nothing in its memory", took[i]), "", ""
		}
	}
	spread := make([]bool, len(f.Ops))
	s.watch, s.spread = nil, spread
	for range sequences {
		if _, err := s.sequence(ctx); err != nil {
			return err
		}
	}
	for i, name := range draft.Named(f.Ops) {
		if spread[i] {
			f.Drop[draft.Claim{Of: name}] = "it also changes instances that it does not receive"
			s.ops[i].Skip = true
		}
	}
	for range sequences {
		list, err := s.sequence(ctx)
		if err != nil {
			return err
		}
		f.Sequences = append(f.Sequences, list)
	}
	return nil
}

// sampler makes calls in random order and looks at the instances after each.
type sampler struct {
	ops  []draft.Op
	x    dut.Instance
	plan *dut.Plan
	rng  *rand.Rand
	// watch sees each call. spread holds, by operation, whether it changes other instances.
	watch  func(op int, before dut.Snapshot, st *draft.Step)
	spread []bool
	made   int // sequences so far
	// fresh and again count, by operation, how often a function that is taken to make instances
	// answered a new number, and one that it had answered before in the sequence.
	fresh, again []int
}

// seenInstance is an instance that a sequence created.
type seenInstance struct {
	name   string
	entity string
	handle any
	state  draft.State
	live   bool
}

func (s *sampler) sequence(ctx context.Context) (list []draft.Step, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("calling the module: %w", err)
	}
	if err := s.x.Reset(); err != nil {
		return nil, err
	}
	var all []*seenInstance
	alone := &seenInstance{live: true}
	alone.state = s.look(alone)
	calls, favourite, great := inARow, -1, false
	if s.made++; s.made%repeating == 0 {
		calls, favourite = repeated, s.made/repeating%len(s.ops)
		great = s.rng.IntN(2) == 0
	}
	for range calls {
		op, again := s.rng.IntN(len(s.ops)), favourite >= 0 && s.rng.IntN(8) > 0
		if again {
			op = favourite
		}
		o := &s.ops[op]
		if o.Skip {
			continue
		}
		st := draft.Step{Op: op}
		on := alone
		if o.Handle >= 0 {
			fit := slices.DeleteFunc(slices.Clone(all), func(i *seenInstance) bool { return i.entity != o.Entity })
			if len(fit) == 0 {
				if op = slices.IndexFunc(s.ops, func(m draft.Op) bool { return m.Makes && m.Entity == o.Entity }); op < 0 {
					continue
				}
				o, st.Op = &s.ops[op], op
			} else {
				on = fit[0]
				if !again {
					on = fit[s.rng.IntN(len(fit))]
				}
			}
		}
		for k := range o.Slots {
			v := s.draw(&o.Slots[k], on, great)
			if k == o.Handle {
				v = on.handle
			}
			st.Args = append(st.Args, v)
		}
		if !o.Makes {
			st.On, st.Before = on.name, s.known(on)
		}
		for _, i := range all {
			if i.entity == o.Entity && i.live {
				st.Live++
			}
		}
		var before dut.Snapshot
		if s.watch != nil {
			before = s.x.Snapshot()
		}
		s.call(&st)
		if s.watch != nil {
			s.watch(op, before, &st)
		}
		switch st.Broken {
		case "":
		case full:
			return list, nil
		default:
			return append(list, st), nil
		}
		for _, i := range append(all, alone) {
			now := s.look(i)
			if i != on && !maps.Equal(now, i.state) && i != alone {
				st.Spread = true
			}
			i.state = now
		}
		if st.Spread && s.spread != nil {
			s.spread[op] = true
		}
		switch {
		case o.Makes && !st.Refused:
			i := &seenInstance{name: fmt.Sprint(o.Entity, " ", len(all)), entity: o.Entity, handle: st.Value, live: true}
			if slices.ContainsFunc(all, func(x *seenInstance) bool { return x.entity == i.entity && x.handle == i.handle }) {
				s.again[op]++
				break // the module returned an existing instance again
			}
			s.fresh[op]++
			i.state, st.Made = s.look(i), i.name
			st.After = s.known(i)
			all = append(all, i)
		case !o.Makes:
			if o.Ends != "" && !st.Refused {
				on.live = false
			}
			st.After = s.known(on)
		}
		if o.Again != "" && !o.Makes && !st.Refused {
			again := draft.Step{Op: op, Args: st.Args}
			if s.call(&again); again.Broken == full {
				return append(list, st), nil
			}
			now := s.look(on)
			st.Twice = again.Value == st.Value && !again.Refused && again.Broken == "" && maps.Equal(now, on.state)
			st.Undone = !st.Twice
			if list = append(list, st); st.Undone {
				return list, nil
			}
			continue
		}
		list = append(list, st)
	}
	return list, nil
}

// known returns what is known about an instance.
func (s *sampler) known(i *seenInstance) draft.State {
	now := maps.Clone(i.state)
	now["live"] = i.live
	return now
}

// look calls everything that reads a field of an instance.
func (s *sampler) look(i *seenInstance) draft.State {
	now := draft.State{}
	for op := range s.ops {
		o := &s.ops[op]
		if !o.Field() || o.Entity != i.entity {
			continue
		}
		st := draft.Step{Op: op}
		if o.Handle >= 0 {
			st.Args = []any{i.handle}
		}
		at := s.x.Snapshot()
		if s.call(&st); st.Broken != "" {
			if s.x.Restore(at) != nil {
				return now
			}
		} else if st.Value != nil {
			now[o.FieldName] = st.Value
		}
	}
	return now
}

// draw draws an argument's value: a small one, or a great one, or any one, or one near a known value.
func (s *sampler) draw(slot *draft.Slot, on *seenInstance, great bool) any {
	switch slot.Kind {
	case "bool":
		return s.rng.IntN(2) == 1
	case "text":
		return slot.Values[s.rng.IntN(len(slot.Values))]
	}
	if s.rng.IntN(4) == 0 && on != nil {
		for _, k := range slices.Sorted(maps.Keys(on.state)) {
			if n, ok := on.state[k].(int64); ok && s.rng.IntN(2) == 0 {
				return min(max(n+int64(s.rng.IntN(3))-1, slot.Min), slot.Max)
			}
		}
	}
	if s.rng.IntN(2) == 0 {
		few := s.rng.Int64N(min(slot.Max-slot.Min, 5) + 1)
		if great {
			return slot.Max - few
		}
		return slot.Min + few
	}
	return slot.Min + s.rng.Int64N(slot.Max-slot.Min+1)
}

// full is the failure of a call for whose arguments the module has no room.
const full = "no room"

// call calls the module. A negative result counts as a refusal, because most modules refuse that
// way.
func (s *sampler) call(st *draft.Step) {
	params := s.plan.Bindings[st.Op].Params
	args := make([]dut.Value, len(st.Args))
	for k, a := range st.Args {
		switch v := a.(type) {
		case string:
			args[k] = dut.Text(v)
		case int64:
			args[k] = dut.Number(params[k].Kind, v)
		default:
			args[k] = dut.Number(params[k].Kind, 0)
		}
	}
	r := s.x.Call(st.Op, args)
	switch {
	case r.Cause == dut.NoRoom:
		st.Broken = full
	case r.Cause != dut.None:
		st.Broken = "it fails: " + r.Cause.String()
	case s.ops[st.Op].Answers:
		st.Value = r.Value.Int
		if st.Refused = r.Value.Int < 0 && (!s.ops[st.Op].Field()); st.Refused {
			st.Value = nil
		}
	}
}

// lookAtModel drafts a model.
func (a *App) lookAtModel(ctx context.Context, thing *draft.Thing, folder string) (*draft.Draft, error) {
	path, err := filepath.Abs(thing.Words[0])
	if err != nil {
		return nil, diag.Environment("finding %s: %w", thing.Words[0], err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.Refused("%s: %s", thing.Words[0], Reason(err))
	}
	base := filepath.Base(path)
	f := &draft.ModelFacts{Name: thing.Name(), Folder: folder, Of: base, Drop: map[draft.Claim]string{}}
	if thing.Kind == draft.Recording {
		if err := modelOfTrace(f, text); err != nil {
			return nil, diag.Refused("%s: %w", thing.Words[0], err)
		}
		d := draft.DraftModel(f)
		d.Next = []string{"fresnelfir", "conform", thing.Words[0], "--model"}
		return d, nil
	}
	device, err := modules()(ctx, dut.Plan{Binary: text})
	if err != nil {
		return nil, diag.Refused("%s: %w", thing.Words[0], err)
	}
	exports := device.Info().Exports
	if err := device.Close(); err != nil {
		return nil, err
	}
	calls, left, _, err := callable(ctx, text, exports)
	if err != nil {
		return nil, diag.Refused("%s: %w", thing.Words[0], err)
	}
	if calls, err = callAlone(ctx, text, calls, &left); err != nil {
		return nil, diag.Refused("%s: %w", thing.Words[0], err)
	}
	if len(calls) == 0 {
		return nil, uncallable(thing, left)
	}
	f.Target = fmt.Sprintf("module(%q)", base)
	f.Files, f.Left = []campaign.File{{Name: base, Data: text}}, left
	if err := modelOfModule(ctx, f, text, calls, draft.Dictionary(text)); err != nil {
		return nil, err
	}
	d, err := confirmed(ctx, f)
	if list, ok := errors.AsType[diag.List](err); ok && slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.nothing-to-explore" }) {
		return draft.DraftModule(&draft.ModuleFacts{Name: thing.Name(), Folder: folder, Path: path, Calls: calls, Left: left, Words: draft.Dictionary(text), Unforeseen: true}), nil
	}
	return d, err
}

// confirmed drafts a model again without the guesses that its traversals contradict.
func confirmed(ctx context.Context, f *draft.ModelFacts) (*draft.Draft, error) {
	left := f.Left
	for range 8 {
		f.Left = slices.Clone(left)
		d := draft.DraftModel(f)
		files := map[string][]byte{}
		for _, x := range d.Files {
			files[x.Name] = x.Data
		}
		list, diags := fresnelfir.New(modules()).Compile(ctx, campaign.Spec{Path: d.Document, Data: files[d.Document]}, campaign.Settings{
			Read: func(path string) ([]byte, error) {
				if b, ok := files[path]; ok {
					return b, nil
				}
				return nil, fs.ErrNotExist
			},
		})
		if diags.HasErrors() {
			return nil, diags
		}
		c, _ := campaign.As[campaign.Guesser](list[0])
		wrong := map[draft.Claim]string{}
		models := false
		for _, g := range c.Guesses(ctx) {
			if g.Against != "" {
				wrong[draft.Claim{Of: g.Of, What: g.Claim}] = g.Against
				models = models || g.Claim == "models"
			}
		}
		if len(wrong) == 0 {
			return d, nil
		}
		for c, why := range wrong {
			switch {
			case c.What == "models", !models && c.What != "requires" && c.What != "effect":
				f.Drop[c] = why
			case !models: // when the operation is allowed, or what it changes, is then unknown
				f.Drop[draft.Claim{Of: c.Of}] = why
			}
		}
	}
	return draft.DraftModel(f), nil
}
