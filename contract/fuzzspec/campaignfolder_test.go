package fuzzspec_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/internal/golden"
)

func newCampaign(t *testing.T) fuzzspec.CampaignFolder {
	t.Helper()
	f, err := fuzzspec.NewCampaignFolder(t.TempDir(), "smoke")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Begin(fuzzspec.CampaignInfo{Created: started, SpecPath: "spec.json", SpecText: []byte("x"), StartIndex: 3}); err != nil {
		t.Fatal(err)
	}
	return f
}

func caseLines() []fuzzspec.CaseLine {
	one := 1
	return []fuzzspec.CaseLine{
		{Time: started, CaseIndex: 3, RunID: "smoke_case_000003", ArtifactID: "aa", InputSHA256: "aabb", Verdict: "PASS", Reason: "runner_ok", ExitCode: new(int), Elapsed: 65 * time.Millisecond, Signature: "PASS"},
		{Time: started, CaseIndex: 4, RunID: "smoke_case_000004", Verdict: "FAIL", Reason: "runner_nonzero_exit", ExitCode: &one, Signature: "CRASH:é|x", Extra: map[string]any{"signature_v2": "v2", "verdict": "PASS"}},
		{Time: started.Add(time.Minute), CaseIndex: 5, RunID: "smoke_case_000005", Planned: true},
		{Time: started.Add(time.Minute), CaseIndex: 6, RunID: "smoke_case_000006", Verdict: "BLOCKED", Reason: "OSError: disk"},
	}
}

func TestCampaignFolder(t *testing.T) {
	f := newCampaign(t)
	if err := f.Write([]byte("x"), 4, started, slices.Values(caseLines())); err != nil {
		t.Fatal(err)
	}
	if _, note, err := f.Triage(fuzzspec.TriageOptions{TopK: fuzzspec.DefaultTopK}, true, true); err != nil || note != "" {
		t.Fatal(note, err)
	}
	names, content := listing(t, f.Dir())
	var b strings.Builder
	for _, name := range names {
		b.WriteString("== " + name + "\n" + strings.TrimSuffix(content[name], "\n") + "\n")
	}
	golden.Check(t, "testdata/campaignfolder.golden", b.String())
}

func TestACampaignBelongsToOneDocument(t *testing.T) {
	f := newCampaign(t)
	if err := f.Begin(fuzzspec.CampaignInfo{SpecText: []byte("x")}); err != nil {
		t.Errorf("the same document: %v", err)
	}
	err := f.Begin(fuzzspec.CampaignInfo{SpecText: []byte("y")})
	if err == nil || !strings.Contains(err.Error(), "spec_sha256 mismatch") {
		t.Errorf("another document: %v", err)
	}
}

func TestCasesAreNeverListedTwice(t *testing.T) {
	f := newCampaign(t)
	lines := caseLines()
	if err := f.Write(nil, 4, started, slices.Values(lines)); err != nil {
		t.Fatal(err)
	}
	before, _, _ := f.ReadCases()
	err := f.Write(nil, 4, started, slices.Values(append(lines, lines[3])))
	if err == nil || !strings.Contains(err.Error(), "case 6 after case 6") {
		t.Errorf("got %v", err)
	}
	if after, _, _ := f.ReadCases(); string(after) != string(before) {
		t.Errorf("the refused lines changed the file:\n%s", after)
	}
	if names, _ := listing(t, f.Dir()); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") }) {
		t.Errorf("left behind: %v", names)
	}
}

func TestATornLastLineIsToldAndLeftOut(t *testing.T) {
	f := newCampaign(t)
	if err := f.Write(nil, 4, started, slices.Values(caseLines())); err != nil {
		t.Fatal(err)
	}
	whole, _, _ := f.ReadCases()
	if err := os.WriteFile(f.Dir()+"/cases.jsonl", append(slices.Clone(whole), `{"case_index":7,"ru`...), 0o644); err != nil {
		t.Fatal(err)
	}
	got, note, err := f.ReadCases()
	if err != nil || string(got) != string(whole) || !strings.Contains(note, "19 bytes") {
		t.Errorf("note %q, error %v, lines\n%s", note, err, got)
	}
	triage, note, err := f.Triage(fuzzspec.TriageOptions{}, false, false)
	if err != nil || note == "" || strings.Contains(string(triage.JSON), "\"cases_total\": 5") {
		t.Errorf("note %q, error %v, triage %s", note, err, triage.JSON)
	}
}

func TestTriageOfACampaignThatIsNotThere(t *testing.T) {
	f, err := fuzzspec.NewCampaignFolder(t.TempDir(), "none")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Triage(fuzzspec.TriageOptions{}, true, true); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("got %v", err)
	}
}

func TestTriageFindsEvaluationsBelowTheWorkRoot(t *testing.T) {
	f := newCampaign(t)
	root := strings.TrimSuffix(f.Dir(), "/llmfuzz/campaigns/smoke")
	write(t, root, map[string]string{"runs/r1/llmfuzz/eval.json": `{"verdict": "FAIL", "signature_v1": "CRASH:cc"}`})
	write(t, f.Dir(), map[string]string{"cases.jsonl": `{"case_index": 1, "run_id": "r1"}` + "\n" + `{"case_index": 2, "run_id": "../../r1"}` + "\n"})
	triage, _, err := f.Triage(fuzzspec.TriageOptions{}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(triage.Clusters) != 2 || triage.Clusters[0].Key() != "FAIL|CRASH:cc" || triage.Clusters[1].Key() != "UNKNOWN|UNKNOWN" {
		t.Errorf("got %+v", triage.Clusters)
	}
}

// A campaign's evaluations lie below its own folder, or else below the nearest one above that
// holds runs.
func TestWhereEvaluationsAreFound(t *testing.T) {
	const id = "smoke_case_000003"
	eval := func(dir, signature string) string { return dir + "/runs/" + id + "/llmfuzz/eval.json=" + signature }
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"its own":                          {[]string{eval("llmfuzz/campaigns/smoke", "OWN"), eval("llmfuzz", "NEAR"), eval(".", "BASE")}, "OWN"},
		"the nearest":                      {[]string{eval("llmfuzz", "NEAR"), eval(".", "BASE")}, "NEAR"},
		"of the work root":                 {[]string{eval(".", "BASE")}, "BASE"},
		"its own runs are others":          {[]string{"llmfuzz/campaigns/smoke/runs/x/y=", eval(".", "BASE")}, "BASE"},
		"the nearest has none of it":       {[]string{"llmfuzz/runs/x/y=", eval(".", "BASE")}, ""},
		"what is called runs is no folder": {[]string{"llmfuzz/runs=", eval(".", "BASE")}, "BASE"},
		"nowhere":                          {nil, ""},
	} {
		base := t.TempDir()
		f, err := fuzzspec.NewCampaignFolder(base, "smoke")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Begin(fuzzspec.CampaignInfo{Created: started, SpecText: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		if err := f.Write([]byte("x"), 1, started, slices.Values([]fuzzspec.CaseLine{{Time: started, CaseIndex: 3, RunID: id, Verdict: "FAIL"}})); err != nil {
			t.Fatal(err)
		}
		for _, file := range c.files {
			path, signature, _ := strings.Cut(file, "=")
			write(t, base, map[string]string{path: `{"verdict": "FAIL", "signature_v1": "` + signature + `"}`})
		}
		got, _, err := f.Triage(fuzzspec.TriageOptions{TopK: 1}, false, false)
		found := ""
		for _, s := range []string{"OWN", "NEAR", "BASE"} {
			if strings.Contains(string(got.JSON), `"`+s+`"`) {
				found += s
			}
		}
		if err != nil || found != c.want {
			t.Errorf("%s: %v, found %q, want %q: %s", name, err, found, c.want, got.JSON)
		}
	}
}
