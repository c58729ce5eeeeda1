package fault

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/system"
)

// maxLine is the longest MCP message on stdio, in bytes, that is inspected. Longer ones pass
// unchanged.
const maxLine = 8 << 20

// relay sits between an agent and an MCP server that exchange lines. Anything but tool calls and
// their answers passes byte for byte.
type relay struct {
	server  string // name
	cell    func() *cell
	context context.Context
	ends    [4]io.Closer // cut when a fault resets the connection

	toServer, toAgent lineWriter

	mu      sync.Mutex
	pending map[string]*pendingCall // calls the server has, by identifier
	waiting map[string]*pendingCall // calls the agent waits for
	work    sync.WaitGroup
	strikes sync.WaitGroup // struck calls whose answers are outstanding
}

// pendingCall is a tool call without an answer yet.
type pendingCall struct {
	cell     *cell
	message  *fault.Message
	decision *fault.Decision
	began    time.Time
	first    bool // first copy of a doubled call: nobody waits for its answer
}

// lineWriter lets several goroutines write whole messages.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// write writes a message. A failed write means that the connection is lost, which also ends the
// reads from it.
func (w *lineWriter) write(pieces ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.w.Write(bytes.Join(pieces, nil))
}

var newline = []byte{'\n'}

// run relays messages until one end closes, then closes all ends.
func (r *relay) run(fromAgent, fromServer io.ReadCloser, toAgent, toServer io.WriteCloser) {
	ctx, cancel := context.WithCancel(r.context)
	defer cancel()
	r.context, r.ends = ctx, [4]io.Closer{toAgent, toServer, fromAgent, fromServer}
	r.toAgent.w, r.toServer.w = toAgent, toServer
	defer r.cut()
	defer context.AfterFunc(ctx, r.cut)()
	r.work.Go(func() {
		r.lines(fromAgent, &r.toServer, r.fromAgent)
		r.strikes.Wait()
		toServer.Close() // the server, and with it the connection, ends when its input does, so wait for all answers first
	})
	r.lines(fromServer, &r.toAgent, r.fromServer)
	cancel()
	r.work.Wait()
}

func (r *relay) cut() {
	for _, e := range r.ends {
		e.Close()
	}
}

var errTooLong = errors.New("the message is too long to be looked into")

// lines passes every message of one side to take, which forwards it or not.
func (r *relay) lines(from io.Reader, to *lineWriter, take func(line []byte)) {
	reader := bufio.NewReader(from)
	for {
		line, err := readLine(reader)
		switch {
		case errors.Is(err, errTooLong):
			if c := r.cell(); c != nil {
				c.ledger.Note(fmt.Sprintf("a message of MCP server %s is larger than %d MiB; it passed without faults", r.server, maxLine>>20))
			}
			passLong(to, line, reader)
			continue
		case len(line) > 0:
			take(line)
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line including its newline.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > maxLine:
			return line, errTooLong
		}
	}
}

// passLong forwards a line that is too long: its beginning, then the rest.
func passLong(to *lineWriter, begin []byte, r *bufio.Reader) {
	to.mu.Lock()
	defer to.mu.Unlock()
	to.w.Write(begin)
	for err := bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		var piece []byte
		piece, err = r.ReadSlice('\n')
		to.w.Write(piece)
	}
}

// fromAgent handles a message from the agent.
func (r *relay) fromAgent(line []byte) {
	m := fault.ParseMCP(bytes.Clone(bytes.TrimSpace(line)))
	c := r.cell()
	if m != nil && m.Cancels != "" {
		r.givenUp(m.Cancels)
	}
	if m == nil || m.Tool == "" || c == nil {
		r.toServer.write(line)
		return
	}
	c.ledger.Saw(fault.SeenCall{Tool: m.Tool, Arguments: m.Arguments, Source: fault.SeenByMCP})
	p := &pendingCall{cell: c, message: m, decision: c.ledger.Decide(m.Call(r.server, "")), began: time.Now()}
	d := p.decision
	c.ledger.Began(d, p.exchange(nil, "", ""))
	r.mu.Lock()
	r.waiting[m.ID] = p
	r.mu.Unlock()
	if s := d.Find(fault.Twice); s != nil {
		id := fmt.Sprintf(`"thresh-%d"`, d.Number)
		r.mu.Lock()
		r.pending[id] = &pendingCall{first: true}
		r.mu.Unlock()
		r.toServer.write(m.As(id), newline)
		p.cell.ledger.Fired(d, s, s.Change())
	}
	if d.Final() == nil && d.Find(fault.Slow) == nil && d.Recorded == nil && !d.Refused {
		r.pass(p, line)
		return
	}
	line = bytes.Clone(line)
	r.strikes.Go(func() { r.strikeCall(p, line) }) // other calls continue meanwhile
}

func (r *relay) pass(p *pendingCall, line []byte) {
	r.mu.Lock()
	r.pending[p.message.ID] = p
	r.mu.Unlock()
	r.toServer.write(line)
}

// strikeCall applies the faults that precede or replace the server's answer, and recorded answers.
func (r *relay) strikeCall(p *pendingCall, line []byte) {
	ctx, cancel := context.WithCancel(r.context)
	defer cancel()
	defer context.AfterFunc(p.cell.context, cancel)()
	l, d, m := p.cell.ledger, p.decision, p.message
	for i := range d.Strikes {
		if s := &d.Strikes[i]; s.Rule.Mode == fault.Slow {
			l.Fired(d, s, s.Change())
			system.Pause(ctx, s.Rule.Delay)
		}
	}
	s := d.Final()
	switch {
	case s != nil && s.Rule.Mode == fault.Timeout:
		l.Fired(d, s, fmt.Sprintf("no answer for %s, then an error of the protocol", s.Rule.Delay))
		system.Pause(ctx, s.Rule.Delay)
		r.answer(p, m.Failure(fault.RequestTimeout, "request timed out"), "no answer, by a fault")
	case s != nil && s.Rule.Mode == fault.PartialWrite:
		l.Fired(d, s, s.Change())
		r.toServer.write(line[:len(line)/2])
		r.ended(p, nil, fault.WasReset, errReset.Error())
		r.cut()
	case s != nil && s.Rule.Mode == fault.Reset:
		l.Fired(d, s, "the connection to the server was cut before an answer")
		r.ended(p, nil, fault.WasReset, errReset.Error())
		r.cut()
	case s != nil:
		l.Fired(d, s, s.Change())
		if body, ok := m.Struck(s); ok {
			r.answer(p, body, "")
		}
	case d.Recorded != nil:
		l.Replayed(d, "the recorded response")
		system.Pause(ctx, d.Recorded.Latency)
		if d.Recorded.Ended != "" {
			r.ended(p, nil, d.Recorded.Ended, "no whole answer, by the recording")
			r.cut()
			return
		}
		r.shaped(p, m.Recorded(d.Recorded))
	case d.Refused:
		l.Replayed(d, fault.NotRecorded)
		r.answer(p, m.Result(string(fault.Refusal(m.Tool).Body), true), "")
	default:
		r.pass(p, line)
	}
}

// fromServer handles a message from the server.
func (r *relay) fromServer(line []byte) {
	if bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"error"`)) {
		if m := fault.ParseMCP(bytes.TrimSpace(line)); m != nil && m.Answer {
			r.mu.Lock()
			p := r.pending[m.ID]
			delete(r.pending, m.ID)
			r.mu.Unlock()
			if p != nil && p.first {
				return
			}
			if p != nil {
				r.shaped(p, bytes.Clone(bytes.TrimSpace(line)))
				return
			}
		}
	}
	r.toAgent.write(line)
}

// shaped applies the faults on answers and gives the agent the answer.
func (r *relay) shaped(p *pendingCall, body []byte) {
	l, d := p.cell.ledger, p.decision
	if s := d.Find(fault.ReplyLost, fault.Late); s != nil {
		l.Fired(d, s, s.Change())
		r.work.Go(func() { r.holdAnswer(p, s, body) }) // other calls continue meanwhile
		return
	}
	r.finished(p, body)
}

// holdAnswer loses or delays an answer.
func (r *relay) holdAnswer(p *pendingCall, s *fault.Strike, body []byte) {
	const why = "the reply was lost, by a fault"
	if system.Pause(p.cell.context, s.Rule.Delay) != nil { // the agent has gone on without it
		r.done(p, nil, why)
	}
	switch {
	case s.Rule.Mode == fault.Late:
		r.finished(p, body) // an agent that is gone no longer reads it
	case s.Rule.Status > 0:
		r.answer(p, p.message.Result(fmt.Sprintf("%d %s", s.Rule.Status, s.Rule.Message), true), why)
	case s.Rule.Delay > 0:
		r.answer(p, p.message.Failure(fault.RequestTimeout, "request timed out"), why)
	default:
		r.ended(p, nil, fault.WasReset, why)
		r.cut()
	}
}

// finished applies the faults on an answer's content and gives the agent the answer.
func (r *relay) finished(p *pendingCall, body []byte) {
	l, d := p.cell.ledger, p.decision
	if l.Repeats(d.Call) {
		earlier, ok := l.Earlier(d.Call, fault.Reply{Body: body})
		switch s := d.Find(fault.Stale); {
		case s != nil && ok:
			body = p.message.Readdressed("", earlier.Body)
			l.Fired(d, s, s.Change())
		case s != nil:
			l.Missed(d, s, "nothing earlier to answer with")
		}
	}
	if m := fault.ParseMCP(body); m != nil {
		body = l.InjectMCP(d, m).Bytes()
	}
	if s := d.Find(fault.WrongType); s != nil {
		l.Missed(d, s, "a pipe has no content type")
	}
	if s := d.Find(fault.Duplicate); s != nil {
		l.Fired(d, s, s.Change())
		r.toAgent.write(body, newline)
	}
	if s := d.Find(fault.Bandwidth); s != nil {
		l.Fired(d, s, s.Change())
		r.writeSlowly(p, body, s.Rule.Rate)
		return
	}
	if s := d.Find(fault.Partial); s != nil {
		l.Fired(d, s, "half of the message, then the connection closed")
		r.ended(p, body[:len(body)/2], fault.WasClosed, "")
		r.toAgent.write(body[:len(body)/2])
		r.cut()
		return
	}
	r.answer(p, body, "")
}

// writeSlowly writes a message at a limited rate. The pipe is busy meanwhile, as a slow one would
// be.
func (r *relay) writeSlowly(p *pendingCall, body []byte, rate int) {
	r.done(p, body, "")
	r.toAgent.mu.Lock()
	defer r.toAgent.mu.Unlock()
	for len(body) > 0 {
		n := min(pieceAt(rate), len(body))
		r.toAgent.w.Write(body[:n])
		body = body[n:]
		if system.Pause(p.cell.context, takes(n, rate)) != nil {
			break // the cell has ended: send the rest at once
		}
	}
	r.toAgent.w.Write(append(body, '\n'))
}

// answer gives the agent an answer without further faults.
func (r *relay) answer(p *pendingCall, body []byte, why string) {
	r.done(p, body, why)
	r.toAgent.write(body, newline)
}

// done adds a call to the report.
func (r *relay) done(p *pendingCall, body []byte, why string) { r.ended(p, body, "", why) }

// ended adds a call to the report whose connection ends with it.
func (r *relay) ended(p *pendingCall, body []byte, how fault.Ending, why string) {
	r.mu.Lock()
	waits := r.waiting[p.message.ID] == p
	delete(r.waiting, p.message.ID)
	r.mu.Unlock()
	if waits {
		p.cell.ledger.Exchanged(p.decision, p.exchange(body, how, why))
	}
}

// givenUp records that the agent no longer waits for the answer to a call.
func (r *relay) givenUp(id string) {
	r.mu.Lock()
	p := r.waiting[id]
	r.mu.Unlock()
	if p != nil {
		r.done(p, nil, "the agent gave up")
	}
}

func (p *pendingCall) exchange(body []byte, how fault.Ending, why string) fault.Exchange {
	limit := p.cell.ledger.Plan().Capture
	request := p.message.Bytes()
	return fault.Exchange{
		At: p.began.Sub(p.cell.began), Took: time.Since(p.began), Error: why,
		Request: request[:min(limit, len(request))], RequestSize: int64(len(request)),
		Response: bytes.Clone(body[:min(limit, len(body))]), ResponseSize: int64(len(body)), Ended: how,
	}
}
