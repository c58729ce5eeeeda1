package fault

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/system"
)

// loseAnswer reads the server's answer, so that the server has acted, and gives the agent the
// fault's replacement.
func (x *exchange) loseAnswer(s *fault.Strike, a *answer) {
	if _, err := io.Copy(io.Discard, io.LimitReader(a.body, maxWhole)); err != nil {
		x.ledger.Missed(x.decision, s, "the answer did not come whole")
	} else {
		x.ledger.Fired(x.decision, s, s.Change())
	}
	x.record.Error = "the reply was lost, by a fault"
	if s.Rule.Delay > 0 && system.Pause(x.context, s.Rule.Delay) != nil {
		x.abort(false)
		return
	}
	if s.Rule.Status > 0 {
		x.write(syntheticAnswer(fault.Reply{Status: s.Rule.Status, ContentType: "text/plain; charset=utf-8", Body: []byte(s.Rule.Message)}))
		return
	}
	x.abort(s.Rule.Delay == 0)
}

// late reads the server's answer and delays it; it returns false if the agent did not wait.
func (x *exchange) late(s *fault.Strike, a *answer) bool {
	body, err := io.ReadAll(io.LimitReader(a.body, maxWhole+1))
	rest := a.body
	if a.body = bytes.NewReader(body); err != nil || len(body) > maxWhole {
		a.body = io.MultiReader(bytes.NewReader(body), rest)
	}
	x.ledger.Fired(x.decision, s, s.Change())
	if system.Pause(x.context, s.Rule.Delay) != nil {
		return x.endAbandoned()
	}
	return true
}

// repeatRequest makes a request a first time, before the real one; it returns the reason if it
// cannot.
func (x *exchange) repeatRequest(out *http.Request) string {
	if out.GetBody == nil || out.Header.Get("Upgrade") != "" {
		return "the request cannot be made twice"
	}
	first := out.Clone(x.context)
	first.Body, _ = out.GetBody() // reading from memory cannot fail
	resp, err := x.port.proxy.transport.RoundTrip(first)
	if err != nil {
		return "the server gave no answer"
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxWhole)); err != nil {
		return "the answer did not come whole"
	}
	return ""
}

var errHalved = errors.New("half of the request is sent")

// failing is a reader that only returns an error.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errHalved }

// halved sends the server half of the request and cuts the connection. The server's answer is
// dropped.
func (x *exchange) halved() {
	out, err := http.NewRequestWithContext(x.context, x.r.Method, x.url.String(), io.MultiReader(bytes.NewReader(x.body[:len(x.body)/2]), failing{}))
	if err != nil {
		return
	}
	out.Header, out.Host, out.ContentLength = x.r.Header.Clone(), x.r.Host, int64(len(x.body))
	endToEnd(out.Header)
	out.Header.Del("Expect")
	t := x.port.proxy.transport.Clone()
	t.WriteBufferSize, t.DisableKeepAlives = 1, true // send each piece before the error occurs
	defer t.CloseIdleConnections()
	if resp, err := t.RoundTrip(out); err == nil {
		resp.Body.Close()
	}
}
