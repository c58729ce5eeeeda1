package driver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/program"
)

// sharedDriver is a driver that several actors call at the same time. Lines are sent one after
// another, each with an id; answers arrive in any order.
type sharedDriver struct {
	plan  *sut.Plan
	child *program.Child

	writing sync.Mutex
	mu      sync.Mutex
	waiting map[int]chan []byte // by id
	last    int
	broken  string        // message about a line that is not an answer
	ended   chan struct{} // closed when reading has ended
}

func openCrowd(p *sut.Plan, c *program.Child) *sharedDriver {
	e := &sharedDriver{plan: p, child: c, waiting: map[int]chan []byte{}, ended: make(chan struct{})}
	go e.read()
	return e
}

// read passes answers to the waiting calls.
func (e *sharedDriver) read() {
	defer close(e.ended)
	lines := bufio.NewScanner(e.child.Stdout)
	lines.Buffer(make([]byte, 64<<10), sut.MaxOutput)
	for lines.Scan() {
		line := append([]byte(nil), lines.Bytes()...)
		var a answer
		err := json.Unmarshal(line, &a)
		e.mu.Lock()
		to := e.waiting[a.ID]
		delete(e.waiting, a.ID)
		if err != nil || !a.complete() || a.ID == 0 {
			e.broken = fmt.Sprintf("the driver wrote a line that is not an answer with the id of a call: %.80q", line)
			e.mu.Unlock()
			e.child.Kill()
			return
		}
		e.mu.Unlock()
		if to != nil { // nil: nobody waits any longer
			to <- line
		}
	}
}

// Branch implements system.Brancher.
func (e *sharedDriver) Branch() system.Edge { return branch{e} }

// branch is an actor's share of the connection; closing it leaves the process running for the
// others.
type branch struct{ *sharedDriver }

// Close implements system.Edge.
func (branch) Close() error { return nil }

// Operations implements system.Edge.
func (e *sharedDriver) Operations() []sut.Operation { return e.plan.Operations }

// Notes implements system.Edge.
func (*sharedDriver) Notes() []string { return nil }

// Dead implements system.Mortal.
func (e *sharedDriver) Dead() bool {
	select {
	case <-e.ended:
		return true
	default:
		return !e.child.Alive()
	}
}

// Kill kills the process without warning.
func (e *sharedDriver) Kill() { e.child.Kill() }

// Close implements system.Edge.
func (e *sharedDriver) Close() error {
	e.child.Stop()
	return nil
}

// Fresh implements system.Fresher.
func (e *sharedDriver) Fresh(ctx context.Context, limit time.Duration) (sut.Observation, error) {
	return e.exchange(ctx, limit, []byte(`{"reset":true`), nil)
}

// Call implements system.Edge.
func (e *sharedDriver) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	op, ok := sut.Find(e.plan.Operations, c.Operation)
	if !ok && len(e.plan.Operations) > 0 {
		return sut.Observation{}, system.Unknown(e.plan, c.Operation, e.plan.Operations)
	}
	b, err := request(nil, e.plan, op, c.Operation, &c)
	if err != nil {
		return sut.Observation{}, err
	}
	return e.exchange(ctx, c.Timeout, b, op)
}

func (e *sharedDriver) exchange(ctx context.Context, limit time.Duration, line []byte, op *sut.Operation) (sut.Observation, error) {
	began := time.Now()
	stdin, pipe := e.child.Stdin.(*os.File)
	if !pipe {
		return sut.Observation{}, errors.New("a call of a driver needs a pipe")
	}
	reply := make(chan []byte, 1)
	e.mu.Lock()
	e.last++
	id := e.last
	e.waiting[id] = reply
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.waiting, id)
		e.mu.Unlock()
	}()
	line = append(strconv.AppendInt(append(line, `,"id":`...), int64(id), 10), '}', '\n')
	e.writing.Lock()
	_ = stdin.SetWriteDeadline(began.Add(limit)) // cannot fail on a pipe
	_, err := stdin.Write(line)
	e.writing.Unlock()
	o := sut.Observation{End: sut.Answered}
	if err == nil {
		late := time.NewTimer(limit - time.Since(began))
		defer late.Stop()
		select {
		case text := <-reply:
			var a answer
			if err := json.Unmarshal(text, &a); err != nil {
				return o, diag.Environment("reading an answer twice: %w", err)
			}
			o.Output = text
			a.fillObservation(&o, op)
		case <-ctx.Done():
			return o, ctx.Err()
		case <-late.C:
			system.Late(&o, limit)
		case <-e.ended:
			err = errors.New("it has ended")
		}
	}
	if err != nil {
		e.noteDeath(ctx, &o)
	}
	o.Elapsed = time.Since(began)
	o.Printed = []byte(e.child.Output.Take())
	return o, nil
}

// noteDeath records in an observation how the driver ended.
func (e *sharedDriver) noteDeath(ctx context.Context, o *sut.Observation) {
	e.mu.Lock()
	broken := e.broken
	e.mu.Unlock()
	switch {
	case broken != "":
		o.End, o.Why = sut.Crashed, broken
	case e.child.EndsWithin(ctx, time.Second):
		system.Died(o, e.child.End(), e.child.State())
	default:
		e.child.Kill()
		o.End, o.Why = sut.Crashed, "the driver closed its standard output"
	}
}
