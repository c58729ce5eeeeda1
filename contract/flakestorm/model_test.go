package flakestorm_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	target "github.com/thresh-dev/thresh/system/agent"
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
// and what is not a variant is made offline and told.
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
		if len(p.facts.Warnings) != 1 || !strings.Contains(p.facts.Warnings[0], "wrote 1 mutation of type paraphrase") {
			t.Errorf("%s: %q", provider, p.facts.Warnings)
		}
	}
}

// A model that refuses says why; what it did not write is made offline.
func TestModelsThatRefuse(t *testing.T) {
	t.Setenv("THRESH_TEST_KEY", "wrong")
	m := models(t, func(string) string { return "" })
	agent := answerer(t, echo)
	p := play(t, spec(t, "agent: {endpoint: \""+agent.URL+"/chat\"}\ngolden_prompts: [Say hi to me]\ninvariants: [{type: contains, value: echo}]\n"+
		"mutations: {count: 2, types: [paraphrase], writer: llm}\nmodel: {provider: openai, name: m, api_key: \"${THRESH_TEST_KEY}\", base_url: \""+m.URL+"/v1\"}\n"))
	if want := "the model did not write 2 mutations (HTTP 404: 404 page not found): made offline instead"; len(p.facts.Warnings) != 1 || p.facts.Warnings[0] != want || p.tally.Mutation.Passed != 2 {
		t.Errorf("%q, %+v", p.facts.Warnings, p.tally.Mutation)
	}
}

// shelf keeps variants in memory.
type shelf map[string]string

func (s shelf) Recall(key string) (string, bool) {
	text, ok := s[key]
	return text, ok
}

func (s shelf) Remember(key, text string) error {
	s[key] = text
	return nil
}

// What a model has written is not asked for again, unless the document says so
// or asks for something else; and the model may be gone then.
func TestVariantsAreKept(t *testing.T) {
	t.Parallel() // mostly waits
	n := 0
	m := models(t, func(string) string {
		n++
		return fmt.Sprintf("variant %d", n)
	})
	agent := answerer(t, echo)
	kept := shelf{}
	write := func(mutations string) (notes string, err error) {
		text := "agent: {endpoint: \"" + agent.URL + "/chat\"}\ngolden_prompts: [Say something]\ninvariants: [{type: contains, value: echo}]\n" +
			"mutations: {types: [paraphrase], writer: llm" + mutations + "}\nmodel: {name: m, base_url: \"" + m.URL + "\"}\n"
		contract := flakestorm.New(flakestorm.Targets{Agents: target.New().Open, Variants: kept})
		list, diags := contract.Compile(t.Context(), spec(t, text), settings())
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		facts, err := list[0].Probe(t.Context())
		if err != nil {
			return "", err
		}
		x, err := campaign.Solo(t.Context(), list[0], campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		s := list[0].Start(facts)
		round, _ := list[0].Round(s)
		if _, err := x.Execute(t.Context(), s, campaign.Case{Payload: round.Payload(0)}); err != nil {
			t.Fatal(err)
		}
		n, ok := campaign.As[interface{ Notes() []string }](x)
		if !ok {
			t.Fatal("the executor has no notes")
		}
		return strings.Join(n.Notes(), "\n"), nil
	}
	for _, step := range []struct {
		mutations, notes string
		calls            int
	}{
		{", count: 3", "", 3},
		{", count: 3", "3 of 3 variants by model m were kept", 3},
		{", count: 4", "3 of 4 variants by model m were kept", 4},
		{", count: 2, cache: false", "", 6},
	} {
		notes, err := write(step.mutations)
		if err != nil || n != step.calls || !strings.Contains(notes, step.notes) || step.notes == "" && strings.Contains(notes, "kept") {
			t.Errorf("%s: %d calls, notes %q, %v", step.mutations, n, notes, err)
		}
	}
	m.Close()
	if _, err := write(", count: 4"); err != nil {
		t.Errorf("all of it is kept: %v", err)
	}
	if _, err := write(", count: 5"); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("the fifth is not: %v", err)
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

// A judge is held to a form of answer, the strictest that its endpoint takes.
func TestJudgesForm(t *testing.T) {
	for taken, asked := range map[string]string{"json_schema": "json_schema json_schema", "json_object": "json_schema json_object json_object", "": "json_schema json_object none none"} {
		var forms []string
		m := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q struct {
				Format struct{ Type string } `json:"response_format"`
			}
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				t.Error(err)
			}
			forms = append(forms, cmp.Or(q.Format.Type, "none"))
			switch q.Format.Type {
			case taken:
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"choices": [{"message": {"role": "assistant", "content": "{\"pass\": true, \"reason\": \"\"}"}}]}`)
			case "json_schema":
				http.Error(w, "response_format.type: json_schema is not allowed", http.StatusInternalServerError) // as llama-cpp-python does
			default:
				http.Error(w, "unknown parameter", http.StatusBadRequest)
			}
		}))
		t.Cleanup(m.Close)
		text := matrix(answerer(t, echo).URL, "", "  invariants: [{id: a, type: llm_judge, criteria: is polite}]\n  chaos_matrix: [{name: none}]\n") +
			"judge: {base_url: \"" + m.URL + "\", name: m}\n"
		if p := contractOnly(t, text); p.outcomes[0].Verdict != campaign.VerdictPass || strings.Join(forms, " ") != asked {
			t.Errorf("%q: asked for %q, %s", taken, forms, p.titles())
		}
	}
}

// A judge's reasoning is not its verdict, and ends only once.
func TestReasoningJudge(t *testing.T) {
	for answer, want := range map[string]campaign.Verdict{
		`<think>{"pass": true}?</think>{"pass": false, "reason": "it is rude"}`: campaign.VerdictFail,
		`<think>{"pass": false}?</think>` + "\n\nYes.":                          campaign.VerdictPass,
		`<think>It says </think>{"pass": true}</think>Hm.`:                      campaign.VerdictError,
		`<think>{"pass": true}`:                                                 campaign.VerdictError,
	} {
		m := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": %q}}]}`, answer)
		}))
		t.Cleanup(m.Close)
		text := matrix(answerer(t, echo).URL, "", "  invariants: [{id: a, type: llm_judge, criteria: is polite}]\n  chaos_matrix: [{name: none}]\n") +
			"judge: {base_url: \"" + m.URL + "\", name: m}\n"
		if p := contractOnly(t, text); p.outcomes[0].Verdict != want {
			t.Errorf("%s: %s, want %s: %s", answer, p.outcomes[0].Verdict, want, p.titles())
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
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
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
		small, _ := reducer.Reduce(t.Context(), round.Payload(i), fails)
		var p struct{ Mutation struct{ Text string } }
		if err := json.Unmarshal(small, &p); err != nil || !strings.EqualFold(p.Mutation.Text, "marker") {
			t.Errorf("%s became %q", round.Payload(i), p.Mutation.Text)
		}
		return
	}
	t.Error("no mutation makes the agent fail")
}
