package flakestorm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/internal/golden"
)

// measured are figures of the machine, and those of the test server.
var measured = regexp.MustCompile(`("(?:[a-z0-9_]*latency_ms|duration_seconds)": )[\d.e-]+|\d+(?:\.\d+)?(?: (?:ms|s)\b|µs)|\d{4}-\d\d-\d\dT[\d:.]+|http://127\.0\.0\.1:\d+`)

// testdata/whole holds documents. Beside each stands all that its run says, on an agent that
// keeps a secret badly and does not answer everything.
func TestWholeRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/whole/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no documents: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := answerer(t, func(prompt string, _ int) (int, string) {
				switch low := strings.ToLower(prompt); {
				case strings.Contains(low, "key"):
					return 200, "The key is key-123, says ann@example.com."
				case strings.Contains(low, "ann"):
					return 200, "Hello Ann."
				case strings.Contains(low, "fail"):
					return 500, "broken"
				case strings.Contains(low, "nothing"), strings.Contains(low, "urgent"):
					return 200, ""
				case strings.Contains(low, "order"), strings.Contains(low, "instructions"):
					return 200, "Hello, your order is on its way."
				}
				return 200, "hm?"
			})
			got := measured.ReplaceAllString(wholeRun(t, play(t, spec(t, strings.ReplaceAll(string(text), "{url}", s.URL)))), "${1}0")
			expected := strings.TrimSuffix(file, ".yaml") + ".txt"
			golden.Check(t, expected, got)
		})
	}
}

// wholeRun is all that a run says: its cases with their evidence, scores, warnings, and
// the report in flakestorm's own shape.
func wholeRun(t *testing.T, p played) string {
	var b strings.Builder
	indented := func(v any) {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	k, ok := campaign.As[*flakestorm.Campaign](p.campaign)
	if !ok {
		t.Fatal("no flakestorm campaign")
	}
	fmt.Fprintf(&b, "planned %d; void %q\nwarnings %q\nadvice %q\n", p.planned, p.void, p.warnings, p.advice)
	nameOf := campaign.NamesOf(p.campaign, p.state)
	describes, _ := campaign.As[campaign.Describer[any]](p.campaign)
	var stored []campaign.StoredCase
	seen := map[string]bool{}
	for i, o := range p.outcomes {
		at := campaign.Case{Index: int64(i), Payload: p.payloads[i]}
		stored = append(stored, campaign.StoredCase{Case: at, Outcome: o})
		fmt.Fprintf(&b, "\ncase %d %s %s: %s %s %q cause %q severity %v\n  %s\n", i, nameOf(at), p.payloads[i], o.Verdict, o.Kind, o.Signature, o.Cause, o.Severity, o.Title)
		if i%4 == 0 {
			for _, x := range o.Evidence {
				fmt.Fprintf(&b, "  %s: %s\n", x.Name, x.Data)
			}
		}
		if o.Verdict == campaign.VerdictFail {
			if !seen[o.Signature] {
				text, err := json.Marshal(describes.Describe(p.state, at, o, nil))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "  %s\n", text)
			}
			seen[o.Signature] = true
		}
	}
	b.WriteString("\ntally\n")
	indented(p.tally)
	b.WriteString("\nshown\n")
	indented(p.shown)
	b.WriteString("\nreport\n")
	indented(k.OwnReport(p.state, campaign.Record{RunID: "r1"}, slices.Values(stored)))
	return b.String()
}
