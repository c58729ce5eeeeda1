package fresnelfir

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// late is the longest delay of a delayed reply.
const late = 20 * time.Millisecond

// jump is how many seconds a clock jumps.
const jump = 3600

// stage is the system that actors call at the same time, with one connection per actor.
type stage struct {
	base  *systemInstance
	crowd sut.Crowd

	mu     sync.RWMutex // locked for writing while the system is restarted
	actors []*systemInstance
	since  []int // by actor: the system's generation when the connection was made
	kills  int
}

// newStage returns a stage, or an error if the system takes only one call at a time.
func newStage(inst dut.Instance) (*stage, error) {
	base, ok := inst.(*systemInstance)
	if !ok {
		return nil, diag.Environment("a module takes one call at a time")
	}
	crowd, ok := base.system.(sut.Crowd)
	if !ok {
		return nil, diag.Environment("the system %s takes one call at a time", base.device.plan.Name)
	}
	return &stage{base: base, crowd: crowd}, nil
}

// close closes the actors' connections.
func (x *stage) close() error {
	var err error
	for i, a := range x.actors {
		if a != nil {
			err = errors.Join(err, a.system.Close())
		}
		x.actors[i] = nil
	}
	return err
}

// connection returns an actor's connection to the current system. The lock must be held.
func (x *stage) connection(actor int) (*systemInstance, error) {
	now := x.crowd.Generation()
	if a := x.actors[actor]; a != nil && x.since[actor] == now {
		return a, nil
	}
	if a := x.actors[actor]; a != nil {
		x.actors[actor] = nil
		_ = a.system.Close() // its process is gone
	}
	s, err := x.crowd.Join(x.base.ctx)
	if err != nil {
		return nil, err
	}
	a := &systemInstance{ctx: x.base.ctx, device: x.base.device, system: s, ops: s.Operations(), ids: x.base.ids, apart: true}
	x.actors[actor], x.since[actor] = a, now
	return a, nil
}

// play lets actors make the calls of a score, and records them.
type play struct {
	*stage
	p      *plan
	mod    *module
	score  *score
	rec    *recording
	clock  atomic.Int64
	done   []chan struct{} // by step
	record sync.Mutex      // guards rec and reply
	reply  []*called       // by step
	broken error
}

// play makes the calls of a score.
func (x *stage) play(p *plan, mod *module, s *score, threads int) (*recording, error) {
	if err := x.base.Reset(); err != nil {
		return nil, err
	}
	for len(x.actors) < threads {
		x.actors, x.since = append(x.actors, nil), append(x.since, 0)
	}
	for i := range threads { // connect before timing starts, so that no actor has a head start
		if _, err := x.connection(i); err != nil {
			return nil, err
		}
	}
	y := &play{stage: x, p: p, mod: mod, score: s, rec: &recording{}, reply: make([]*called, len(s.steps)), done: make([]chan struct{}, len(s.steps))}
	for i := range y.done {
		y.done[i] = make(chan struct{})
	}
	for i := range s.setup {
		y.step(0, i)
	}
	begin := make(chan struct{})
	var all sync.WaitGroup
	for actor := range threads {
		all.Go(func() {
			<-begin
			for i := s.setup; i < len(s.steps); i++ {
				if s.steps[i].thread == actor {
					y.step(actor, i)
				}
			}
		})
	}
	close(begin)
	all.Wait()
	y.observe()
	if y.broken == nil {
		y.broken = context.Cause(x.base.ctx)
	}
	return y.rec, y.broken
}

// step makes a call of an actor, unless the call is about something that was never created.
func (y *play) step(actor, at int) {
	defer close(y.done[at])
	x := &y.score.steps[at]
	binding := y.mod.actions[x.action].binding
	if binding < 0 {
		return // the action exists only in the model
	}
	dropped, delayed := false, false
	for _, f := range x.faults {
		switch f.kind() {
		case faultKill:
			y.kill(actor)
		case faultClock:
			y.jump(actor, f)
		case faultDrop:
			dropped = true
			y.note(faulted{At: y.clock.Add(1), Kind: f, Thread: actor})
		case faultDelay:
			delayed = true
			y.note(faulted{At: y.clock.Add(1), Kind: f, Thread: actor})
		}
	}
	args, ok := y.arguments(x)
	if !ok {
		return
	}
	c := called{Step: at, Thread: actor}
	y.call(&c, binding, args, func() {
		if delayed {
			time.Sleep(late / time.Duration(1+at%4))
		}
	})
	if dropped {
		c.End, c.Excused = 0, true
	}
	y.recordCall(c)
}

// recordCall records a call.
func (y *play) recordCall(c called) {
	y.record.Lock()
	defer y.record.Unlock()
	y.rec.Calls = append(y.rec.Calls, c)
	if c.Step >= 0 {
		y.reply[c.Step] = &c
	}
}

func (y *play) note(f faulted) {
	y.record.Lock()
	defer y.record.Unlock()
	y.rec.Faults = append(y.rec.Faults, f)
}

// fail keeps the first failure of the environment.
func (y *play) fail(err error) {
	y.record.Lock()
	defer y.record.Unlock()
	if y.broken == nil {
		y.broken = err
	}
}

// arguments returns a step's arguments, with the numbers that the system gave to what it created.
// It waits for the steps that create it.
func (y *play) arguments(x *cue) (args []dut.Value, ok bool) {
	for _, v := range x.args {
		if v.Kind == dut.Ref && v.Int > 0 {
			i := int32(v.Int - 1)
			if m := y.score.insts[i].maker; m >= 0 {
				<-y.done[m]
			}
			y.record.Lock()
			n, known := y.rec.number(y.score, y.mod, i, y.reply)
			y.record.Unlock()
			if !known {
				return nil, false
			}
			v.Int = n
		}
		args = append(args, v)
	}
	for _, b := range x.slots { // also instances that are not arguments
		if b.instance >= 0 {
			if m := y.score.insts[b.instance].maker; m >= 0 {
				<-y.done[m]
				y.record.Lock()
				_, known := y.rec.number(y.score, y.mod, b.instance, y.reply)
				y.record.Unlock()
				if !known {
					return nil, false
				}
			}
		}
	}
	return args, true
}

// call makes a call and notes when it begins and ends.
func (y *play) call(c *called, binding int, args []dut.Value, after func()) {
	y.mu.RLock()
	kills := y.kills
	inst, err := y.connection(c.Thread)
	y.mu.RUnlock()
	if err != nil {
		y.mu.RLock()
		killed := y.kills != kills
		y.mu.RUnlock()
		c.Begin = y.clock.Add(1)
		if c.Excused = true; !killed {
			y.fail(err)
		}
		return
	}
	c.Begin = y.clock.Add(1)
	reply := inst.Call(binding, args)
	after()
	c.End = y.clock.Add(1)
	c.Cause, c.Value = reply.Cause, reply.Value
	if f := inst.Fault(); f != nil {
		c.Why, c.Stack = f.Message, f.Stack
	}
	if reply.Cause == dut.None || reply.Cause == dut.Refused {
		return
	}
	c.End = 0 // the call may have taken effect
	y.mu.RLock()
	c.Excused = y.kills != kills
	y.mu.RUnlock()
	if err := inst.broken; err != nil && !c.Excused {
		y.fail(err)
	}
	inst.broken = nil
}

// kill kills the system's program and starts it again.
func (y *play) kill(actor int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.kills++
	f := faulted{At: y.clock.Add(1), Kind: faultKill, Thread: actor}
	if err := y.crowd.Restart(y.base.ctx); err != nil {
		y.fail(err)
	}
	f.Until = y.clock.Add(1)
	y.note(f)
}

// jump makes the system's clock jump. If the system is killed meanwhile, it tries again with the
// new one.
func (y *play) jump(actor int, f environmentFault) {
	x := faulted{At: y.clock.Add(1), Kind: f, Thread: actor}
	call := sut.Call{Operation: f.operation(), Positional: []json.RawMessage{json.RawMessage(strconv.Itoa(jump))}}
	for again := true; again; {
		y.mu.RLock()
		kills := y.kills
		inst, err := y.connection(actor)
		y.mu.RUnlock()
		if err == nil {
			var o sut.Observation
			if o, err = inst.system.Call(y.base.ctx, call); err == nil && o.End != sut.Answered {
				err = diag.Environment("the operation %s cannot make the clock jump: %s", f.operation(), o.Why)
			}
		}
		y.mu.RLock()
		again = err != nil && y.kills != kills
		y.mu.RUnlock()
		if err != nil && !again {
			y.fail(err)
		}
	}
	x.Until = y.clock.Add(1)
	y.note(x)
}

// observe calls every observer that the model can answer for, after all actors are done.
func (y *play) observe() {
	for k := range y.mod.pairs {
		x := &y.mod.pairs[k]
		left := maxTuples
		var each func(of []int32)
		each = func(of []int32) {
			if len(of) == len(x.params) {
				left--
				y.ask(x, of)
				return
			}
			for i := range y.score.insts {
				if left > 0 && y.score.insts[i].entity == x.params[len(of)] && y.knows(int32(i)) {
					each(append(of[:len(of):len(of)], int32(i)))
				}
			}
		}
		each(nil)
	}
}

// knows reports whether the system can be asked about an instance.
func (y *play) knows(i int32) bool {
	if y.score.insts[i].maker < 0 {
		return !y.p.makes[y.score.insts[i].entity]
	}
	_, ok := y.rec.number(y.score, y.mod, i, y.reply)
	return ok
}

func (y *play) ask(x *pair, of []int32) {
	var args []dut.Value
	for _, i := range of {
		n, _ := y.rec.number(y.score, y.mod, i, y.reply)
		args = append(args, dut.Number(dut.Ref, n))
	}
	c := called{Step: -1, Observer: x.observer, Of: of}
	y.call(&c, y.mod.observers[x.observer].binding, args, func() {})
	y.recordCall(c)
}
