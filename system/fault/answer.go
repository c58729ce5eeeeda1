package fault

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/system"
)

// maxWhole is the largest answer, in bytes, that is buffered for faults that need all of it. A
// longer one passes, and the fault is reported as missed.
const maxWhole = 8 << 20

// answer is the response that the agent gets.
type answer struct {
	status  int
	header  http.Header
	body    io.Reader
	length  int64 // -1: unknown
	written bool  // the text faults have already been applied
	half    bool  // cut in the middle of the body
	rate    int   // bytes per second; 0: unlimited
}

// syntheticAnswer makes an answer that does not come from the server.
func syntheticAnswer(r fault.Reply) *answer {
	h := http.Header{}
	if r.ContentType != "" {
		h.Set("Content-Type", r.ContentType)
	}
	for _, kv := range r.Header {
		h.Set(kv[0], kv[1])
	}
	return &answer{status: r.Status, header: h, body: bytes.NewReader(r.Body), length: int64(len(r.Body))}
}

// shapes reports whether the call needs the whole answer buffered.
func (x *exchange) shapes() bool {
	d := x.decision
	return len(d.At(fault.AtToolResult)) > 0 || len(d.TextFaults()) > 0 || d.Find(fault.Duplicate, fault.Stale, fault.Partial) != nil ||
		x.ledger.Repeats(d.Call)
}

// send applies the faults on answers and sends the answer to the agent.
func (x *exchange) send(a *answer) {
	l, d := x.ledger, x.decision
	if s := d.Find(fault.ReplyLost); s != nil {
		x.loseAnswer(s, a)
		return
	}
	if s := d.Find(fault.Late); s != nil && !x.late(s, a) {
		return
	}
	if x.shapes() && !x.shape(a) {
		return
	}
	if s := d.Find(fault.WrongType); s != nil {
		x.ownType = a.header.Get("Content-Type")
		a.header.Set("Content-Type", fault.WrongContentType)
		l.Fired(d, s, s.Change())
	}
	if s := d.Find(fault.Partial); s != nil {
		if a.length > 1 && x.hasBody(a) {
			a.half = true
			l.Fired(d, s, s.Change())
		} else {
			l.Missed(d, s, "the answer has no body to cut")
		}
	}
	if s := d.Find(fault.Bandwidth); s != nil {
		if x.hasBody(a) {
			a.rate = s.Rule.Rate
			l.Fired(d, s, s.Change())
		} else {
			l.Missed(d, s, "the answer has no body to slow down")
		}
	}
	x.write(a)
}

// shape buffers the answer and applies the faults that need all of it. It returns false if the
// answer did not arrive.
func (x *exchange) shape(a *answer) bool {
	l, d := x.ledger, x.decision
	wire := a.body
	body, err := io.ReadAll(io.LimitReader(wire, maxWhole+1))
	if err != nil {
		x.noteNoEffect("the answer did not come whole")
		x.record.Status, x.record.Error = a.status, "the server cut the answer"
		x.abort(false)
		return false
	}
	if len(body) > maxWhole {
		x.tooLarge(a, body, wire)
		return true
	}
	body, encoding := decoded(a.header.Get("Content-Encoding"), body)
	if encoding == "" {
		a.header.Del("Content-Encoding")
	}
	contentType := a.header.Get("Content-Type")
	if l.Repeats(d.Call) {
		header := [][2]string{}
		earlier, ok := l.Earlier(d.Call, fault.Reply{Status: a.status, ContentType: contentType, Header: header, Body: body})
		switch s := d.Find(fault.Stale); {
		case s != nil && ok:
			a.status, contentType, body = earlier.Status, earlier.ContentType, earlier.Body
			a.header.Set("Content-Type", contentType)
			if x.message != nil {
				body = x.message.Readdressed(contentType, body)
			}
			l.Fired(d, s, s.Change())
		case s != nil:
			l.Missed(d, s, "nothing earlier to answer with")
		}
	}
	if len(d.At(fault.AtToolResult)) > 0 || len(d.TextFaults()) > 0 && !a.written {
		body = x.corruptAnswer(a, contentType, encoding, body)
	}
	if s := d.Find(fault.Duplicate); s != nil {
		if len(body) == 0 || !x.hasBody(a) {
			l.Missed(d, s, "the answer has no body to repeat")
		} else {
			body = slices.Concat(body, body)
			l.Fired(d, s, s.Change())
		}
	}
	a.body, a.length = bytes.NewReader(body), int64(len(body))
	if x.r.Method == http.MethodHead {
		a.length = -1
	}
	return true
}

// corruptAnswer applies the faults on an answer's content.
func (x *exchange) corruptAnswer(a *answer, contentType, encoding string, body []byte) []byte {
	l, d := x.ledger, x.decision
	missed := func(list []*fault.Strike, why string) {
		for _, s := range list {
			l.Missed(d, s, why)
		}
	}
	injected, texts := d.At(fault.AtToolResult), d.TextFaults()
	switch {
	case !x.hasBody(a):
		missed(append(injected, texts...), "the answer has no body")
	case a.status/100 == 3 && a.header.Get("Location") != "":
		missed(append(injected, texts...), fmt.Sprintf("the server redirects, %d", a.status))
	case encoding != "":
		missed(append(injected, texts...), "the answer is compressed as "+encoding)
	case a.status >= 400:
		missed(append(injected, texts...), fmt.Sprintf("the server answered with an error, %d", a.status))
	case x.model != nil:
		body = l.AlterText(d, x.model, contentType, body)
	case x.message != nil:
		body = l.InjectAnswer(d, x.message, contentType, body)
	default:
		body = l.InjectResult(d, contentType, body)
	}
	a.header.Del("Etag")
	a.header.Del("Content-Md5")
	a.header.Del("Digest")
	return body
}

// tooLarge passes an answer that is too large to buffer. A cut needs only its beginning.
func (x *exchange) tooLarge(a *answer, begin []byte, rest io.Reader) {
	for i := range x.decision.Strikes {
		switch s := &x.decision.Strikes[i]; {
		case s.Final(), s.Rule.Mode == fault.Slow, s.Rule.Mode == fault.Bandwidth, s.Rule.Mode == fault.WrongType, s.Rule.Mode == fault.Partial,
			s.Rule.Mode == fault.Late, s.Rule.Mode == fault.Twice, s.Rule.At == fault.AtLLMRequest:
		default:
			x.ledger.Missed(x.decision, s, fmt.Sprintf("the answer is larger than %d MiB", maxWhole>>20))
		}
	}
	a.body = io.MultiReader(bytes.NewReader(begin), rest)
	if a.length < 0 && x.decision.Find(fault.Partial) != nil {
		a.body, a.length = bytes.NewReader(begin), int64(len(begin))
	}
}

// decoded returns a body without its encoding; an encoding that cannot be removed is returned along
// with the unchanged body.
func decoded(encoding string, body []byte) (plain []byte, left string) {
	var r io.ReadCloser
	var err error
	switch encoding {
	case "", "identity":
		return body, ""
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return body, encoding
	}
	if err != nil {
		return body, encoding
	}
	defer r.Close()
	plain, err = io.ReadAll(io.LimitReader(r, maxWhole+1))
	if err != nil || len(plain) > maxWhole {
		return body, encoding
	}
	return plain, ""
}

// write sends an answer to the agent.
func (x *exchange) write(a *answer) {
	h := x.w.Header()
	maps.Copy(h, a.header)
	if a.length >= 0 && bodyAllowed(a.status) {
		h.Set("Content-Length", strconv.FormatInt(a.length, 10))
	}
	x.record.Status, x.record.ContentType = a.status, a.header.Get("Content-Type")
	if isListening(x.r) {
		x.finish() // nobody waits for the stream's end
	}
	x.w.WriteHeader(a.status)
	if !x.hasBody(a) {
		return
	}
	if a.length < 0 {
		http.NewResponseController(x.w).Flush() // a streaming server may stay silent for long
	}
	body := a.body
	if a.half {
		body = io.LimitReader(body, a.length/2)
	}
	if !x.copy(body, a) || a.half {
		http.NewResponseController(x.w).Flush()
		x.abort(false)
	}
}

// hasBody reports whether the agent gets a body, even an empty one.
func (x *exchange) hasBody(a *answer) bool {
	return x.r.Method != http.MethodHead && bodyAllowed(a.status)
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// ticks is the number of pieces per second in which a slow answer arrives.
const ticks = 20

// pieceAt returns the size of these pieces at a rate in bytes per second.
func pieceAt(rate int) int { return max(1, rate/ticks) }

// takes returns how long n bytes take at a rate in bytes per second.
func takes(n, rate int) time.Duration { return time.Duration(n) * time.Second / time.Duration(rate) }

// copy copies the body to the agent; it returns false if the agent did not get all of it.
func (x *exchange) copy(body io.Reader, a *answer) bool {
	buffer := *x.port.proxy.buffers.Get().(*[]byte)
	defer x.port.proxy.buffers.Put(&buffer)
	piece := buffer
	if a.rate > 0 {
		piece = piece[:min(len(piece), pieceAt(a.rate))]
	}
	out := http.NewResponseController(x.w)
	for {
		n, err := body.Read(piece)
		if n > 0 {
			x.response.Write(piece[:n])
			if !a.half && (x.response.size == a.length || (x.model != nil || x.message != nil) && fault.Ended(x.declared(), x.response.kept, piece[:n], x.message)) {
				x.finish()
			}
			if _, failed := x.w.Write(piece[:n]); failed != nil {
				x.record.Error = "the agent did not wait for the answer"
				return false
			}
			if a.length < 0 || a.rate > 0 {
				out.Flush()
			}
			if a.rate > 0 && system.Pause(x.context, takes(n, a.rate)) != nil {
				x.record.Error = "the agent did not wait for the answer"
				return false
			}
		}
		switch {
		case err == io.EOF:
			return true
		case err != nil && x.context.Err() != nil:
			x.record.Error = "the agent did not wait for the answer"
			return false
		case err != nil:
			x.record.Error = "the server cut the answer"
			return false
		}
	}
}
