package fresnelfir

import (
	"strings"
	"testing"
)

// A constraint that says nothing takes no value away.
func TestEmptyConstraints(t *testing.T) {
	for _, rule := range []string{
		`["implies", ["eq", "actor_role", "reader"], ["neq", "actor_role", "editor"]]`,
		`["or", ["eq", "actor_signed_in", true], ["eq", "actor_signed_in", false], ["eq", "actor_role", "author"]]`,
	} {
		c := compileText(t, article(t, `"constraints": []`, `"constraints": [{"name": "empty", "rule": `+rule+`}]`))
		c.budget = 2000
		s, failing := explore(t, c, "")
		for i, target := range c.plan.space.targets {
			if !s.reached[i] {
				t.Errorf("%s: %s was never tried", rule, target.label)
			}
		}
		if hit, total := s.progress(c.plan); hit != total || len(failing) > 0 {
			t.Errorf("%s: %d of %d calls and branches reached, %v", rule, hit, total, failing)
		}
	}
}

// What is asked of an input that nothing takes cannot be covered.
func TestIdleInputs(t *testing.T) {
	c := compileText(t, article(t, `"constraints": []`, `"constraints": []`, `"domains": {`, `"domains": { "spare": {"type": "int", "min": 1, "max": 8},`,
		`"targets": [`, `"targets": [{"type": "boundary", "domain": "spare", "values": [2]}, {"type": "all_pairs", "over": ["spare", "actor_role"]},`))
	c.budget = 500
	s, _ := explore(t, c, "")
	for i, target := range c.plan.space.targets {
		if idle := strings.Contains(target.label, "spare"); idle != (target.unreachable == "nothing takes the input spare") || !idle && !s.reached[i] {
			t.Errorf("%s: reached %t, unreachable %q", target.label, s.reached[i], target.unreachable)
		}
	}
}
