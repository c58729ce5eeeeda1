package flakestorm_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A name in an invariant that no case shows is reported with the nearest that
// occurred; what an invariant forbids need not occur.
func TestUnseenNames(t *testing.T) {
	const document = `agent: {endpoint: "http://127.0.0.1:{port}/chat", command: [python3, %s], env: {BAD: "%s"}, ready_timeout: 30000}
golden_prompts: [order 1]
phases: [contract]
contract:
  name: c
  invariants:
    - {id: once, type: trace, event: {tool: chrage}, at_most: 1}
    - {id: met, type: trace, event: {tool: charge}, at_most: 3}
    - {id: first, type: trace, event: {tool: charge}, never_after: {tool: close_account}}
    - {id: forbidden, type: tool_not_called, tool: drop_tables}
    - {id: misspelt, type: tool_not_called, tool: chargee}
    - {id: other, type: trace, event: {model: gpt}, at_most: 3}
  chaos_matrix:
    - {name: calm}
    - {name: down, tool_faults: [{tool: billing, mode: error}]}
`
	p := chargedBy(t, document, "", "")
	want := []string{
		"down: fault contract.chaos_matrix[1].tool_faults[0] (tool error) never fired: no call of the agent matched it; those seen: charge, orders",
		"contract.invariants[0] (once): no tool chrage occurred in any of its cases, so this was not tested; did you mean charge?",
		"contract.invariants[2] (first): no tool close_account occurred in any of its cases, so this was not tested; seen: charge, orders",
		"contract.invariants[4] (misspelt): no tool chargee occurred in any of its cases; did you mean charge?",
		"contract.invariants[5] (other): no model gpt occurred in any of its cases, so this was not tested",
	}
	for i := range p.warnings {
		p.warnings[i], _, _ = strings.Cut(p.warnings[i], "; if the agent's HTTP client")
	}
	if !slices.Equal(p.warnings, want) {
		t.Errorf("%s\n%s", strings.Join(p.warnings, "\n"), p.titles())
	}
	// Under --strict what was not tested fails: three invariants, and a fault.
	audited := 0
	agent, err := filepath.Abs("testdata/agents/charging.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range play(t, spec(t, fmt.Sprintf(document, agent, "")), "strict", "").outcomes {
		if o.Kind == "not-tested" || o.Kind == "never-fired" {
			audited++
		}
	}
	if audited != 4 {
		t.Errorf("%d audited", audited)
	}
	// What was not tested has no score, nor has a scenario none of whose faults fired.
	if k := p.tally.Contract; k == nil || k.Cells != 3 {
		t.Errorf("the score is of %+v", k)
	}
}
