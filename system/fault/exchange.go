package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/system"
)

// maxRequest is how many bytes of a request are read before it is sent on. The rest of a longer one
// is streamed; faults on LLMs and MCP tools cannot recognize it, which is reported.
const maxRequest = 32 << 20

// maxUsage is how many bytes of an LLM's answer are read for its token count.
const maxUsage = 1 << 20

// exchange is one call on its way to a server and back.
type exchange struct {
	port    *agentPort
	ledger  *fault.Ledger
	w       http.ResponseWriter
	r       *http.Request
	url     *url.URL
	context context.Context // ends with the agent's request or the cell

	body     []byte    // the part of the request read before sending
	rest     io.Reader // the rest of the request
	model    *fault.Request
	message  *fault.Message
	decision *fault.Decision
	request  capture
	response capture
	record   fault.Exchange
	began    time.Time
	limit    int         // bytes kept of each body
	finished atomic.Bool // the call has been reported
	ownType  string      // content type of the answer before a fault replaced it; "": none did
	invented bool        // a fault answers instead of the model: the tokens that it counts are nobody's
	release  func()      // lets the cell close; may be called twice
}

// exchange serves a call and applies its faults.
func (d *agentPort) exchange(w http.ResponseWriter, r *http.Request, u *url.URL, token, tool string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := d.attribute(token, r.Header, u.Host)
	x := &exchange{port: d, w: w, r: r, url: u, context: ctx, began: time.Now(), record: fault.Exchange{URL: u.String(), Method: r.Method, Key: keyOf(r.Header), Trace: traceOf(r.Header)}}
	if c == nil || !c.begin() {
		idle, err := fault.NewLedger(fault.Plan{}, func() time.Duration { return 0 })
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		x.ledger, x.release = idle, func() {}
	} else {
		x.ledger, x.record.At, x.release = c.ledger, time.Since(c.began), sync.OnceFunc(c.calls.Done)
		if isListening(r) {
			x.release()
		} else {
			defer context.AfterFunc(c.context, func() {
				cancel()
				x.cut()
			})()
		}
	}
	defer x.release()
	x.limit = x.ledger.Plan().Capture
	x.request.limit, x.response.limit = x.limit, x.limit
	if err := x.read(); err != nil {
		http.Error(w, "the request did not arrive whole", http.StatusBadRequest)
		return
	}
	x.decision = x.ledger.Decide(x.classify(tool))
	x.record.Request, x.record.RequestSize = x.request.kept, x.request.size
	x.ledger.Began(x.decision, x.record)
	if x.model != nil || x.message != nil {
		x.response.limit = max(x.limit, maxUsage)
	}
	defer x.finish()
	if x.delayed() {
		x.answer()
	}
}

// read reads as much of the request as must be known before it is sent on.
func (x *exchange) read() error {
	x.rest = io.TeeReader(x.r.Body, &x.request)
	t := x.r.Header.Get("Content-Type")
	known := x.r.ContentLength >= 0 && x.r.ContentLength <= maxRequest
	if !known && !strings.Contains(t, "json") && !fault.MayAskModel(x.r.Method, x.url.Path) {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(x.rest, maxRequest))
	x.body = body
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	return nil
}

// classify determines the kind of the call and its names.
func (x *exchange) classify(tool string) fault.Call {
	raw := x.url.String()
	named := func(derived []string) []string {
		if tool != "" {
			return append([]string{tool}, derived...)
		}
		return x.ledger.Plan().Name(raw, derived)
	}
	if x.model = fault.Recognize(x.r.Method, x.url.Path, x.body); x.model != nil {
		x.ledger.Saw(x.model.ToolCalls()...)
		call := fault.Call{Kind: fault.ModelCall, Names: named(x.model.Names(x.url)), URL: raw}
		if x.ledger.Plan().RecordsModel() {
			call.Asked = x.model.Asked()
		}
		return call
	}
	if x.r.Method == http.MethodPost {
		if x.message = fault.ParseMCP(x.body); x.message != nil {
			server := x.url.Host
			if n := named(nil); len(n) > 0 {
				server = n[0]
			}
			if x.message.Tool != "" {
				x.ledger.Saw(fault.SeenCall{Tool: x.message.Tool, Arguments: x.message.Arguments, Source: fault.SeenByMCP})
			}
			return x.message.Call(server, raw)
		}
	}
	call := fault.Call{Kind: fault.ToolCall, Names: named(fault.Derived(x.url)), URL: raw, Method: x.r.Method}
	if len(x.body) == maxRequest && (fault.MayAskModel(x.r.Method, x.url.Path) || strings.Contains(x.r.Header.Get("Content-Type"), "json")) {
		x.ledger.Note(fmt.Sprintf("a request to %s is larger than %d MiB; it was not looked into", x.url.Host, maxRequest>>20))
		call.Kind = fault.OtherCall
		return call
	}
	if self := x.ledger.Plan().Self; self != "" && fault.MatchURL(self, raw) {
		call.Kind = fault.OtherCall
		return call
	}
	if fault.ModelSide(x.url.Path) || x.r.Header.Get("Mcp-Session-Id") != "" {
		call.Kind = fault.OtherCall
		return call
	}
	arguments := x.url.RawQuery
	if len(x.body) > 0 {
		arguments = string(x.body[:min(len(x.body), 16<<10)])
	}
	x.ledger.Saw(fault.SeenCall{Tool: call.Name(), Names: call.Names, Arguments: arguments, Source: fault.SeenOnWire})
	return call
}

// delayed waits for slow faults and reports whether the call goes on.
func (x *exchange) delayed() bool {
	for i := range x.decision.Strikes {
		s := &x.decision.Strikes[i]
		if s.Rule.Mode != fault.Slow {
			continue
		}
		x.ledger.Fired(x.decision, s, s.Change())
		if system.Pause(x.context, s.Rule.Delay) != nil {
			return x.endAbandoned()
		}
	}
	return true
}

// endAbandoned ends a call whose agent or cell no longer waits for it.
func (x *exchange) endAbandoned() bool {
	x.record.Error = "the agent did not wait for the answer"
	x.abort(false)
	return false
}

// answer decides what the agent gets and sends it: a fault, a recorded answer, a written one or the
// server's.
func (x *exchange) answer() {
	l, d := x.ledger, x.decision
	if s := d.Final(); s != nil {
		why := ""
		if x.model != nil {
			why = s.Unasked(x.model)
		} else if s.Rule.Mode == fault.PartialWrite && (len(x.body) < 2 || x.r.ContentLength > int64(len(x.body))) {
			why = "the request has no body that could be cut"
		}
		if why == "" {
			x.applyFinal(s)
			return
		}
		l.Missed(d, s, why)
	}
	switch {
	case d.Recorded != nil:
		l.Replayed(d, "the recorded response")
		if system.Pause(x.context, d.Recorded.Latency) != nil {
			x.endAbandoned()
			return
		}
		if d.Recorded.Ended != "" {
			x.broken(d.Recorded)
			return
		}
		if x.message != nil {
			x.send(syntheticAnswer(fault.Reply{Status: http.StatusOK, ContentType: "application/json", Body: x.message.Recorded(d.Recorded)}))
			return
		}
		x.send(syntheticAnswer(d.Recorded.Reply()))
	case d.Refused:
		l.Replayed(d, fault.NotRecorded)
		reply := fault.Refusal(d.Call.Name())
		if x.model != nil {
			reply = x.model.Failure(http.StatusBadRequest, string(reply.Body), 0)
		} else if x.message != nil {
			reply = fault.Reply{Status: http.StatusOK, ContentType: "application/json", Body: x.message.Result(string(reply.Body), true)}
		}
		x.send(syntheticAnswer(reply))
	case x.model != nil && d.Replaces():
		a := syntheticAnswer(x.modelReply(l.Written(d)))
		a.written, x.invented = true, true
		x.send(a)
	default:
		x.forward()
	}
}

// broken replays a recorded answer of which the agent had received only a part, if any.
func (x *exchange) broken(r *fault.Recorded) {
	a := syntheticAnswer(r.Reply())
	if a.length == 0 || r.Ended == fault.WasReset {
		x.record.Error = "no whole answer, by the recording"
		x.abort(r.Ended == fault.WasReset)
		return
	}
	a.half, a.length = true, 2*a.length
	x.send(a)
}

func (x *exchange) modelReply(text string) fault.Reply {
	return x.model.Answer(text, x.decision.Number, time.Now())
}

// applyFinal applies a fault that replaces the server's answer.
func (x *exchange) applyFinal(s *fault.Strike) {
	x.ledger.Fired(x.decision, s, s.Change())
	switch s.Rule.Mode {
	case fault.Timeout:
		x.record.Error = "no answer, by a fault"
		system.Pause(x.context, s.Rule.Delay)
		x.abort(false)
		return
	case fault.PartialWrite:
		x.halved()
		x.record.Error = "the connection was reset within the request"
		x.abort(true)
		return
	case fault.Reset:
		x.record.Error = errReset.Error()
		x.abort(true)
		return
	}
	if x.model != nil {
		if reply, ok := s.ModelAnswer(x.model, x.decision.Number, time.Now()); ok {
			x.invented = true
			a := syntheticAnswer(reply)
			if reply.Cut {
				a.half, a.length = true, 2*a.length
			}
			x.write(a)
			return
		}
	}
	if x.message != nil && x.message.Tool != "" {
		if body, ok := x.message.Struck(s); ok {
			x.write(syntheticAnswer(fault.Reply{Status: http.StatusOK, ContentType: "application/json", Body: body}))
			return
		}
	}
	reply, _ := s.Answer()
	x.write(syntheticAnswer(reply))
}

// forward sends the request to the real server.
func (x *exchange) forward() {
	body := x.body
	if x.model != nil {
		body = x.ledger.InjectRequest(x.decision, x.model)
	}
	out, err := http.NewRequestWithContext(x.context, x.r.Method, x.url.String(), nil)
	if err != nil {
		http.Error(x.w, err.Error(), http.StatusBadRequest)
		return
	}
	out.Header = x.r.Header.Clone()
	upgrade := strings.Contains(strings.ToLower(out.Header.Get("Connection")), "upgrade")
	protocol := out.Header.Get("Upgrade")
	endToEnd(out.Header)
	out.Header.Del("Expect") // the proxy has already answered it
	if upgrade {
		out.Header.Set("Connection", "Upgrade")
		out.Header.Set("Upgrade", protocol)
	}
	if x.ledger.Plan().Capture > 0 || x.model != nil || x.shapes() {
		out.Header.Del("Accept-Encoding") // a compressed answer can neither be shown nor changed
	}
	out.Host = x.r.Host
	switch {
	case x.r.ContentLength >= 0 && x.r.ContentLength <= int64(len(x.body)):
		out.ContentLength = int64(len(body))
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		if len(body) == 0 {
			out.Body = http.NoBody
		}
	case x.r.ContentLength >= 0:
		out.ContentLength = x.r.ContentLength + int64(len(body)-len(x.body))
		out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), x.rest))
	default:
		out.ContentLength = -1
		out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), x.rest))
	}
	if s := x.decision.Find(fault.Twice); s != nil {
		if why := x.repeatRequest(out); why != "" {
			x.ledger.Missed(x.decision, s, why)
		} else {
			x.ledger.Fired(x.decision, s, s.Change())
		}
	}
	resp, err := x.port.proxy.transport.RoundTrip(out)
	if err != nil {
		x.unreachable(err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		x.upgraded(resp)
		return
	}
	endToEnd(resp.Header)
	x.send(&answer{status: resp.StatusCode, header: resp.Header, body: resp.Body, length: resp.ContentLength})
}

// unreachable reports to the agent and in the report that the real server did not answer.
func (x *exchange) unreachable(err error) {
	if x.context.Err() != nil {
		x.noteNoEffect("the agent did not wait for the answer")
		x.endAbandoned()
		return
	}
	why := stableError(err)
	x.noteNoEffect("the server gave no answer")
	x.record.Error = why
	x.ledger.Note(fmt.Sprintf("%s gave no answer: %s", x.url.Host, why))
	x.write(syntheticAnswer(fault.Reply{Status: http.StatusBadGateway, ContentType: "text/plain; charset=utf-8", Body: []byte(x.url.Host + " gave no answer: " + why)}))
}

// stableError says why a server did not answer, in the same words every time.
func stableError(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server cut the connection"
	case errors.As(err, &dns):
		return "the host is not known"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to it"
	}
	return err.Error()
}

// noteNoEffect records that there was no answer for the faults on answers.
func (x *exchange) noteNoEffect(why string) {
	for i := range x.decision.Strikes {
		if s := &x.decision.Strikes[i]; s.Rule.Mode != fault.Slow && s.Rule.At != fault.AtLLMRequest && !s.Final() {
			x.ledger.Missed(x.decision, s, why)
		}
	}
}

// finish adds the call to the report. It must run before the agent can know that the answer is
// complete: whoever asks for the report after the agent has replied sees all calls that the agent
// waited for.
func (x *exchange) finish() {
	if x.finished.Swap(true) {
		return
	}
	defer x.release()
	e := &x.record
	if x.model != nil {
		var input, output int64
		if !x.invented {
			input, output = x.model.Usage(x.declared(), x.response.kept)
		}
		x.ledger.Used(x.decision, e.Status, e.Error == "" && e.Ended == "", input, output)
		x.learnWanted()
	}
	e.Took = time.Since(x.began)
	e.Request, e.RequestSize = x.request.kept, x.request.size
	e.Response, e.ResponseSize = x.response.kept[:min(x.limit, len(x.response.kept))], x.response.size
	x.ledger.Exchanged(x.decision, *e)
}

// cut closes the connection of an agent that has not received its whole answer, and may not be
// reading it, when its cell ends. A connection whose answer is complete may be reused.
func (x *exchange) cut() {
	if c, ok := x.r.Context().Value(connKey{}).(net.Conn); ok && !x.finished.Load() {
		rawOf(c).Close()
	}
}

// abort ends the agent's connection, see [abort].
func (x *exchange) abort(reset bool) {
	x.record.Ended = fault.WasClosed
	if reset {
		x.record.Ended = fault.WasReset
	}
	x.finish()
	abort(x.w, reset)
}

// hopByHop are the headers that apply to a single connection.
var hopByHop = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// endToEnd removes the headers that are not meant for the other end.
func endToEnd(h http.Header) {
	for _, list := range h.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}
