// Package driver reaches systems of kind driver: programs that speak lines of
// JSON on their standard streams, one answer for one line. [Open] is a
// system.Kind.
//
//	{"reset":true}                                     a fresh state
//	{"call":"refund","args":{"order":1,"amount":5}}    an operation
//	{"call":"parse","args":{},"body":"eA=="}           with the bytes of a case
//	{"ok":VALUE}  {"rejected":"why"}  {"error":"why"}  the answers
//
// A driver that several actors call at the same time gets an id with each line. It answers with
// the same id, in any order:
//
//	{"call":"get","args":[7],"id":3}   {"ok":5,"id":3}
//
// Any other line is a fault of the driver, which is then replaced.
// The package must not import a contract.
package driver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/program"
)

// edge is a driver that runs.
type edge struct {
	plan  *sut.Plan
	child *program.Child
	lines *bufio.Reader
	line  []byte // the line to send
	dead  bool

	armed   time.Time // deadline of the pipes, unless an ended context has set one
	mu      sync.Mutex
	awaited <-chan struct{} // Done channel of the context whose end interrupts the exchange
	forget  func() bool     // stops watching that context
}

// Open starts a driver.
func Open(_ context.Context, s system.Site) (system.Edge, error) {
	c, err := program.Start(s.Spec())
	if err != nil {
		return nil, err
	}
	if s.Worker.Crowd {
		return openCrowd(s.Plan, c), nil
	}
	return &edge{plan: s.Plan, child: c, lines: bufio.NewReaderSize(c.Stdout, 64<<10)}, nil
}

// Operations implements system.Edge. It returns those of the system file, because a driver does not
// list its own.
func (e *edge) Operations() []sut.Operation { return e.plan.Operations }

// Notes implements system.Edge.
func (e *edge) Notes() []string { return nil }

// Dead implements system.Mortal.
func (e *edge) Dead() bool { return e.dead || !e.child.Alive() }

// Left implements system.Leaver.
func (e *edge) Left() *program.Child {
	if e.dead {
		return nil
	}
	return e.child.Failed()
}

// Close implements system.Edge.
func (e *edge) Close() error {
	if e.forget != nil {
		e.forget()
	}
	e.child.Stop()
	return nil
}

// Fresh implements system.Fresher.
func (e *edge) Fresh(ctx context.Context, limit time.Duration) (sut.Observation, error) {
	e.line = append(e.line[:0], "{\"reset\":true}\n"...)
	return e.exchange(ctx, limit, nil)
}

// Call implements system.Edge.
func (e *edge) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	name := cmp.Or(c.Operation, e.plan.Input.Operation)
	var op *sut.Operation
	if name == "" || len(e.plan.Operations) > 0 {
		var err error
		if op, err = system.Operation(e.plan, name, e.plan.Operations); err != nil {
			return sut.Observation{}, err
		}
		name = op.Name
	}
	b, err := request(e.line[:0], e.plan, op, name, &c)
	if err != nil {
		return sut.Observation{}, err
	}
	e.line = append(b, '}', '\n')
	return e.exchange(ctx, c.Timeout, op)
}

// request appends a line to b without its closing brace and newline.
func request(b []byte, p *sut.Plan, op *sut.Operation, name string, c *sut.Call) ([]byte, error) {
	b = append(append(b, `{"call":`...), system.Text(name)...)
	b = append(b, `,"args":`...)
	raw := c.Input != nil && p.Input.Argument == ""
	if c.Positional != nil {
		b = append(b, '[')
		for i, v := range c.Positional {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, v...)
		}
		b = append(b, ']')
	} else {
		list, _, err := system.Arguments(p, op, c)
		if err != nil {
			return nil, err
		}
		b = append(b, system.Object(list)...)
	}
	if raw {
		b = append(b, `,"body":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, c.Input), '"')
	}
	return b, nil
}

// answer is a line from a driver.
type answer struct {
	OK       json.RawMessage `json:"ok"`
	Rejected *string         `json:"rejected"`
	Error    *string         `json:"error"`
	ID       int             `json:"id"`
}

// exchange sends the line and reads the answer.
func (e *edge) exchange(ctx context.Context, limit time.Duration, op *sut.Operation) (sut.Observation, error) {
	began := time.Now()
	o := sut.Observation{End: sut.Answered}
	line, err := e.roundTrip(ctx, began.Add(limit))
	o.Elapsed = time.Since(began)
	if ctx.Err() != nil {
		e.kill()
		return o, ctx.Err()
	}
	switch {
	case errors.Is(err, errTooLong):
		system.Flood(&o)
		e.kill()
	case errors.Is(err, os.ErrDeadlineExceeded):
		system.Late(&o, limit)
		e.kill()
	case err != nil:
		if !e.child.EndsWithin(ctx, time.Second) {
			e.kill()
			o.End, o.Why = sut.Crashed, "the driver closed its standard output"
		} else {
			system.Died(&o, e.child.End(), e.child.State())
		}
		e.dead = true
	default:
		e.readAnswer(&o, line, op)
	}
	o.Printed = []byte(e.child.Output.Take())
	return o, nil
}

func (e *edge) kill() {
	e.dead = true
	e.child.Kill()
}

func (e *edge) readAnswer(o *sut.Observation, line []byte, op *sut.Operation) {
	var a answer
	if v, ok := bytes.CutPrefix(line, []byte(`{"ok":`)); ok && bytes.HasSuffix(v, []byte("}")) && json.Valid(v[:len(v)-1]) { // the usual form
		o.Output = bytes.Clone(line) // line's buffer is reused
		a.OK = o.Output[len(line)-len(v) : len(line)-1]
	} else if json.Unmarshal(line, &a) != nil || !a.complete() {
		o.Output = bytes.Clone(line)
		o.End, o.Why = sut.Crashed, fmt.Sprintf("the driver wrote a line that is not an answer: %.80q", line)
		e.kill() // nobody could assign its next lines to a call
		return
	}
	if o.Output == nil {
		o.Output = bytes.Clone(line)
	}
	a.fillObservation(o, op)
}

func (a *answer) complete() bool { return a.OK != nil || a.Rejected != nil || a.Error != nil }

// fillObservation records an answer in an observation.
func (a *answer) fillObservation(o *sut.Observation, op *sut.Operation) {
	switch {
	case a.Error != nil:
		o.End, o.Why = sut.Crashed, "the driver reports an error: "+*a.Error
	case a.Rejected != nil:
		o.End, o.Why = sut.Refused, *a.Rejected
	default:
		o.Value = system.Returned(op, a.OK)
	}
}

// roundTrip sends the line and waits for the answer. Both have the deadline: a driver that reads
// nothing must not block us beyond the limit.
func (e *edge) roundTrip(ctx context.Context, deadline time.Time) ([]byte, error) {
	stdin, ok := e.child.Stdin.(*os.File)
	if !ok {
		return nil, diag.Environment("the driver's standard input is not a pipe")
	}
	e.await(ctx, stdin)
	if e.armed.IsZero() || e.armed.After(deadline) {
		e.arm(stdin, deadline)
	}
	if ctx.Err() != nil { // it may have ended earlier
		return nil, ctx.Err()
	}
	for left := e.line; len(left) > 0; {
		n, err := stdin.Write(left)
		if left = left[n:]; err != nil && !e.early(ctx, stdin, deadline, err) {
			return nil, err
		}
	}
	var long []byte
	for {
		part, err := e.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || err != nil && e.early(ctx, stdin, deadline, err) {
			if long = append(long, part...); len(long) > sut.MaxOutput {
				return nil, errTooLong
			}
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if long != nil {
			if part = append(long, part...); len(part) > sut.MaxOutput {
				return nil, errTooLong
			}
		}
		return bytes.TrimSpace(part), nil
	}
}

// arm sets the deadlines of the pipes. That costs more than the exchange itself, so a call keeps
// the deadlines of an earlier one unless they are later than its own.
func (e *edge) arm(stdin *os.File, deadline time.Time) {
	e.armed = deadline
	_ = errors.Join(stdin.SetWriteDeadline(deadline), e.child.Stdout.SetReadDeadline(deadline)) // using a closed pipe reports it
}

// early reports whether a wait ended at an earlier call's deadline, or at the end of its context,
// and can continue.
func (e *edge) early(ctx context.Context, stdin *os.File, deadline time.Time, err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(deadline) {
		return false
	}
	e.arm(stdin, deadline)
	return ctx.Err() == nil // otherwise the end of ctx may have set them earlier
}

// await has the end of ctx interrupt the exchange. Consecutive calls usually have the same context,
// which is then watched only once.
func (e *edge) await(ctx context.Context, stdin *os.File) {
	done := ctx.Done()
	if done == e.awaited {
		return
	}
	if e.forget != nil {
		e.forget()
	}
	e.mu.Lock() // the old context may end right now
	e.awaited = done
	e.mu.Unlock()
	e.forget = context.AfterFunc(ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.awaited == done {
			now := time.Now()
			_ = errors.Join(stdin.SetWriteDeadline(now), e.child.Stdout.SetReadDeadline(now)) // closed pipes are at their end anyway
		}
	})
}

var errTooLong = errors.New("the line is too long")
