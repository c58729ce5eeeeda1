package flakestorm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// models answers in the form of every provider with what text makes of the
// prompt.
func models(t *testing.T, text func(prompt string) string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in struct {
			Prompt   string
			Messages []struct{ Content string }
			Contents []struct{ Parts []struct{ Text string } }
		}
		if err != nil || json.Unmarshal(body, &in) != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		var out any
		switch {
		case r.URL.Path == "/api/generate":
			out = map[string]any{"response": text(in.Prompt), "done": true}
		case r.URL.Path == "/v1/messages" && r.Header.Get("X-Api-Key") == "sesame":
			out = map[string]any{"content": []any{map[string]string{"type": "text", "text": text(in.Messages[0].Content)}}}
		case strings.HasSuffix(r.URL.Path, ":generateContent") && r.Header.Get("X-Goog-Api-Key") == "sesame":
			out = map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"parts": []any{map[string]string{"text": text(in.Contents[0].Parts[0].Text)}}}}}}
		case r.URL.Path == "/v1/chat/completions" && r.Header.Get("Authorization") == "Bearer sesame":
			out = map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": text(in.Messages[len(in.Messages)-1].Content)}}}}
		default:
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

// Each provider writes mutations in its own form; decorations are taken off,
// and what is no variant is made offline and told.
func TestModelsWriteMutations(t *testing.T) {
	t.Setenv("THRESH_TEST_KEY", "sesame")
	n := 0
	m := models(t, func(prompt string) string {
		if n++; n%3 == 0 {
			return "Output: \"\"" // no variant
		}
		return fmt.Sprintf("Rewritten: \"variant %d\"", n)
	})
	agent := answerer(t, echo)
	for provider, base := range map[string]string{"ollama": m.URL, "anthropic": m.URL, "google": m.URL, "openai": m.URL + "/v1"} {
		n = 0
		text := "agent: {endpoint: \"" + agent.URL + "/chat\"}\ngolden_prompts: [\"Say \\\"hi\\\"\\nto me\"]\ninvariants: [{type: contains, value: echo variant}]\n" +
			"mutations: {count: 3, types: [paraphrase], writer: llm}\nmodel: {provider: " + provider + ", name: m, api_key: \"${THRESH_TEST_KEY}\", base_url: \"" + base + "\"}\n"
		p := play(t, spec(t, text))
		if p.tally.Mutation.Total != 3 || p.tally.Mutation.Passed != 2 || p.planned != 3 {
			t.Errorf("%s: %+v\n%s", provider, p.tally.Mutation, p.titles())
		}
		if len(p.facts.Warnings) != 1 || !strings.Contains(p.facts.Warnings[0], "1 mutations of type paraphrase") {
			t.Errorf("%s: %q", provider, p.facts.Warnings)
		}
	}
}

// A judge decides; one that does not judge leaves the cell without a result.
func TestJudge(t *testing.T) {
	t.Setenv("THRESH_TEST_KEY", "sesame")
	for answer, want := range map[string]campaign.Verdict{
		`{"pass": true, "reason": "polite"}`:              campaign.VerdictPass,
		"```json\n{\"pass\": false, \"reason\": \"\"}```": campaign.VerdictFail,
		"Yes.":                    campaign.VerdictPass,
		"I would rather not say.": campaign.VerdictError,
	} {
		m := models(t, func(prompt string) string {
			if !strings.Contains(prompt, `"criteria":"is polite"`) || !strings.Contains(prompt, `"reply":"echo one"`) {
				t.Errorf("the judge is asked %q", prompt)
			}
			return answer
		})
		text := strings.Replace(matrix(answerer(t, echo).URL, "", "  invariants: [{id: a, type: llm_judge, criteria: is polite}]\n  chaos_matrix: [{name: none}]\n"), "[one, two]", "[one]", 1) +
			"judge: {base_url: \"" + m.URL + "/v1\", name: m, api_key: \"${THRESH_TEST_KEY}\"}\n"
		if p := contractOnly(t, text); p.outcomes[0].Verdict != want {
			t.Errorf("%q: %s", answer, p.titles())
		}
	}
}

// A mutated prompt is cut down to what makes the agent fail.
func TestReduce(t *testing.T) {
	s := answerer(t, obedient)
	text := "agent: {endpoint: \"" + s.URL + "/chat\"}\ngolden_prompts: [Where is my order]\ninvariants: [{type: excludes_pattern, patterns: [MARKER]}]\nmutations: {count: 20, types: [prompt_injection]}\n"
	list, diags := front().Compile(t.Context(), spec(t, text), settings())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c := list[0]
	state := c.Start(campaign.Facts{})
	round, _ := c.Round(state)
	x, err := c.Open(t.Context(), campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	reducer, _ := campaign.As[campaign.Reducer](c)
	for i := range round.Len {
		fails := func(data []byte) (bool, error) {
			o, err := x.Execute(t.Context(), state, campaign.Case{Index: i, Payload: data})
			return o.Verdict == campaign.VerdictFail, err
		}
		if ok, err := fails(round.Payload(i)); err != nil || !ok {
			continue
		}
		small := reducer.Reduce(t.Context(), round.Payload(i), fails)
		var p struct{ Mutation struct{ Text string } }
		if err := json.Unmarshal(small, &p); err != nil || !strings.EqualFold(p.Mutation.Text, "marker") {
			t.Errorf("%s became %q", round.Payload(i), p.Mutation.Text)
		}
		return
	}
	t.Error("no mutation makes the agent fail")
}
