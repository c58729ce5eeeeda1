package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// listed are the cases of a run of two campaigns, of which the first has names.
func listed(list ...Case) Options {
	return Options{Cases: func(yield func(Case, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}}
}

func TestCasesWithNamesStandForThemselves(t *testing.T) {
	rec := cleanRecord()
	rec.Verdict = "fail"
	rec.Campaigns[0].Cases = campaign.Counts{Planned: 6, Run: 6, Pass: 2, Fail: 2, Skip: 1, Error: 1}
	of := rec.Campaigns[0]
	rec.Findings = []campaign.Finding{
		{ID: "F-1", Contract: of.Contract, Campaign: of.Name, Title: "one is wrong", First: 1},
		{ID: "F-2", Contract: of.Contract, Campaign: of.Name, Title: "of no case that is listed", First: 77},
	}
	opt := listed(
		Case{Index: 0, Name: "ONE"}, Case{Index: 1, Name: "TWO", Verdict: campaign.VerdictFail, Title: "two <is> wrong"},
		Case{Index: 2, Name: "ONE"}, Case{Index: 3, Name: "SKIP", Verdict: campaign.VerdictSkip, Title: "no #3 here"},
		Case{Index: 4, Name: "ERR", Verdict: campaign.VerdictError, Title: "no such thing"}, Case{Index: 5, Name: "SIX", Verdict: campaign.VerdictFail, Title: "six"},
		Case{Index: 6}, Case{Campaign: 99, Name: "NOWHERE"},
	)
	x := write(t, "junit", rec, opt)
	for _, want := range []string{`name="ONE"`, `name="ONE (2)"`, `name="TWO"`, "one is wrong", `name="SKIP"`, `<skipped message="no #3 here">`, `name="ERR"`, "no such thing", "of no case that is listed", `tests="7"`, `failures="3"`, `errors="1"`, `skipped="1"`} {
		if !strings.Contains(x, want) {
			t.Errorf("junit lacks %q:\n%s", want, x)
		}
	}
	if strings.Contains(x, "cases held") {
		t.Error("cases that stand for themselves are counted as well")
	}
	tap := write(t, "tap", rec, opt)
	for _, want := range []string{"ok 2 - ONE\n", "not ok 3 - two <is> wrong", "SKIP # SKIP no \\#3 here\n", "not ok 6 - no such thing"} {
		if !strings.Contains(tap, want) {
			t.Errorf("tap lacks %q:\n%s", want, tap)
		}
	}
	lines := strings.Split(strings.TrimSpace(write(t, "jsonl", rec, opt)), "\n")
	if len(lines) != 7+2+1 || !strings.HasPrefix(lines[1], `{"type":"case"`) || !strings.Contains(lines[1], `"name":"TWO","verdict":"fail"`) || !strings.HasPrefix(lines[9], `{"type":"run"`) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
}

func TestCasesThatCannotBeReadAreAnError(t *testing.T) {
	torn := errors.New("torn")
	opt := Options{Cases: func(yield func(Case, error) bool) { yield(Case{}, torn) }}
	for _, name := range []string{"junit", "tap", "jsonl"} {
		f, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(&strings.Builder{}, cleanRecord(), opt); !errors.Is(err, torn) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
