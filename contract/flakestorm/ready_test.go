package flakestorm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/diag"
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
