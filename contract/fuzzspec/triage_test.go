package fuzzspec_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
)

func TestTriageAnswersAsExistingToolsDo(t *testing.T) {
	v := readEvaluationVectors(t).Triage
	in := fuzzspec.TriageInput{CampaignID: "camp", Cases: []byte(v.Cases), Summary: []byte(v.Summary), Eval: func(runID string) []byte {
		if runID == "r40" {
			return []byte(v.R40)
		}
		return nil
	}}
	for _, r := range v.Results {
		o := fuzzspec.TriageOptions{TopK: fuzzspec.DefaultTopK}
		for i := 0; i < len(r.Args); i += 2 {
			switch r.Args[i] {
			case "--include-pass":
				o.IncludePass = r.Args[i+1] == "true"
			case "--top-k":
				o.TopK, _ = strconv.Atoi(r.Args[i+1])
			}
		}
		got := fuzzspec.TriageCampaign(in, o)
		for _, c := range []struct{ what, got, want string }{
			{"triage.json", string(got.JSON), r.JSON}, {"summary.json", string(got.Summary), r.Summary},
		} {
			if c.got != c.want {
				t.Errorf("%v: %s:\n%q\nwant\n%q", r.Args, c.what, c.got, c.want)
			}
		}
		// The table of existing tools but for the one row whose cell would break it.
		escaped := strings.ReplaceAll(r.MD, "| w|w |", `| w\|w |`)
		if string(got.Markdown) != escaped {
			t.Errorf("%v: escaped triage.md:\n%s\nwant\n%s", r.Args, got.Markdown, escaped)
		}
	}
}

func TestTriageOfNothing(t *testing.T) {
	got := fuzzspec.TriageCampaign(fuzzspec.TriageInput{CampaignID: "c", Campaign: []byte(`{"spec_sha256": "abc"}`)}, fuzzspec.TriageOptions{TopK: 5})
	if !strings.Contains(string(got.JSON), `"clusters": []`) || !strings.Contains(string(got.JSON), `"spec_sha256": "abc"`) || got.Summary != nil {
		t.Errorf("got %s and summary %s", got.JSON, got.Summary)
	}
}

func TestIDsThatLeadElsewhereAreRefused(t *testing.T) {
	for _, id := range []string{"", ".", "..", "a/b", `a\b`, "../x", "a..b", "-x", "a\nb", "a\x00b", ".hidden", strings.Repeat("x", 201)} {
		if fuzzspec.CheckID("run id", id) == nil {
			t.Errorf("%q is accepted", id)
		}
	}
	for _, id := range []string{"cmp_deadbeef_s0_case_000007", "smoke-1", "ü"} {
		if err := fuzzspec.CheckID("run id", id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestDefaultIDs(t *testing.T) {
	if got := fuzzspec.DefaultCampaignID([]byte("x"), 5); got != "cmp_2d711642_s5" {
		t.Errorf("got %s", got)
	}
	for index, want := range map[int64]string{7: "c_case_000007", -1: "c_case_-00001", 1234567: "c_case_1234567"} {
		if got := fuzzspec.CaseRunID("c", index); got != want {
			t.Errorf("case %d is %s, want %s", index, got, want)
		}
	}
}
