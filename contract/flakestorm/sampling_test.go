package flakestorm_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

func sampledBy(url, rate string) string {
	return matrix(url, "", "  "+rate+`
  invariants: [{id: says, type: contains, value: well, severity: high}]
  chaos_matrix: [{name: calm}]
advanced: {retries: 0}
`)
}

// coin plays a campaign of one cell whose runs hold by chance, without an agent.
func coin(t *testing.T, list []campaign.Any, r *rand.Rand, rate float64) flakestorm.CellTally {
	t.Helper()
	c := list[0]
	state := c.Start(campaign.Facts{})
	for index := int64(0); ; {
		round, ok := c.Round(state)
		if !ok {
			k, _ := campaign.As[*flakestorm.Campaign](c)
			return k.Tally(state).Cells[0]
		}
		state = c.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range round.Len {
				var o campaign.Outcome
				if !strings.Contains(string(round.Payload(i)), `"phase":"contract"`) {
					o.Kind = "rate"
				} else if r.Float64() >= rate {
					o.Kind, o.Data = "failing-run", []byte(`{"failing":"no"}`)
				}
				if !yield(campaign.Case{Index: index, Payload: round.Payload(i)}, o) {
					return
				}
				index++
			}
		})
	}
}

// Of agents that hold in 90 % of runs, hardly any is judged wrongly or stays
// undecided; of one at the border few are judged at all, and wrongly no more
// often than in 5 % either way.
func TestSampledCampaigns(t *testing.T) {
	for _, x := range []struct {
		rate         float64
		min          string
		right        string
		wrong, never int // of 200, at most
	}{{0.9, "0.8", "holds", 10, 10}, {0.9, "0.98", "fails", 10, 10}, {0.9, "0.9", "holds", 16, 200}, {1, "0.9", "holds", 0, 0}, {0.2, "0.9", "fails", 0, 0}} {
		list, diags := front().Compile(t.Context(), spec(t, sampledBy("http://127.0.0.1:1", "min_pass_rate: "+x.min)), settings())
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		r := rand.New(rand.NewPCG(7, 11))
		wrong, never, runs := 0, 0, 0
		for range 200 {
			k := coin(t, list, r, x.rate)
			runs += k.Runs
			switch k.Answer {
			case x.right:
			case "undecided":
				never++
				if k.Runs != 200 {
					t.Errorf("given up after %d runs", k.Runs)
				}
			default:
				wrong++
			}
		}
		t.Logf("%g against %s: %d wrong, %d undecided, %d runs each", x.rate, x.min, wrong, never, runs/200)
		if wrong > x.wrong || never > x.never {
			t.Errorf("%g against %s: %d wrong, %d undecided of 200", x.rate, x.min, wrong, never)
		}
	}
}

// A run that fails is not a finding; a cell that fails is one, and an undecided one
// is an error.
func TestSampledCell(t *testing.T) {
	for _, x := range []struct {
		rate, answer      string
		every             int // how many calls there are for one that fails
		findings, errored int
		runs              int // at most
	}{
		{"min_pass_rate: 0.7", "holds", 21, 0, 0, 60},
		{"min_pass_rate: 0.9", "fails", 2, 1, 0, 40},
		{"min_pass_rate: 0.9\n  max_runs: 12", "undecided", 9, 0, 1, 12},
		{"min_pass_rate: 0.7\n  runs_per_cell: 40", "holds", 21, 0, 0, 40},
	} {
		n := 0
		s := answerer(t, func(string, int) (int, string) {
			if n++; n%x.every == 0 {
				return 200, "who knows"
			}
			return 200, "all is well"
		})
		p := contractOnly(t, sampledBy(s.URL, x.rate))
		k := p.tally.Cells[0]
		if k.Answer != x.answer || p.count(campaign.VerdictFail) != x.findings || p.count(campaign.VerdictError) != x.errored || k.Runs > x.runs || k.Passed == k.Runs {
			t.Errorf("%s, one of %d fails: %+v\n%s", x.rate, x.every, k, p.titles())
		}
		if (p.tally.Contract == nil) != (x.answer == "undecided") {
			t.Errorf("%s: %+v %v", x.rate, p.tally.Contract, p.warnings)
		}
		saved := ""
		for _, e := range p.shown {
			if strings.HasPrefix(e.Title, "Sampled cells") && e.Brief {
				saved = e.Title
			}
		}
		if most := max(200, 0); x.answer != "undecided" && saved != fmt.Sprintf("Sampled cells: %d runs; stopping once the answer was clear saved %d of %d", k.Runs, most-k.Runs, most) {
			t.Errorf("%s: %q", x.rate, saved)
		}
		if last := p.outcomes[len(p.outcomes)-1]; x.findings == 1 && (!strings.Contains(last.Title, "less than min_pass_rate 0.9: ") || last.Severity != campaign.SeverityHigh) {
			t.Errorf("%s: %v %s", x.rate, last.Severity, last.Title)
		}
	}
}

// The run that is shown of a cell sampled again failed for the reason that its finding gives.
func TestShownRun(t *testing.T) {
	for odd := range 2 {
		n := 0
		s := answerer(t, func(string, int) (int, string) {
			if n++; n%2 == 0 {
				return 200, "all is well"
			}
			return []int{200, 500}[(n/2+odd)%2], "who knows"
		})
		p := contractOnly(t, sampledBy(s.URL, "min_pass_rate: 0.9"))
		k, ok := campaign.As[*flakestorm.Campaign](p.campaign)
		cold, err := campaign.Solo(t.Context(), p.campaign, campaign.Lane{Of: 1, Cold: true})
		if err != nil || !ok {
			t.Fatal(err)
		}
		at := len(p.outcomes) - 1
		o, err := cold.Execute(t.Context(), p.state, campaign.Case{Index: int64(at), Payload: p.payloads[at]})
		if err != nil || cold.Close() != nil || o.Verdict != campaign.VerdictFail {
			t.Fatal(err, o.Title)
		}
		for _, e := range k.Describe(nil, campaign.Case{Index: -1}, o, nil) {
			if e.Title == "Conversation" && strings.Contains(e.Text.Body, "no answer") != strings.Contains(p.outcomes[at].Title, "no answer") {
				t.Errorf("%s\n%s", p.outcomes[at].Title, e.Text.Body)
			}
		}
	}
}
