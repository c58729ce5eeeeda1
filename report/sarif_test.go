package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/campaign"
)

// The standard's own schema is not ours to keep here; a maintainer who has it
// can check against it by name.
var sarifSchema = flag.String("sarif-schema", "", "file of the SARIF 2.1.0 JSON schema to check against as well")

// TestSARIFHasWhatTheStandardAsksFor checks the required properties of the
// objects that a report has, and the rules that readers rest on.
func TestSARIFHasWhatTheStandardAsksFor(t *testing.T) {
	bare := campaign.Record{Verdict: "error", Findings: []campaign.Finding{{Contract: "x"}}}
	for name, rec := range map[string]campaign.Record{"rich": richRecord(), "clean": cleanRecord(), "hostile": hostileRecord(), "bare": bare} {
		t.Run(name, func(t *testing.T) {
			checkSARIF(t, write(t, "sarif", rec, Options{}), len(rec.Findings))
		})
	}
}

func checkSARIF(t *testing.T, out string, findings int) {
	t.Helper()
	if *sarifSchema != "" {
		checkSARIFSchema(t, out)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("version %q, %d runs", log.Version, len(log.Runs))
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name == "" || len(run.Invocations) != 1 || len(run.Results) != findings {
		t.Errorf("driver %q, %d invocations, %d results", run.Tool.Driver.Name, len(run.Invocations), len(run.Results))
	}
	ids := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if r.ID == "" || ids[r.ID] || r.Short.Text == "" {
			t.Errorf("rule %q: no id, twice, or not described", r.ID)
		}
		ids[r.ID] = true
	}
	for _, r := range run.Results {
		if r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result of rule %q points at rule %d", r.RuleID, r.RuleIndex)
		}
		switch r.Level {
		case "error", "warning", "note":
		default:
			t.Errorf("level %q", r.Level)
		}
		if _, ok := r.Fingerprint["thresh/v1"]; !ok || r.Occurrences < 1 {
			t.Errorf("fingerprints %v, %d occurrences", r.Fingerprint, r.Occurrences)
		}
		for _, l := range r.Locations {
			at := l.Physical.Artifact
			if at.Index == nil || run.Artifacts[*at.Index].Location.URI != at.URI || l.Physical.Region.StartLine < 1 {
				t.Errorf("location %+v", l.Physical)
			}
		}
	}
}

func checkSARIFSchema(t *testing.T, out string) {
	t.Helper()
	data, err := os.ReadFile(*sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
}

func TestFileURI(t *testing.T) {
	for give, want := range map[string]string{
		"a b/c.json": "a%20b/c.json", "/abs/é.md": "file:///abs/%C3%A9.md", "x:y.json": "./x:y.json", "q?#.json": "q%3F%23.json",
		"//host/x": "file:////host/x", `back\slash`: "back%5Cslash",
	} {
		if got := fileURI(give); got != want {
			t.Errorf("fileURI(%q) = %q, want %q", give, got, want)
		}
	}
}

// Findings under different numbers of published lists are different rules, which
// readers tell apart by what they see of a rule.
func TestSARIFRuleOfNumber(t *testing.T) {
	var rec campaign.Record
	for _, number := range []string{"LLM01:2025", "LLM07:2025", "LLM01:2025"} {
		rec.Findings = append(rec.Findings, campaign.Finding{Contract: "x", Kind: "verdict", Cause: []string{"why", number, "AML.T0054"}})
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(write(t, "sarif", rec, Options{})), &log); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		got = append(got, r.Short.Text)
	}
	if want := []string{"x: verdict (LLM01:2025)", "x: verdict (LLM07:2025)"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
