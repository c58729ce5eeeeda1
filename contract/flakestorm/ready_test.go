package flakestorm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	port "github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/similarity"
	"github.com/thresh-dev/thresh/system/agent"
	"github.com/thresh-dev/thresh/system/embed"
	"github.com/thresh-dev/thresh/system/fault"
)

// Before a run an agent is asked one prompt: what keeps it from being tested is said then, by
// verify too. Where replays are all that is run, it is asked what a session has asked.
func TestAgentsThatAreNotReady(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var in struct{ Input string }
		_ = json.NewDecoder(r.Body).Decode(&in) // a reset has none
		if asked = append(asked, in.Input); strings.Contains(r.URL.Path, "broken") {
			w.WriteHeader(http.StatusInternalServerError)
		} else if strings.Contains(r.URL.Path, "locked") {
			w.WriteHeader(http.StatusUnauthorized)
		} else if strings.Contains(r.URL.Path, "busy") {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		fmt.Fprint(w, "hello")
	}))
	t.Cleanup(s.Close)
	const contract = "contract: {name: c, invariants: [{id: a, type: completes}], chaos_matrix: [{name: calm}]}\n"
	const replays = "replays: {sessions: [{id: x, input: again, contract: c}, {id: y, input: never, contract: c}]}\nphases: [replay]\n"
	for _, x := range []struct{ name, agent, more, check, probe, asked string }{
		{"ready", s.URL + `/chat", reset_endpoint: /reset`, "", "answered", "", "hello;  hello"},
		{"without a contract", s.URL + `/chat"`, "phases: [mutation]\nmutations: {count: 1, types: [noise]}\n", "answered", "", "hello; hello"},
		{"not cleared", s.URL + `/chat"`, "", "answered", "", "hello; hello hello"},
		{"replays alone", s.URL + `/chat"`, replays, "answered", "", "again; again"},
		{"broken", s.URL + `/broken"`, "", "refused", "the agent gave no answer to the first prompt, without any fault: HTTP 500: hello", "hello; hello hello"},
		{"locked", s.URL + `/locked"`, "", "refused", "3 the agent's endpoint refuses the caller: HTTP 401: hello", "hello; hello"},
		{"busy", s.URL + `/busy"`, "", "error: the agent's endpoint asks for fewer calls", "3 the agent's endpoint asks for fewer calls: HTTP 429: hello", "hello; hello"},
		{"gone", `http://127.0.0.1:1/chat"`, "", "unreachable", "3 the agent cannot be reached: ", "; "},
		{"not to be cleared", s.URL + `/chat", reset_endpoint: /broken`, "", "error: the agent's memory could not be cleared", "3 the agent's memory could not be cleared", "; "},
	} {
		list, diags := front().Compile(t.Context(), spec(t, "agent: {endpoint: \""+x.agent+"}\ngolden_prompts: [hello, never]\ninvariants: [{type: completes}]\nadvanced: {retries: 0}\n"+contract+x.more), settings())
		if diags.HasErrors() {
			t.Fatal(x.name, diags)
		}
		k, _ := campaign.As[*flakestorm.Campaign](list[0])
		mu.Lock()
		asked = nil
		mu.Unlock()
		r, err := k.Check(t.Context())
		got := string(r.End)
		if err != nil {
			got = "error: " + err.Error()
		}
		mu.Lock()
		seen := strings.Join(asked, " ")
		asked = nil
		mu.Unlock()
		facts, err := list[0].Probe(t.Context())
		told := strings.Join(facts.Warnings, "; ")
		if err != nil {
			told = fmt.Sprint(diag.ExitCode(err), " ", err)
		}
		mu.Lock()
		seen += "; " + strings.Join(asked, " ")
		mu.Unlock()
		if !strings.HasPrefix(got, x.check) || !strings.HasPrefix(told, x.probe) || (told == "") != (x.probe == "") || strings.TrimSpace(seen) != strings.TrimSpace(x.asked) {
			t.Errorf("%s: %q, then %q, asked %q", x.name, got, told, seen)
		}
	}
}

// What surrounds an agent may fail too: a proxy that finds no port, a measure that is not there.
func TestSurroundingsThatFail(t *testing.T) {
	working := flakestorm.Targets{Agents: agent.New().Open, Faults: fault.Options{}.Open, Measures: embed.Open}
	none := errors.New("there is none")
	broken := func(change func(*flakestorm.Targets)) *flakestorm.Contract {
		targets := working
		change(&targets)
		return flakestorm.New(targets)
	}
	const document = "agent: {type: command, command: [echo, hi]}\ngolden_prompts: [hello]\nphases: [contract]\n" +
		"contract: {name: c, invariants: [{id: a, type: similarity, expected: hi}], chaos_matrix: [{name: down, tool_faults: [{tool: \"*\", mode: error}]}]}\n"
	for want, k := range map[string]*flakestorm.Contract{
		"": flakestorm.New(working),
		"3 opening the proxy that injects faults: there is none": broken(func(t *flakestorm.Targets) {
			t.Faults = func(context.Context) (port.Injector, error) { return nil, none }
		}),
		"3 reaching the agent: there is none": broken(func(t *flakestorm.Targets) {
			t.Agents = func(context.Context, agentcall.Plan, int, []string) (agentcall.Agent, error) { return nil, none }
		}),
		"3 opening the measure of similarity: there is none": broken(func(t *flakestorm.Targets) {
			t.Measures = func(context.Context, string, string, string, string, string) (similarity.Measure, error) {
				return nil, none
			}
		}),
	} {
		list, diags := k.Compile(t.Context(), spec(t, document), settings())
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		x, err := campaign.Solo(t.Context(), list[0], campaign.Lane{Of: 1})
		got := ""
		if err != nil {
			got = fmt.Sprint(diag.ExitCode(err), " ", err)
		} else if err := x.Close(); err != nil {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A campaign is another one if a file that its document names has changed.
func TestIdentityOfNamedFiles(t *testing.T) {
	text := "agent: {endpoint: \"http://127.0.0.1:1/chat\"}\ngolden_prompts: [hello]\nphases: [chaos]\ninvariants: [{type: json_schema, schema: shape.json}]\n"
	identity := func(shape string) campaign.Identity {
		set := settings()
		set.Read = func(string) ([]byte, error) { return []byte(shape), nil }
		list, diags := front().Compile(t.Context(), campaign.Spec{Path: "doc.yaml", Data: []byte(text)}, set)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return list[0].Identity()
	}
	if one := identity("{}"); one != identity("{}") || one == identity(`{"type": "object"}`) {
		t.Error("a schema makes no difference, or nothing makes one")
	}
}
