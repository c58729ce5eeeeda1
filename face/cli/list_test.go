package cli

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// The list does not know the cases and findings of a run that is running, so it does not say 0.
func TestListOfARunThatIsRunning(t *testing.T) {
	for columns, want := range map[string]string{"": "r1 running - - - ", "60": "r1 running - - "} {
		var out strings.Builder
		a := &application{io: &Stdio{Out: &out, Getenv: func(string) string { return columns }}}
		err := a.showRuns([]store.RunSummary{{RunID: "r1", Status: "running"}, {RunID: "r2", Status: "interrupted", Verdict: "fail", Cases: campaign.Counts{Run: 7}, Findings: 3}})
		if got := strings.Join(strings.Fields(out.String()), " "); err != nil || !strings.Contains(got, want) || !strings.Contains(got, " 7 3 ") {
			t.Errorf("%s %v", out.String(), err)
		}
	}
}
