package starop_test

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/starop"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What becomes of operators that are damaged in every place: what is said of them, and what
// they make of a text.
func TestEverySmallChange(t *testing.T) {
	golden.Sweep(t, "operators", golden.Changed("(\"0", []string{
		"OPERATOR_META = dict(op_id = 'op_a_b', bucket_tags = ['JAILBREAK'], surface_compat = ['PROMPT_TEXT'], risk_level = 'LOW', strength_range = (1, 3), params_schema = {'type': 'object'})\ndef apply(seed_text, ctx, rng, *rest, k = 1):\n  return {'status': 'SKIPPED', 'child_text': seed_text, 'error': None, 'trace': {'op_id': 'op_a_b', 'status': 'SKIPPED', 'params': {}, 'len_before': 5, 'len_after': 5}}\n",
	}...), func(text string) string {
		s, list := starop.Load("op_test.star", []byte(text))
		said := fmt.Sprintln(list)
		if list.HasErrors() {
			return said
		}
		op, err := s.New()
		if err != nil {
			return said + err.Error()
		}
		var rng pyrand.Rand
		rng.SeedUint64(4)
		r := textop.Run(op, "héllo", &textop.Context{Strength: 2, Surface: textop.PromptText, Metadata: map[string]any{"testcase_id": "t:0"}}, &rng)
		fault, at, printed := op.Witness()
		return said + fmt.Sprintf("%+v %+v %s %s %s", s.Meta, r, fault, at, printed)
	})
}
