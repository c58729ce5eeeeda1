package fresnelfir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// A campaign whose actors call at the same time makes histories. The calls depend only on state and
// case; how they overlap does not. So a failure carries its history, and is confirmed, shrunk and
// replayed by checking that history.

// apart checks the requirements of parallel actors.
func (c *Campaign) apart(src *ir.Source) (list diag.List) {
	x := &c.plan.doc.Exploration
	report := func(level diag.Level, message, hint string, keys ...string) {
		list = append(list, src.Report(level, x.Place.Within("concurrency").Within(keys...), "concurrency", message, hint))
	}
	if x.Mode != ir.Parallel {
		if len(x.Faults) > 0 {
			report(diag.Warning, "have no effect unless the mode is parallel", "", "faults")
		}
		return list
	}
	if c.system == nil {
		if c.module != nil {
			report(diag.Warning, "actors take turns, in orders that the seed decides: a WebAssembly module takes one call at a time; parallel is for systems", "", "mode")
		}
		return list
	}
	switch k := c.system.Kind; {
	case k == sut.HTTP, k == sut.Driver, k == sut.MCP && c.system.URL != "":
	default:
		report(diag.Error, fmt.Sprintf("actors cannot call the system %s at the same time: it must be of kind http, driver, or mcp with a url, got %s", c.system.Name, k), "", "mode")
	}
	for v := range c.plan.doc.Newest {
		report(diag.Error, fmt.Sprintf("the variable %s is the newest %s: which one that is, is unknown when actors call at the same time", v, c.plan.doc.Newest[v]), "choose an instance with picks, or any(...)", "mode")
	}
	for _, b := range c.plan.doc.Bindings.Actions {
		if b.Reuses != "" {
			list = append(list, src.Report(diag.Error, b.Place.Within("reuses"), "reuses", "which instance a handle belongs to is unknown when actors call at the same time", ""))
		}
	}
	for i, f := range x.Faults {
		switch k := environmentFault(f).kind(); {
		case k == faultClock && environmentFault(f).operation() != "", f == string(faultDrop), f == string(faultDelay):
		case f == string(faultKill):
			if len(c.system.Command) == 0 {
				report(diag.Error, "the system "+c.system.Name+" has no command: Thresh can kill and restart only what it starts", "", "faults", strconv.Itoa(i))
			}
		default:
			report(diag.Error, fmt.Sprintf("must be one of %s, got %q", strings.Join(faultWords, ", "), f), diag.DidYouMean(f, faultWords), "faults", strconv.Itoa(i))
		}
	}
	for _, a := range c.plan.program.Actions() {
		if b := a.Binding; b != nil && b.Rejects == nil && c.plan.conditional(a.Name) {
			report(diag.Warning, fmt.Sprintf("%s is allowed only in some states and its binding has no rejects: what follows a call that another actor made forbidden is not judged", a.Name), "", "mode")
		}
	}
	return list
}

// conditional reports whether an action chooses among instances by a condition, or follows a guard.
func (p *plan) conditional(action string) bool {
	e := p.doc.Effect(action)
	for _, x := range e.Picks {
		if x.Where != nil {
			return true
		}
	}
	for at := range p.nodes {
		for i := range p.nodes[at].branches {
			b := &p.nodes[at].branches[i]
			if !b.open && !picked(e, b.guard.Expr) && len(e.Picks) == 0 && p.leading(p.grammar.Nodes[at].Children[i], 0) == p.program.Action(action) {
				return true
			}
		}
	}
	return false
}

// openStage opens a system for actors.
func openStage(ctx context.Context, dev dut.Device) (*stage, error) {
	inst, err := dev.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the system: %w", err)
	}
	return newStage(inst)
}

// probeParallel checks whether actors can call the system at the same time.
func (c *Campaign) probeParallel(ctx context.Context, dev dut.Device) error {
	x, err := openStage(ctx, dev)
	if err != nil {
		return err
	}
	x.actors, x.since = make([]*systemInstance, 1), make([]int, 1)
	_, err = x.connection(0)
	if e := x.close(); err == nil {
		err = e
	}
	if e := x.base.Close(); err == nil {
		err = e
	}
	return err
}

// compose walks the model and writes down the actors' calls.
func (c *Campaign) compose(t *traversal) *score {
	s := newScore(t, c.module)
	t.score = s
	t.run()
	t.score = nil
	s.ended(t)
	t.drawFaults(s, c.plan.doc.Exploration.Faults)
	return s
}

// tape returns the decisions that determine the calls of a case.
func (c *Campaign) tape(s *state, at campaign.Case) []byte {
	t := newTraversal(c.plan)
	if c.prepare(t, s, at) != nil {
		return nil
	}
	c.compose(t)
	return choice.Encode(t.src.Tape().Values)
}

// perform executes a case: it composes calls, makes them, and judges the recording. A case that is
// a recording is only judged.
func (x *executor) perform(s *state, at campaign.Case) (o campaign.Outcome, err error) {
	c, t := x.c, x.t
	r, err := readRecording(at.Payload)
	if err != nil {
		return o, err
	}
	if r != nil {
		at.Payload = r.Tape
	}
	if err := c.prepare(t, s, at); err != nil {
		return o, err
	}
	clear(t.m.Tried)
	w := c.compose(t)
	o.Data = t.seen.encode(t.actions-t.begun, t.m.Tried, t.failed != nil)
	if f := t.failed; f != nil { // the model alone fails
		x.outcome(&o, f, choice.Encode(t.src.Tape().Values))
		o.Evidence = []campaign.Attachment{{Name: "steps", Data: x.traceCase(choice.Encode(t.src.Tape().Values)).encode()}}
		return o, nil
	}
	if r == nil {
		tape := choice.Encode(t.src.Tape().Values)
		if r, err = x.stage.play(c.plan, c.module, w, t.threads); err != nil {
			return o, fmt.Errorf("calling the system: %w", err)
		}
		r.Tape = tape
	} else if err := r.checkScore(w, c.plan); err != nil {
		return o, err
	}
	j := newJudge(c.plan, c.module, w, r)
	v := j.judgeRecording()
	if v.undecided {
		o.Verdict, o.Kind = campaign.VerdictError, "undecided"
		o.Title = fmt.Sprintf("no order of the calls of a history was found within %d steps: use fewer threads or shorter protocols", mostOrders)
		return o, nil
	}
	if v.failed == nil {
		return o, nil
	}
	payload := r.encode()
	x.outcome(&o, v.failed, payload)
	o.Evidence = []campaign.Attachment{{Name: historyName, Data: j.show(v).encode()}, {Name: campaign.InputAttachment, Data: payload}}
	return o, nil
}

// outcome fills in how a case failed.
func (*executor) outcome(o *campaign.Outcome, f *failure, payload []byte) {
	o.Verdict, o.Severity, o.Kind, o.Title = campaign.VerdictFail, f.severity(), f.kind, f.title
	o.Signature, o.Cause = f.subject, []string{f.cause, f.level}
	if f.level == byModel {
		sum := sha256.Sum256(payload)
		o.Input = hex.EncodeToString(sum[:])
	}
}

// judgeOf returns the judge of a recording.
func (c *Campaign) judgeOf(payload []byte) *judge {
	r, err := readRecording(payload)
	if r == nil || err != nil {
		return nil
	}
	t := newTraversal(c.plan)
	if c.prepare(t, nil, campaign.Case{Payload: r.Tape}) != nil {
		return nil
	}
	w := c.compose(t)
	if r.checkScore(w, c.plan) != nil {
		return nil
	}
	return newJudge(c.plan, c.module, w, r)
}

// reduceHistory marks the calls that a history does not need to fail. The rest is 1-minimal.
func (c *Campaign) reduceHistory(payload []byte, test func([]byte) (bool, error)) []byte {
	j := c.judgeOf(payload)
	if j == nil {
		return payload
	}
	v := j.judgeRecording()
	if v.failed == nil {
		return payload
	}
	j.minimize(&v)
	least := j.markNeedless(v)
	if held, err := test(least.encode()); err != nil || !held {
		return payload
	}
	return least.encode()
}

// gaugeHistory counts the calls that a history needs to fail.
func (c *Campaign) gaugeHistory(payload []byte) (size int64, unit string) {
	r, err := readRecording(payload)
	if r == nil || err != nil {
		return 0, ""
	}
	for i := range r.Calls {
		if !r.Calls[i].Dropped {
			size++
		}
	}
	return size, "call"
}
