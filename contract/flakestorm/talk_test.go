package flakestorm_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

const talking = `agent: {endpoint: "URL/chat"MORE}
golden_prompts:
  - id: remembers
    turns:
      - {say: "My name is Ada.", expect: [{type: contains, value: noted}]}
      - "What is my name?"
    expect: [{type: contains, value: Ada, severity: high}]
    tags: [memory]
  - "Hello there"
invariants: [{type: output_not_empty}]
mutations: {count: 2, types: [noise]}
contract:
  name: c
  invariants: [{id: answers, type: output_not_empty}]
  chaos_matrix: [{name: calm}]
advanced: {retries: 0}
`

// A conversation is asked turn by turn; what its prompt and its turns expect is
// judged in the matrix, each as a row, and with mutations of the last turn.
func TestConversations(t *testing.T) {
	for name, tc := range map[string]struct {
		noted, forgets bool
		want           string
	}{
		"well":            {true, false, ""},
		"forgets":         {true, true, "contract|without faults|remembers: contains|contains run|without faults|remembers: contains|contains"},
		"does not listen": {false, false, "contract|without faults|remembers: turn 1: contains|contains run|without faults|remembers: turn 1: contains|contains"},
	} {
		var asked []string
		s := answerer(t, func(prompt string, _ int) (int, string) {
			asked = append(asked, prompt)
			n := len(asked)
			switch {
			case strings.HasPrefix(prompt, "My name") && tc.noted:
				return 200, "noted"
			case strings.HasPrefix(prompt, "My name"):
				return 200, "so what"
			case prompt != "Hello there" && n > 1 && strings.HasPrefix(asked[n-2], "My name is Ada") && !tc.forgets:
				return 200, "You are Ada."
			}
			return 200, "I cannot say."
		})
		p := play(t, spec(t, strings.NewReplacer("URL", s.URL, "MORE", "").Replace(talking)))
		var got []string
		for k := range signatures(p) {
			got = append(got, strings.TrimPrefix(k, "broken-invariant "))
		}
		for _, want := range strings.Split(tc.want, " run|") {
			if want != "" && !strings.Contains(strings.Join(got, " run|"), want) || tc.want == "" && len(got) > 0 {
				t.Errorf("%s: %v, want %s\n%s", name, got, tc.want, p.titles())
			}
		}
		if n := len(p.tally.Cells); n != 3 {
			t.Errorf("%s: %d cells, want the invariant and two expectations", name, n)
		}
		if c := p.count(campaign.VerdictError); c > 0 {
			t.Errorf("%s:\n%s", name, p.titles())
		}
	}
}

// An agent that remembers conversations by {session} and is never cleared takes no conversation
// for one of an earlier run, and its replies are the same in every run, even if they name the session.
func TestSessionOfEachRun(t *testing.T) {
	var mu sync.Mutex
	said := make(map[string]int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("X-Session")
		said[key]++
		fmt.Fprintf(w, "message %d of %s", said[key], key)
	}))
	t.Cleanup(s.Close)
	var first string
	for range 2 {
		p := play(t, spec(t, `agent: {endpoint: "`+s.URL+`", headers: {X-Session: "{session}"}, request_template: "{prompt}"}
golden_prompts: [{turns: [one, two], expect: [{type: regex, pattern: "^message 2 of"}]}, {prompt: three, expect: [{type: regex, pattern: "^message 2"}]}]
contract: {name: c, invariants: [{id: a, type: contains, value: message}], chaos_matrix: [{name: calm}]}
`), flakestorm.OptPhase, flakestorm.PhaseContract, flakestorm.OptReplies, "true")
		if n := p.count(campaign.VerdictFail); n != 1 {
			t.Errorf("%d cases failed, want the one of prompt three\n%s", n, p.titles())
		}
		var facts strings.Builder
		for _, o := range p.outcomes {
			fmt.Fprintf(&facts, "%s %s %s\n", o.Verdict, o.Title, o.Data)
		}
		if first == "" {
			first = facts.String()
		}
		if facts.String() != first || !strings.Contains(first, "message 2 of ") {
			t.Errorf("a second run gave\n%s\nthe first\n%s", &facts, first)
		}
	}
}

// Each conversation of a case has a session, and cookies, of its own; its turns share them.
func TestSessionOfEachConversation(t *testing.T) {
	var mu sync.Mutex
	by := make(map[string][]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		c, err := r.Cookie("seen")
		if err != nil {
			c = &http.Cookie{Name: "seen", Value: fmt.Sprint(len(by))}
			http.SetCookie(w, c)
		}
		key := r.Header.Get("X-Session") + " " + c.Value
		by[key] = append(by[key], string(said))
		fmt.Fprint(w, "yes")
	}))
	t.Cleanup(s.Close)
	p := play(t, spec(t, `agent: {endpoint: "`+s.URL+`", headers: {X-Session: "{session}"}, request_template: "{prompt}"}
golden_prompts: [one, two, {turns: [three, four]}]
contract: {name: c, invariants: [{id: a, type: contains, value: "yes"}], chaos_matrix: [{name: calm}]}
`), flakestorm.OptPhase, flakestorm.PhaseContract)
	got := slices.Sorted(func(yield func(string) bool) {
		for _, list := range by {
			if !yield(strings.Join(list, ",")) {
				return
			}
		}
	})
	if want := []string{"one", "one", "one", "three,four", "two"}; !slices.Equal(got, want) || p.count(campaign.VerdictPass) != 1 { // tried twice beforehand
		t.Errorf("conversations %q, want %q\n%s", got, want, p.titles())
	}
}
