package operator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/examples/operator/demo"
	"github.com/thresh-dev/thresh/port/sut"
)

// A budget ends a run and says so, whatever the policy; a fifth is kept, and what
// is run again ends with that.
func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		budget      string
		least, most int
	}{
		"calls":     {`{"calls": 50}`, 40, 40},
		"one call":  {`{"calls": 1}`, 1, 1},
		"tokens":    {`{"tokens": 3000}`, 15, 80},
		"cost":      {`{"cost": 0.003, "input_price": 1, "output_price": 1}`, 15, 80},
		"no limit":  {`{"calls": 100000}`, 300, 400},
		"the least": {`{"calls": 200, "tokens": 3000}`, 15, 80},
	} {
		for _, policy := range []string{"uniform", "exp3", "search"} {
			t.Run(name+" "+policy, func(t *testing.T) {
				a := attacked(t, policy, `"budget": `+c.budget+`,`, 300, 1, demo.Layered)
				if a.calls < c.least || a.calls > c.most {
					t.Errorf("%d calls, expected %d to %d", a.calls, c.least, c.most)
				}
				if said := strings.Contains(a.warnings(), "the budget ended the run after"); said != (c.most < 100) {
					t.Errorf("it says of the budget: %q", a.warnings())
				}
			})
		}
	}
	calls := 0
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "guard.system.yaml", systemFile)
	place(t, dir, "guard", "")
	answer := assistant(func(string, int) (sut.Observation, error) { return alwaysSucceeds("it is canary-7") })
	d := execute(t, operator.New(nil, nil).Systems(answer.open(&calls)), dir, strings.Replace(hexOnly, "%s", guarded+`, "budget": {"calls": 10}`, 1))
	cold, err := campaign.Solo(t.Context(), d.c, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cold.Close()
	var verdicts []campaign.Verdict
	for range 5 {
		o, err := cold.Execute(t.Context(), d.state, campaign.Case{Payload: []byte(`{"seed":{"seed_id":"a","text":"Hello there"},"testcase_id":"a:1","chain":["op_enc_hex"]}`)})
		if err != nil {
			t.Fatal(err)
		}
		verdicts = append(verdicts, o.Verdict)
	}
	if want := []campaign.Verdict{campaign.VerdictFail, campaign.VerdictFail, campaign.VerdictError, campaign.VerdictError, campaign.VerdictError}; !slices.Equal(verdicts, want) || calls != 10 {
		t.Errorf("run again: %v, %d calls in all", verdicts, calls)
	}
}
