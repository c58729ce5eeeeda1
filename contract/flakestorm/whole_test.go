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
var measured = regexp.MustCompile(`("(?:[a-z0-9_]*latency_ms|duration_seconds)": ?)[\d.e-]+|\d+(?:\.\d+)?(?: (?:ms|s)\b|µs)|\d{4}-\d\d-\d\dT[\d:.]+|(?:http://)?127\.0\.0\.1:\d+`)

// latencies are those of a run's notes.
var latencies = regexp.MustCompile(`\b(mean|p50|p95|p99) [^ ,"]+`)

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
			document := strings.NewReplacer("{url}", s.URL, "{world}", world(t).URL).Replace(string(text))
			first, _, _ := strings.Cut(document, "\n")
			options, _ := strings.CutPrefix(first, "# options:")
			if options == first {
				options = ""
			}
			p := playBy(t, acting(), campaign.Spec{Path: file, Data: []byte(document)}, strings.Fields(options)...)
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".txt", measured.ReplaceAllString(wholeRun(t, p), "${1}0"))
		})
	}
}

// wholeRun is all that a run says: its cases with their evidence, scores, warnings, and
// the report in flakestorm's own shape.
func wholeRun(t *testing.T, p played) string {
	var b strings.Builder
	put := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	k, ok := campaign.As[*flakestorm.Campaign](p.campaign)
	if !ok {
		t.Fatal("no flakestorm campaign")
	}
	cells := p.tally.Cells
	p.tally.Cells = nil
	fmt.Fprintf(&b, "planned %d; void %q\nwarnings %q\nadvice %q\nfacts %q %s\n", p.planned, p.void, p.warnings, p.advice, p.facts.Warnings, p.facts.Data)
	for _, d := range p.doubts {
		fmt.Fprintf(&b, "%s:%d %s: %s (%s)\n", d.Level, d.Pos.Line, d.Code, d.Message, d.Hint)
	}
	fmt.Fprintf(&b, "notes %s\n", latencies.ReplaceAllString(fmt.Sprintf("%q", p.notes), "$1 0"))
	traits := campaign.TraitsOf(p.campaign)
	fmt.Fprintf(&b, "%s %t records %v\npoints %q\n", traits.Roughly, traits.Exclusive, traits.Records, k.Points)
	nameOf := campaign.NamesOf(p.campaign, p.state)
	describes, _ := campaign.As[campaign.Describer[any]](p.campaign)
	var stored []campaign.StoredCase
	seen := map[string]bool{}
	group, _ := campaign.As[campaign.Grouper[any]](p.campaign)
	refiner, _ := campaign.As[campaign.Refiner](p.campaign)
	reducer, _ := campaign.As[campaign.Reducer](p.campaign)
	reduced := false
	var found []campaign.Finding
	promoter, _ := campaign.As[campaign.Promoter](p.campaign)
	cold, err := campaign.Solo(t.Context(), p.campaign, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cold.Close()
	home, err := filepath.Abs("testdata/promoted")
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range p.outcomes {
		at := campaign.Case{Index: int64(i), Payload: p.payloads[i]}
		stored = append(stored, campaign.StoredCase{Case: at, Outcome: o})
		fmt.Fprintf(&b, "\ncase %d %s %s: %s %s %q cause %q %v\n  %s\n", i, nameOf(at), p.payloads[i], o.Verdict, o.Kind, o.Signature, o.Cause, o.Severity, o.Title)
		if i%4 == 0 {
			for _, x := range o.Evidence {
				fmt.Fprintf(&b, "  %s: %s\n", x.Name, x.Data)
			}
		}
		if o.Verdict == campaign.VerdictFail {
			if !seen[o.Signature] {
				evidence := describes.Describe(p.state, at, o, nil)
				text, err := json.Marshal(evidence)
				if err != nil {
					t.Fatal(err)
				}
				replies := slices.DeleteFunc(slices.Clone(evidence), func(e campaign.Exhibit) bool { return e.Title != "Reply" })
				found = append(found, campaign.Finding{ID: fmt.Sprint("F-", i), First: at.Index, Evidence: replies})
				fmt.Fprintf(&b, "  %s\n", text)
				title, severity := refiner.Refine(o.Title, o.Severity, o)
				again, err := cold.Execute(t.Context(), p.state, at)
				fmt.Fprintf(&b, "  refined %s, %v; group %q; again %s %s %v\n", title, severity, group.Group(p.state, o), again.Verdict, again.Title, err)
				files, err := promoter.Promote(t.Context(), campaign.Finding{ID: "F-1", Title: o.Title, Signature: o.Signature, Cause: o.Cause}, [][]byte{at.Payload}, home)
				fmt.Fprintf(&b, "  promoted: %v\n", err)
				for _, f := range files {
					fmt.Fprintf(&b, "%s:\n%s", f.Name, f.Data)
				}
				if !reduced { // the first that can be
					tries := 0
					small, _ := reducer.Reduce(t.Context(), at.Payload, func(data []byte) (bool, error) {
						tries++
						now, err := cold.Execute(t.Context(), p.state, campaign.Case{Index: at.Index, Payload: data})
						return now.Signature == o.Signature, err
					})
					if reduced = tries > 0; reduced {
						fmt.Fprintf(&b, "  reduced: %s\n", small)
					}
				}
			}
			seen[o.Signature] = true
		}
	}
	b.WriteString("\ntally\n")
	put(p.tally)
	for _, x := range cells {
		put(x)
	}
	b.WriteString("\nshown\n")
	for _, e := range p.shown {
		put(e)
	}
	b.WriteString("\nreport\n")
	report := k.OwnReport(p.state, campaign.Record{RunID: "r1", Findings: found}, slices.Values(stored))
	for _, m := range report.Mutations {
		put(m)
	}
	report.Mutations = nil
	put(report)
	return b.String()
}
