package fault

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
)

// Faults of effects: what the server got and did, and what the agent saw.
func TestEffectFaults(t *testing.T) {
	for _, x := range []struct {
		name   string
		rule   fault.Rule
		bodies []string // that the server got
		saw    string   // status and body, or the end of the connection
		short  bool     // the agent does not wait
	}{
		{"reset", tool(fault.ReplyLost, nil), []string{`{"amount":5}`}, "reset", false},
		{"status", tool(fault.ReplyLost, func(r *fault.Rule) { r.Status = 504 }), []string{`{"amount":5}`}, "504 Service Unavailable", false},
		{"nothing", tool(fault.ReplyLost, func(r *fault.Rule) { r.Delay = time.Millisecond }), []string{`{"amount":5}`}, "EOF", false},
		{"twice", tool(fault.Twice, nil), []string{`{"amount":5}`, `{"amount":5}`}, "200 done 2", false},
		{"late", tool(fault.Late, func(r *fault.Rule) { r.Delay = time.Millisecond }), []string{`{"amount":5}`}, "200 done 1", false},
		{"too late", tool(fault.Late, nil), []string{`{"amount":5}`}, "deadline", true},
		{"half", tool(fault.PartialWrite, nil), []string{`{"amou`}, "reset", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			var mu sync.Mutex
			var bodies []string
			acted := make(chan bool, 2)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // half of it is what it is
				mu.Lock()
				bodies = append(bodies, string(body))
				fmt.Fprintf(w, "done %d", len(bodies))
				mu.Unlock()
				acted <- true
			}))
			defer server.Close()
			s := open(t, nil)
			c := s.enter(x.rule)
			client := s.client()
			if x.short {
				client.Timeout = 300 * time.Millisecond
			}
			saw := ""
			resp, err := client.Post(server.URL+"/charge", "application/json", strings.NewReader(`{"amount":5}`))
			if err != nil {
				saw = err.Error()
			} else {
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				saw = fmt.Sprint(resp.StatusCode, " ", string(body))
			}
			for range x.bodies {
				<-acted
			}
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(saw, x.saw) || fmt.Sprint(bodies) != fmt.Sprint(x.bodies) {
				t.Errorf("the agent saw %q, want %q; the server got %q, want %q", saw, x.saw, bodies, x.bodies)
			}
			r := c.Close()
			if k := r.Tallies[0]; k.Fired != 1 || len(k.Missed) > 0 {
				t.Errorf("%+v", k)
			}
			if x.rule.Mode != fault.Twice && x.name != "late" && (len(r.Exchanges) != 1 || r.Exchanges[0].Error == "") {
				t.Errorf("the trace does not say that there was no answer: %+v", r.Exchanges)
			}
		})
	}
}

// An answer comes late as a whole, however large it is.
func TestLargeAnswersThatComeLate(t *testing.T) {
	for _, size := range []int{maxWhole, maxWhole + 1, maxWhole + 70_000} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, size)) }))
		defer server.Close()
		s := open(t, nil)
		c := s.enter(tool(fault.Late, func(r *fault.Rule) { r.Delay = time.Millisecond }))
		g := get(s.client(), server.URL)
		if k := tally(t, c, 0); len(g.body) != size || g.err != nil || k.Fired != 1 || len(k.Missed) > 0 {
			t.Errorf("%d of %d bytes, %v; %+v", len(g.body), size, g.err, k)
		}
	}
}

// Once the agent has left, neither the server nor another fault sees the call.
func TestAgentsThatLeaveWhatIsSlow(t *testing.T) {
	for _, x := range []struct {
		mode  fault.Mode
		then  fault.Mode
		calls int64 // of the server
	}{
		{fault.Slow, fault.Error, 0}, {fault.Slow, fault.WrongType, 0}, {fault.Late, fault.WrongType, 1},
	} {
		server, calls := tools(t)
		s := open(t, nil)
		c := s.enter(tool(x.mode, func(r *fault.Rule) { r.Delay = time.Hour }), tool(x.then, nil))
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go func() {
			for ctx.Err() == nil && c.Report().Tallies[0].Fired == 0 {
				time.Sleep(time.Millisecond)
			}
			leave()
		}()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if g := read(s.client().Do(req)); g.err == nil {
			t.Errorf("%s: the agent got %+v", x.mode, g)
		}
		for len(c.Report().Exchanges) == 0 { // until the port has noticed
			time.Sleep(time.Millisecond)
		}
		s.proxy.Close() // waits for what is still done for the call
		r := c.Close()
		if e := r.Exchanges; len(e) != 1 || e[0].Error != "the agent did not wait for the answer" || r.Tallies[1].Fired != 0 || len(r.Tallies[1].Missed) > 0 || calls.Load() != x.calls {
			t.Errorf("%s: %+v, then %+v, %d calls", x.mode, e, r.Tallies[1], calls.Load())
		}
	}
}

// pieces is a connection of an agent, with the sizes of what was written to it.
type pieces struct {
	*httptest.ResponseRecorder
	sizes []int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.sizes = append(p.sizes, len(b))
	return len(b), nil
}

// A slow answer comes in pieces of what its rate allows in a twentieth of a second, of one byte at least.
func TestPiecesOfSlowAnswers(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave() // nobody waits for more than the first
	for rate, want := range map[int]int{1: 1, 20: 1, 39: 1, 40: 2, 2000: 100, 1 << 30: 32 << 10} {
		proxy, w := &Proxy{}, &pieces{ResponseRecorder: httptest.NewRecorder()}
		proxy.buffers.New = func() any { b := make([]byte, 32<<10); return &b }
		x := &exchange{port: &agentPort{proxy: proxy}, w: w, context: left}
		whole := x.copy(strings.NewReader(strings.Repeat("a", 1<<20)), &answer{rate: rate, length: 1 << 20})
		if whole || w.sizes[0] != want || !w.Flushed || x.record.Error != "the agent did not wait for the answer" {
			t.Errorf("%d bytes a second: a piece of %d, want %d; whole: %t, %q", rate, w.sizes[0], want, whole, x.record.Error)
		}
	}
	if one, many := takes(1, 4), takes(50, 1000); one != 250*time.Millisecond || many != 50*time.Millisecond {
		t.Errorf("a byte at 4 a second takes %s, 50 at 1000 take %s", one, many)
	}
}

// A fault may name a tool as the model does: it strikes the request that follows an answer
// which asks for no other, but for what looks something up before an effect.
func TestFaultsByTheNameThatTheModelAskedFor(t *testing.T) {
	for _, x := range []struct {
		mode         fault.Mode
		asked, calls string // tools that the model asks for; requests, ">" follows the struck one
	}{
		{fault.Error, "launch_drone", "GET/token>"},
		{fault.ReplyLost, "launch_drone", "GET/token POST/start>"},
		{fault.Error, "other", "POST/start"},
		{fault.Error, "launch_drone other", "POST/start"},
		{fault.Error, "launch_drone launch_drone", "POST/start>"},
		{fault.Error, "", "POST/start"},
		{fault.Error, "other", "POST/launch-drone>"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/chat/completions" {
				return
			}
			var calls []string
			for _, name := range strings.Fields(x.asked) {
				calls = append(calls, fmt.Sprintf(`{"id":"c","type":"function","function":{"name":%q,"arguments":"{}"}}`, name))
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","tool_calls":[%s]}}]}`, strings.Join(calls, ","))
		}))
		defer server.Close()
		s := open(t, nil)
		c := s.plan(fault.Plan{
			Rules:    []fault.Rule{tool(x.mode, func(r *fault.Rule) { r.Tool, r.Times = "launch_drone", 1 })},
			Harmless: func(method, _ string) bool { return method == http.MethodGet },
		})
		post(s.client(), server.URL+"/v1/chat/completions", "application/json", `{"model":"m","messages":[{"role":"user","content":"go"}]}`)
		fired := int64(0)
		for _, call := range strings.Fields(x.calls) {
			method, path, _ := strings.Cut(strings.TrimSuffix(call, ">"), "/")
			req, _ := http.NewRequest(method, server.URL+"/"+path, strings.NewReader(""))
			read(s.client().Do(req))
			if strings.HasSuffix(call, ">") {
				fired = 1
			}
			if n := c.Report().Tallies[0].Fired; int64(n) != fired {
				t.Errorf("%s of launch_drone, asked for %q: after %s it fired %d times, want %d", x.mode, x.asked, call, n, fired)
			}
		}
		c.Close()
	}
}

// linesOf are the lines that can be read, the last one perhaps a part.
func linesOf(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(r); s.Scan() && yield(s.Text()); {
			continue
		}
	}
}

// Over stdio, too, the server acts, and the agent does not learn of it.
func TestEffectFaultsOnStdio(t *testing.T) {
	for _, x := range []struct {
		rule fault.Rule
		got  string
		saw  string
	}{
		{tool(fault.ReplyLost, func(r *fault.Rule) { r.Status = 503 }), "1", "503 Service Unavailable"},
		{tool(fault.ReplyLost, func(r *fault.Rule) { r.Delay = time.Millisecond }), "1", "timed out"},
		{tool(fault.ReplyLost, nil), "1", ""},
		{tool(fault.Late, func(r *fault.Rule) { r.Delay = time.Millisecond }), "1", "performed"},
		{tool(fault.Twice, nil), `"thresh-1" 1`, "performed"},
		{tool(fault.PartialWrite, nil), "half", ""},
	} {
		s := open(t, nil)
		c := s.enter(x.rule)
		mine, its := duplex()
		got := make(chan string, 1)
		go func() {
			var ids []string
			for line := range linesOf(its) {
				m := fault.ParseMCP([]byte(line))
				if m == nil {
					ids = append(ids, "half")
					break
				}
				ids = append(ids, m.ID)
				its.Write(append(m.Result("performed", false), '\n'))
				if m.ID == "1" {
					break
				}
			}
			got <- strings.Join(ids, " ")
		}()
		agent := relayed(c, "shop", mine)
		go agent.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"charge","arguments":{"amount":5}}}` + "\n"))
		saw := ""
		for line := range linesOf(agent) {
			saw = line
			break
		}
		if x.saw == "" && saw != "" || !strings.Contains(saw, x.saw) {
			t.Errorf("%s: the agent saw %q, want %q", x.rule.Mode, saw, x.saw)
		}
		if g := <-got; g != x.got {
			t.Errorf("%s: the server got %q, want %q", x.rule.Mode, g, x.got)
		}
		agent.Close()
		r := c.Close()
		if k := r.Tallies[0]; k.Fired != 1 || len(k.Missed) > 0 {
			t.Errorf("%s: %+v", x.rule.Mode, k)
		}
		whole := x.saw == "performed"
		if e := r.Exchanges; len(e) != 1 || strings.Contains(string(e[0].Response), "performed") != whole || (e[0].Error == "") != whole {
			t.Errorf("%s: the report has %+v", x.rule.Mode, e)
		}
	}
}

// A call that the agent has given up is in the report while its answer is still to
// come, in its place among the others: what became of it does not move them.
func TestCallsThatAgentsGiveUp(t *testing.T) {
	call := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"charge","arguments":{"amount":5}}}`+"\n", id)
	}
	for name, says := range map[string]string{
		"in silence":    "",
		"with a notice": `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n",
	} {
		rule := tool(fault.Late, func(r *fault.Rule) { r.Delay, r.Times = time.Hour, 1 })
		if says != "" {
			rule.Tool = "other" // the server itself is late
		}
		c := open(t, nil).enter(rule)
		mine, its := duplex()
		go func() {
			var late *fault.Message
			for line := range linesOf(its) {
				m := fault.ParseMCP([]byte(line))
				if m.Cancels != "" {
					m = late
				} else if late == nil && says != "" {
					late = m
					continue
				}
				its.Write(append(m.Result("performed", false), '\n'))
			}
		}()
		agent := relayed(c, "shop", mine)
		go agent.Write([]byte(call(1) + says + call(2)))
		for line := range linesOf(agent) {
			if strings.Contains(line, `"id":2`) {
				break
			}
		}
		for when, r := range map[string]fault.Report{"meanwhile": c.Report(), "at last": c.Close()} {
			if e := r.Exchanges; len(e) != 2 || e[0].Call != 1 || e[0].Error == "" || !strings.Contains(string(e[0].Request), "amount") || e[1].Error != "" {
				t.Errorf("%s, %s: %+v", name, when, e)
			}
		}
		agent.Close()
	}
}
