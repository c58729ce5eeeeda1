package flakestorm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

const weak = `version: "2.0"
agent: {endpoint: "URL/chat", reset_endpoint: /reset}
golden_prompts: &all
  - "What is the capital of France?"
mutations:
  count: 4
  types: [prompt_injection, http_header_injection]
invariants:
  - {type: excludes_pattern, patterns: [marker, echoed]}
  - {type: json_schema, schema: schema.json}
chaos: {llm_faults: [{mode: garbage}]}
contract:
  name: rules
  invariants:
    - {id: calm, type: completes}
    - {id: answers, type: contains, value: "answer", severity: critical, description: "on 'yes'"}
  chaos_matrix:
    - {name: calm}
    - {name: silent, profiles: [], llm_faults: [{mode: empty}, {mode: garbage, probability: 0.5}]}
replays:
  sessions:
    - {id: one, input: "Say MARKER", contract: rules}
`

// Every finding becomes a document of its own that fails as long as the agent
// does, and passes afterwards.
func TestPromote(t *testing.T) {
	mended := false
	s := answerer(t, func(prompt string, _ int) (int, string) {
		switch {
		case mended:
			return 200, `{"the": "answer"}`
		case strings.Contains(prompt, "MARKER"):
			return 200, "MARKER"
		}
		return 200, "echoed " + prompt
	})
	first := spec(t, strings.ReplaceAll(weak, "URL", s.URL))
	if err := os.WriteFile(filepath.Join(filepath.Dir(first.Path), "schema.json"), []byte(`{"type": ["string", "object"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	list, diags := front().Compile(t.Context(), first, settings())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	promoter, ok := campaign.As[campaign.Promoter](list[0])
	if !ok {
		t.Fatal("no promoter")
	}
	phases := make(map[string]int)
	for i, o := range play(t, first).outcomes {
		if o.Verdict != campaign.VerdictFail {
			continue
		}
		dir := t.TempDir()
		files, err := promoter.Promote(t.Context(), campaign.Finding{ID: "F-1", Title: o.Title, Signature: o.Signature, Cause: o.Cause, Flaky: true}, [][]byte{payloadOf(t, list[0], i)}, dir)
		if err != nil {
			t.Errorf("%s: %v", o.Title, err)
			continue
		}
		if !strings.Contains(string(files[0].Data), "\n# It was not confirmed, so the test may pass") {
			t.Errorf("%s: a test that may pass does not say so:\n%s", o.Title, files[0].Data)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again := campaign.Spec{Path: filepath.Join(dir, files[0].Name), Data: files[0].Data}
		var at struct {
			Phase    string
			Scenario int
		}
		if err := json.Unmarshal(payloadOf(t, list[0], i), &at); err != nil {
			t.Fatal(err)
		}
		phases[at.Phase]++
		if p := play(t, again); p.count(campaign.VerdictFail) == 0 || p.planned > 2 {
			t.Errorf("%s is not shown by\n%s\n%s", o.Title, files[0].Data, p.titles())
		}
		if at.Scenario != 1 && at.Phase != "chaos" { // faults break any agent of this kind
			mended = true
			if p := play(t, again); p.count(campaign.VerdictFail) > 0 {
				t.Errorf("%s, mended:\n%s", o.Title, p.titles())
			}
			mended = false
		}
	}
	for _, phase := range []string{flakestorm.PhaseMutation, flakestorm.PhaseContract, flakestorm.PhaseChaos, flakestorm.PhaseReplay} {
		if phases[phase] == 0 {
			t.Errorf("nothing of the phase %s was promoted: %v", phase, phases)
		}
	}
}

// payloadOf is a case of the main round.
func payloadOf(t *testing.T, c campaign.Any, i int) []byte {
	t.Helper()
	round, ok := c.Round(c.Start(campaign.Facts{}))
	if !ok {
		t.Fatal("no round")
	}
	return round.Payload(int64(i))
}

// A finding of a built-in check is promoted as the case that it was made in.
func TestPromoteBuiltInChecks(t *testing.T) {
	s := answerer(t, func(prompt string, _ int) (int, string) { return 200, "api_key=sk-live-4f9a8b7c6d5e4f3a2b1c" })
	first := spec(t, "version: \"2.0\"\nagent: {endpoint: \""+s.URL+"/chat\"}\ngolden_prompts: [\"Where is my order?\"]\n"+
		"mutations: {count: 1, types: [noise]}\ninvariants:\n  - {type: output_not_empty}\n")
	list, diags := front().Compile(t.Context(), first, settings())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	promoter, _ := campaign.As[campaign.Promoter](list[0])
	promote := func(payload string) ([]campaign.File, error) {
		return promoter.Promote(t.Context(), campaign.Finding{ID: "F-1", Title: "secret-in-reply"}, [][]byte{[]byte(payload)}, t.TempDir())
	}
	files, err := promote(fmt.Sprintf(`{"phase": "check", "check": "secret-in-reply", "of": %s}`, payloadOf(t, list[0], 0)))
	if err != nil || len(files) != 2 || !strings.Contains(string(files[0].Data), "is my order?") {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := promote(`{"phase": "check", "check": "unhealthy-baseline"}`); err == nil || !strings.Contains(err.Error(), "not about one case") {
		t.Errorf("what is about no case: %v", err)
	}
}

// A promoted finding passes once its own cause is mended, whatever else the agent breaks.
func TestPromotedFindingIsAboutItself(t *testing.T) {
	var reply string
	s := answerer(t, func(string, int) (int, string) {
		if reply == "" {
			return 500, "down"
		}
		return 200, reply
	})
	const secret = "api_key=sk-live-4f9a8b7c6d5e4f3a2b1c"
	for section, phase := range map[string]string{
		"mutations: {count: 1, types: [noise]}\nphases: [mutation]\n":                                                                                                        "replay",
		"phases: [chaos]\nchaos: {tool_faults: [{tool: \"*\", mode: error, after_calls: 100}]}\n":                                                                            "chaos",
		"phases: [contract]\ncontract: {name: c, invariants: [{id: a, type: contains, value: order}, {id: b, type: not_contains, value: sk-}], chaos_matrix: [{name: x}]}\n": "contract",
	} {
		first := spec(t, "version: \"2.0\"\nagent: {endpoint: \""+s.URL+"/chat\"}\ngolden_prompts: [one]\n"+section+
			"invariants:\n  - {type: contains, value: order}\n  - {type: contains, value: refund}\n  - {type: not_contains, value: sk-}\n")
		for broken, mended := range map[string]string{"": secret, secret: "refund api_key=none"} {
			reply = broken
			list, diags := front().Compile(t.Context(), first, settings())
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			promoter, _ := campaign.As[campaign.Promoter](list[0])
			p := play(t, first)
			for i, o := range p.outcomes {
				own := strings.HasSuffix(o.Signature, "|contains|contains") || strings.HasSuffix(o.Signature, "|a|contains") // stays broken
				if o.Verdict != campaign.VerdictFail {
					continue
				}
				dir := t.TempDir()
				files, err := promoter.Promote(t.Context(), campaign.Finding{ID: "F-1", Title: o.Title, Signature: o.Signature, Cause: o.Cause}, [][]byte{p.payloads[i]}, dir)
				if err != nil {
					t.Fatalf("%s: %v", o.Title, err)
				}
				for _, f := range files {
					if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				again := campaign.Spec{Path: filepath.Join(dir, files[0].Name), Data: files[0].Data}
				reply = broken
				if p := play(t, again); p.count(campaign.VerdictFail) != 1 {
					t.Errorf("%s %s is shown by %d findings of\n%s\n%s", phase, o.Title, p.count(campaign.VerdictFail), files[0].Data, p.titles())
				}
				reply = mended
				if p := play(t, again); (p.count(campaign.VerdictFail) > 0) != own {
					t.Errorf("%s %s, mended:\n%s\n%s", phase, o.Title, files[0].Data, p.titles())
				}
				reply = broken
			}
		}
	}
}

// A document that asks one prompt cannot show what a conversation of several turns does.
func TestPromoteRefusesConversations(t *testing.T) {
	s := answerer(t, func(string, int) (int, string) { return 200, "nothing" })
	for _, section := range []string{"phases: [chaos]\nchaos: {tool_faults: [{tool: \"*\", mode: error, after_calls: 100}]}\n", "phases: [mutation]\nmutations: {count: 1, types: [noise]}\n"} {
		first := spec(t, "version: \"2.0\"\nagent: {endpoint: \""+s.URL+"/chat\"}\ngolden_prompts: [{turns: [hello, where]}]\n"+section+"invariants: [{type: contains, value: order}]\n")
		list, diags := front().Compile(t.Context(), first, settings())
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		promoter, _ := campaign.As[campaign.Promoter](list[0])
		p := play(t, first)
		_, err := promoter.Promote(t.Context(), campaign.Finding{ID: "F-1", Signature: p.outcomes[0].Signature, Cause: p.outcomes[0].Cause}, p.payloads[:1], t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "several turns") {
			t.Errorf("%s: %v", section, err)
		}
	}
}
