package operator_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
)

// children runs a campaign and returns its children by their testcase ids,
// without the places of their seeds.
func children(t *testing.T, spec campaign.Spec) map[string]string {
	t.Helper()
	list, found := front().Compile(t.Context(), spec, settings())
	if found.HasErrors() {
		t.Fatal(found)
	}
	c := list[0]
	exec, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Close()
	id, place := regexp.MustCompile(`"testcase_id":"([^"]*)"`), regexp.MustCompile(`"seed_index":\d+,`)
	all := make(map[string]string)
	state, first := c.Start(campaign.Facts{}), int64(0)
	for {
		round, more := c.Round(state)
		if !more {
			return all
		}
		var outcomes []campaign.Outcome
		for i := range round.Len {
			o, err := exec.Execute(t.Context(), state, campaign.Case{Index: first + i})
			if err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, o)
			child := string(o.Attached("child"))
			all[id.FindStringSubmatch(child)[1]] = place.ReplaceAllString(child, "")
		}
		state = c.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, o := range outcomes {
				if !yield(campaign.Case{Index: first + int64(i)}, o) {
					return
				}
			}
		})
		first += round.Len
	}
}

// The order of the seeds changes nothing, neither by what a policy has learned
// from them nor by what they are crossed with.
func TestOrderOfSeeds(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`{"id": "s%d", "text": "Number %d is the first thing to read. Page %d comes then.", "bucket_id": "prompt-injection"}`, i, i, i*i))
	}
	const text = `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "children": 12, "steps": 2, "policy": %q, "rounds": 4, "select": {"include": ["op_cross_*", "op_lex_*", "op_cipher_*"]}}`
	for _, policy := range []string{"ucb1", "exp3"} {
		var made []map[string]string
		for range 2 {
			place(t, dir, "seeds.jsonl", strings.Join(lines, "\n"))
			made = append(made, children(t, campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: fmt.Appendf(nil, text, policy)}))
			slices.Reverse(lines)
			lines = append(lines[7:], lines[:7]...)
		}
		if diff := cmp.Diff(made[0], made[1]); diff != "" || len(made[0]) < 480 {
			t.Errorf("%s: of %d children differ (-one order +another)\n%.2000s", policy, len(made[0]), diff)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(made[0])), func(c string) bool { return strings.Contains(c, `"partner_chars"`) }) {
			t.Errorf("%s: no child was crossed", policy)
		}
	}
}
