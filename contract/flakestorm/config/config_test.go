package config_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
)

const least = "agent: {endpoint: \"http://localhost:8000/\"}\ngolden_prompts: [hi]\ninvariants: [{type: completes}]\n"

func decode(t *testing.T, text string) *config.Config {
	t.Helper()
	env := map[string]string{"X": "secret", "HOST_1": "example.org"}
	c, list := config.Decode("doc.yaml", []byte(text), config.Options{Getenv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	if list.HasErrors() {
		t.Fatalf("%s\n%v", text, list)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := decode(t, least)
	if c.Version != "1.0" || c.Agent.Type != config.HTTP || c.Agent.Method != "POST" || !c.Agent.ParseStructured || c.Agent.Timeout != 30*time.Second {
		t.Errorf("agent %+v", c.Agent)
	}
	if c.Model.Provider != "ollama" || c.Model.Name != "qwen3:8b" || c.Model.BaseURL != "http://localhost:11434" || c.Model.Temperature != 0.8 {
		t.Errorf("model %+v", c.Model)
	}
	if c.Mutations.Count != 10 || len(c.Mutations.Types) != 7 || c.Mutations.Weight("prompt_injection") <= c.Mutations.Weight("noise") {
		t.Errorf("mutations %+v", c.Mutations)
	}
	if c.Advanced.Concurrency != 10 || c.Advanced.Retries != 2 || c.Advanced.Seed != nil || c.Output.Path != "./reports" {
		t.Errorf("%+v %+v", c.Advanced, c.Output)
	}
	if c.Scoring != (config.Scoring{Mutation: 0.20, Chaos: 0.35, Contract: 0.35, Replay: 0.10}) {
		t.Errorf("scoring %+v", c.Scoring)
	}
}

func TestLaxAndStrict(t *testing.T) {
	c := decode(t, `version: abc
agent: {endpoint: "http://$HOST_1/${NOT SET}/$UNSET", method: put, timeout: "1000", parse_structured_input: "no", headers: {Authorization: "Bearer ${X}"}, reset_endpoint: /reset}
model: {provider: " OpenAI ", api_key: "${X}"}
golden_prompts: [hi]
invariants: [{type: similarity, expected: x, threshold: 0, negate: off}]
mutations: {count: 5.0, weights: {noise: "2"}}
advanced: {seed: 010}
chaos: null
`)
	if c.Agent.Endpoint != "http://example.org/${NOT SET}/$UNSET" || c.Agent.Headers[0].Value != "Bearer secret" || c.Agent.Method != "PUT" || c.Agent.Timeout != time.Second || c.Agent.ParseStructured {
		t.Errorf("agent %+v", c.Agent)
	}
	if c.Model.Provider != "openai" || c.Model.BaseURL != "" {
		t.Errorf("the default address is Ollama's alone: %+v", c.Model)
	}
	if *c.Advanced.Seed != 8 || c.Invariants[0].Threshold != 0.8 || c.Mutations.Weight("noise") != 2 || c.Mutations.Weight("paraphrase") != 1 || c.Mutations.Count != 5 {
		t.Errorf("%+v %+v", c.Invariants[0], c.Mutations)
	}
}

// Without built-in checks something else must judge: the contract does so
// where no phase runs that it says nothing about.
func TestNothingJudges(t *testing.T) {
	doc := "version: \"2.0\"\nagent: {endpoint: \"http://localhost:8000/\"}\ngolden_prompts: [hi]\nchecks: off\n" +
		"contract: {name: c, invariants: [{id: a, type: completes}], chaos_matrix: [{name: plain}]}\n"
	for phases, refused := range map[string]bool{"": true, "phases: [contract]\n": false, "phases: [contract, replay]\n": false, "phases: [contract, chaos]\n": true} {
		_, list := config.Decode("doc.yaml", []byte(doc+phases), config.Options{})
		if list.HasErrors() != refused {
			t.Errorf("%q: refused %v, want %v: %v", phases, list.HasErrors(), refused, list)
		}
	}
	for phase, refused := range map[string]bool{"contract": false, "mutation": true} { // of the command line, which win
		_, list := config.Decode("doc.yaml", []byte(doc+"phases: [contract, chaos]\n"), config.Options{Phases: []string{phase}})
		if list.HasErrors() != refused {
			t.Errorf("--phase %s: refused %v, want %v: %v", phase, list.HasErrors(), refused, list)
		}
	}
}

func TestScoring(t *testing.T) {
	want := config.Scoring{Mutation: 0.1, Chaos: 0.2, Contract: 0.3, Replay: 0.4}
	for _, text := range []string{
		"scoring: {mutation: 0.1, chaos: 0.2, contract: 0.3, replay: 0.4}\n", "scoring: {weights: {mutation: 0.1, chaos: 0.2, contract: 0.3, replay: 0.4}}\n",
	} {
		if c := decode(t, least+text); c.Scoring != want {
			t.Errorf("%s: %+v", text, c.Scoring)
		}
	}
	c := decode(t, least+"scoring: {mutation: 0.2, chaos: 0.3504, contract: 0.35, replay: 0.1}\n")
	if sum := c.Scoring.Mutation + c.Scoring.Chaos + c.Scoring.Contract + c.Scoring.Replay; math.Abs(sum-1) > 0.001 {
		t.Errorf("sum %g", sum)
	}
}

func TestChaos(t *testing.T) {
	c := decode(t, least+`chaos:
  tool_faults: [{tool: search, mode: error, after_calls: 2, probability: 0.5, match_url: "https://x/*", times: 3, on_calls: [1, 2]}]
  llm_faults: [{mode: truncated_response, max_tokens: 0}]
  context_attacks: {memory_poisoning: {payload: p, strategy: prepend}, overflow: {enabled: no}}
contract:
  name: c
  invariants: [{id: a, type: completes, threshold: null, probes: [x]}]
  chaos_matrix: [{name: s, tool_faults: [{tool: "*", mode: timeout, delay_ms: 200}], context_attacks: [{type: indirect_injection}]}]
  runs_per_cell: 3
`)
	f := c.Chaos.Tools[0]
	if f.AfterCalls != 2 || *f.Probability != 0.5 || f.MatchURL != "https://x/*" || f.Times != 3 || !slices.Equal(f.Calls, []int{1, 2}) {
		t.Errorf("%+v", f)
	}
	if c.Chaos.LLM[0].Filled().MaxTokens != 10 || len(c.Chaos.Context) != 1 || c.Chaos.Context[0].Strategy != fault.Prepend {
		t.Errorf("%+v", c.Chaos)
	}
	if s := c.Contract.Matrix[0]; s.Tools[0].Delay != 200*time.Millisecond || len(s.Context) != 1 || c.Contract.Runs != 3 {
		t.Errorf("%+v", s)
	}
}

func TestProfiles(t *testing.T) {
	if len(config.Profiles()) != 7 {
		t.Errorf("%d profiles", len(config.Profiles()))
	}
	for _, name := range config.Profiles() {
		p, err := config.Profile(name)
		if err != nil || !p.Active() {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range p.Faults() {
			if err := f.Check(); err != nil {
				t.Error(err)
			}
		}
	}
	p, _ := config.Profile("api_outage")
	if p.Tools[0].Mode != fault.Error || p.LLM[0].Mode != fault.Timeout {
		t.Errorf("api_outage: %+v", p)
	}
	if _, err := config.Profile("api_outge"); err == nil || !strings.Contains(err.Error(), "cascading_failure") {
		t.Errorf("unknown profile: %v", err)
	}
}

// No text makes the decoder fail otherwise than by diagnostics with a place.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(least))
	f.Add([]byte("agent: {endpoint: 3, tools: {a: b}}\nchaos: {context_attacks: {x: 1}}\ncontract: []\nreplays: {sources: [x]}\nscoring: 1\n"))
	f.Add([]byte("agent: &a {endpoint: x, type: python}\ngolden_prompts: [*a]\nmutations: {types: [custom], weights: [1]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, list := config.Decode("f", text, config.Options{Check: true})
		if c == nil && !list.HasErrors() {
			t.Fatal("neither a configuration nor an error")
		}
		for _, d := range list {
			if d.Pos.Line < 1 || d.Pos.Col < 1 || d.Code == "" || d.Message == "" {
				t.Fatalf("%+v", d)
			}
		}
		config.DecodeSession("f", text, config.Options{})
		config.DecodeContract("f", text, config.Options{})
	})
}
