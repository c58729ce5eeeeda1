//go:build unix

package python

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/pyhost"
)

const (
	// printedLimit is how many bytes of an operator's output are kept per call.
	printedLimit = 4 << 10
	// sinkLimit is the largest size of an operators' file in bytes, captured output included, if no
	// limit is given.
	sinkLimit = 64 << 20
	// batch is the maximum number of calls in a frame, and batchBytes the approximate maximum size
	// of their texts: after a death the remaining calls are sent again.
	batch      = 256
	batchBytes = 1 << 20
)

// OpenOperators implements pyhost.OperatorOpener.
func OpenOperators(ctx context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
	if set.LoadLimit <= 0 || set.CallLimit <= 0 {
		return nil, errors.New("operators need time limits for loading and for calls")
	}
	l, err := newLane(ctx, set.Python, set.HashSeed, nil)
	if err != nil {
		return nil, err
	}
	o := &operators{lane: l, set: set, modules: make([]pyhost.OperatorModule, len(set.Files)), lost: make(map[pyhost.CallEnd]int)}
	for i := range o.modules {
		o.modules[i].File = set.Files[i]
	}
	stop := l.follow(ctx)
	err = o.ensure(ctx)
	if stop(); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// operators is a set's modules in a child process, which is replaced whenever a call kills it.
type operators struct {
	lane    *lane
	set     pyhost.OperatorSet
	modules []pyhost.OperatorModule
	loaded  bool     // modules is complete
	session *session // nil: create one first
	// sinks receive stdout and stderr. The host removes a call's output before the next call, so
	// only a call without a reply leaves any.
	sinks [2]*os.File
	lost  map[pyhost.CallEnd]int // processes by the reason they were replaced
}

type operatorsRequest struct {
	Role   string            `json:"role"`
	Limits map[string]uint64 `json:"limits"`
}

type loadRequest struct {
	Load int    `json:"load"`
	File string `json:"file"`
}

type loadReply struct {
	Meta         json.RawMessage `json:"meta"`
	MetaLine     int             `json:"meta_line"`
	ApplyLine    int             `json:"apply_line"`
	Fault        *pyhost.Fault   `json:"fault"`
	GlobalRandom bool            `json:"global_random"`
	Printed      string          `json:"printed"`
}

type callRequest struct {
	Module    int             `json:"module"`
	Seed      string          `json:"seed"`
	Context   json.RawMessage `json:"ctx"`
	RNG       uint64          `json:"rng"`
	Words     []uint32        `json:"words,omitempty"`
	Gauss     *float64        `json:"gauss,omitempty"`
	WantState bool            `json:"want_state,omitempty"`
	UnlessOK  bool            `json:"want_state_unless_ok,omitempty"`
}

// callReply is an OperatorReply with the generator's state as the host reports it.
type callReply struct {
	pyhost.OperatorReply
	Words []uint32 `json:"words"`
	Gauss *float64 `json:"gauss"`
}

// Modules implements pyhost.Operators.
func (o *operators) Modules() []pyhost.OperatorModule { return o.modules }

// Notes implements pyhost.Operators.
func (o *operators) Notes() []string {
	notes := o.lane.notes()
	for _, why := range []pyhost.CallEnd{pyhost.Hung, pyhost.Died, pyhost.NoMemory} {
		if n := o.lost[why]; n > 0 {
			notes = append(notes, fmt.Sprintf("the process of the Python operators was replaced %s because of a call that ended as %q", diag.Plural(n, "time"), why))
		}
	}
	return notes
}

// Close implements pyhost.Operators.
func (o *operators) Close() error {
	o.drop()
	var err error
	for _, sink := range o.sinks {
		if sink != nil {
			err = errors.Join(err, sink.Close())
		}
	}
	return errors.Join(err, o.lane.close())
}

// drop ends the session and returns how it ended.
func (o *operators) drop() *ending {
	if o.session == nil {
		return nil
	}
	end := o.session.finish(0)
	o.session = nil
	return end
}

// ensure creates a session with all loadable modules. If a module hangs or dies, ensure records a
// fault and starts over without it.
func (o *operators) ensure(ctx context.Context) error {
	for o.session == nil {
		if err := o.emptySinks(); err != nil {
			return err
		}
		s, err := o.lane.open(ctx, "", 0, &o.sinks)
		if err != nil {
			return err
		}
		o.session = s
		limits := o.set.Limits
		if limits.FileSize <= 0 {
			limits.FileSize = sinkLimit
		}
		request := operatorsRequest{Role: "operators", Limits: hostLimits(limits)}
		if err := s.channel.send(request, time.Now().Add(orderLimit)); err != nil {
			return err
		}
		for i := range o.modules {
			if o.modules[i].Fault != nil {
				continue
			}
			if err := o.load(ctx, i); err != nil {
				return err
			}
			if o.session == nil {
				break // this module killed the process
			}
		}
	}
	o.loaded = true
	return nil
}

// load loads one module.
func (o *operators) load(ctx context.Context, i int) error {
	m := &o.modules[i]
	s := o.session
	deadline := time.Now().Add(o.set.LoadLimit)
	err := s.channel.send(loadRequest{Load: i, File: m.File}, deadline)
	var data []byte
	if err == nil {
		data, err = s.next(ctx, deadline, false)
	}
	var reply loadReply
	if err == nil && json.Unmarshal(data, &reply) != nil {
		err = errEnded
	}
	if err != nil {
		end, fault := o.endSession(ctx, err, o.set.LoadLimit)
		if fault == nil {
			return err
		}
		if o.loaded { // it loaded before, so the machine is to blame
			return fmt.Errorf("load %s again: %s", m.File, fault.Message)
		}
		fault.Class = map[pyhost.CallEnd]string{pyhost.Hung: "Hung", pyhost.Died: "Died"}[end]
		fault.File, fault.Line = m.File, 1
		fault.Traceback = o.partialOutput(1)
		m.Fault, m.Printed = fault, o.partialOutput(0)
		return nil
	}
	if !o.loaded {
		m.Meta, m.MetaLine, m.ApplyLine = reply.Meta, reply.MetaLine, reply.ApplyLine
		m.Fault, m.GlobalRandom, m.Printed = reply.Fault, reply.GlobalRandom, reply.Printed
	}
	return nil
}

// endSession ends a session that did not answer and returns what happened. A nil fault means that
// the modules are not to blame.
func (o *operators) endSession(ctx context.Context, why error, limit time.Duration) (pyhost.CallEnd, *pyhost.Fault) {
	end := o.drop()
	if ctx.Err() != nil {
		return "", nil
	}
	switch {
	case errors.Is(why, errDeadline):
		o.lost[pyhost.Hung]++
		return pyhost.Hung, &pyhost.Fault{Class: "TimeLimit", Message: fmt.Sprintf("no answer within %v", limit)}
	case errors.Is(why, errEnded):
		o.lost[pyhost.Died]++
		return pyhost.Died, &pyhost.Fault{Class: "ProcessEnded", Message: "the process ended: " + describe(end)}
	}
	return "", nil
}

func describe(end *ending) string {
	switch s := end.status; {
	case end.host:
		return "it ended the host that had started it"
	case s.Signaled():
		return fmt.Sprintf("signal %d (%v)", int(s.Signal()), syscall.Signal(s.Signal()))
	default:
		return fmt.Sprintf("exit status %d", s.ExitStatus())
	}
}

// emptySinks creates new sinks, because surviving processes of an old child may still hold the old
// ones.
func (o *operators) emptySinks() (err error) {
	for i, sink := range o.sinks {
		if sink != nil {
			sink.Close()
		}
		if o.sinks[i], err = o.lane.folder.anonymous(); err != nil {
			return err
		}
	}
	return nil
}

// partialOutput returns the beginning of what a call without a reply wrote to stdout (0) or stderr
// (1).
func (o *operators) partialOutput(stream int) string {
	var text [printedLimit]byte
	n, _ := o.sinks[stream].ReadAt(text[:], 0) // report only what can be read
	return strings.ToValidUTF8(string(text[:n]), "\ufffd")
}

// Apply implements pyhost.Operators.
func (o *operators) Apply(ctx context.Context, calls []pyhost.OperatorCall, reply func(int, *pyhost.OperatorReply) error) error {
	defer o.lane.follow(ctx)()
	for done := 0; done < len(calls); {
		if err := o.ensure(ctx); err != nil {
			return err
		}
		n, err := o.batch(ctx, calls[done:], func(i int, r *pyhost.OperatorReply) error { return reply(done+i, r) })
		if err != nil {
			o.drop() // unread replies may be on their way
			return err
		}
		done += n
	}
	return nil
}

// batch makes one or more calls and returns how many.
func (o *operators) batch(ctx context.Context, calls []pyhost.OperatorCall, each func(int, *pyhost.OperatorReply) error) (int, error) {
	var requests []callRequest
	for size := 0; len(requests) < min(batch, len(calls)) && size < batchBytes; {
		c := &calls[len(requests)]
		if c.Module < 0 || c.Module >= len(o.modules) {
			return 0, fmt.Errorf("operator module %d does not exist", c.Module)
		}
		r := callRequest{Module: c.Module, Seed: c.Seed, Context: c.Context, RNG: c.RNG, WantState: c.WantState, UnlessOK: c.WantStateUnlessOK}
		if r.Context == nil {
			r.Context = json.RawMessage("{}")
		}
		if c.State != nil {
			var err error
			if r.Words, r.Gauss, err = decodeState(c.State); err != nil {
				return 0, err
			}
		}
		requests = append(requests, r)
		size += len(c.Seed) + len(c.Context) + 11*len(r.Words)
	}
	s := o.session
	if err := s.channel.send(map[string]any{"calls": requests}, time.Now().Add(orderLimit)); err != nil {
		return 0, err
	}
	for i := range requests {
		data, err := s.next(ctx, time.Now().Add(o.set.CallLimit), false)
		var reply callReply
		if err == nil && json.Unmarshal(data, &reply) != nil {
			err = errEnded
		}
		if err != nil {
			end, fault := o.endSession(ctx, err, o.set.CallLimit)
			if fault == nil {
				return i, err
			}
			fault.File, fault.Line = o.modules[requests[i].Module].File, o.modules[requests[i].Module].ApplyLine
			fault.Traceback = o.partialOutput(1)
			return i + 1, each(i, &pyhost.OperatorReply{End: end, Fault: fault, Printed: o.partialOutput(0)})
		}
		if reply.Words != nil {
			reply.State = encodeState(reply.Words, reply.Gauss)
		}
		if err := each(i, &reply.OperatorReply); err != nil {
			return i + 1, err
		}
		if reply.End == pyhost.NoMemory { // memory that it still holds would fail the next call
			o.lost[pyhost.NoMemory]++
			o.drop()
			return i + 1, nil
		}
	}
	return len(requests), nil
}

// stateWords is the number of words in a generator's state: 624 words and the position.
const stateWords = 625

func decodeState(state []byte) ([]uint32, *float64, error) {
	words := make([]uint32, stateWords)
	n, err := binary.Decode(state, binary.LittleEndian, words)
	switch rest := state[n:]; {
	case err == nil && len(rest) == 0:
		return words, nil, nil
	case err == nil && len(rest) == 8:
		gauss := math.Float64frombits(binary.LittleEndian.Uint64(rest))
		return words, &gauss, nil
	}
	return nil, nil, fmt.Errorf("a generator's state has %d bytes, must have %d or %d", len(state), 4*stateWords, 4*stateWords+8)
}

func encodeState(words []uint32, gauss *float64) []byte {
	state, _ := binary.Append(nil, binary.LittleEndian, words) // numbers of fixed sizes can be
	if gauss != nil {
		state = binary.LittleEndian.AppendUint64(state, math.Float64bits(*gauss))
	}
	return state
}
