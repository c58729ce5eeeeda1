package spectest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// besideNote is the attachment with the further failed checks of a case. The first failed check
// decides the finding.
const besideNote = "beside"

// Limits on the further checks: how many are kept, and how much text of each comparison.
const (
	maxBeside     = 50
	maxBesideText = 4 << 10
)

// besideFailure is a further failed check as it is stored.
type besideFailure struct {
	Failure
	Expected *string `json:"expected,omitempty"`
	Actual   *string `json:"actual,omitempty"`
	Beyond   string  `json:"beyond,omitempty"` // see [beyondNote]
	Left     int     `json:"left,omitempty"`   // on the last: how many more were dropped
}

func besideJSON(all []*Failure) []byte {
	var kept []besideFailure
	short := func(s *string) *string {
		if s == nil {
			return nil
		}
		text := clipped(*s, maxBesideText)
		return &text
	}
	for _, f := range all[:min(len(all), maxBeside)] {
		kept = append(kept, besideFailure{Failure: *f, Expected: short(f.expected), Actual: short(f.actual), Beyond: f.beyond(maxBesideText)})
	}
	kept[len(kept)-1].Left = len(all) - len(kept)
	data, _ := json.Marshal(kept) // strings and numbers
	return data
}

func besideFailures(o campaign.Outcome) (all []besideFailure) {
	if json.Unmarshal(o.Attached(besideNote), &all) != nil {
		return nil
	}
	return all
}

// besides lists the further failed checks of a case, one per line.
func besides(all []besideFailure) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "also:     line %s: %s\n", strings.TrimSpace(fmt.Sprint(f.Line, " ", f.Step)), clipped(f.summary(), 200))
	}
	if n := left(all); n > 0 {
		b.WriteString("also:     " + diag.Plural(n, "more check") + "\n")
	}
	return b.String()
}

// left is the number of further checks that were dropped.
func left(all []besideFailure) int {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Left
}

// besideExhibit explains each further failed check.
func (c *Campaign) besideExhibit(cs *Case, first *Failure, all []besideFailure) campaign.Exhibit {
	var b strings.Builder
	for i, f := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		f.expected, f.actual, f.Step = f.Expected, f.Actual, cmp.Or(f.Step, first.Step)
		var said evidence
		said.add(beyondNote, []byte(f.Beyond))
		b.WriteString(c.reasons(cs, &f.Failure, campaign.Outcome{Evidence: f.evidence(said)}))
	}
	return campaign.TextExhibit("More checks that failed", b.String())
}
