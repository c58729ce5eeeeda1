package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A comment for many findings is short, and begins with what is new.
func TestMarkdownIsAComment(t *testing.T) {
	rec := richRecord()
	f := rec.Findings[0]
	rec.Findings = nil
	for i := range 20 {
		f.ID, f.Title, f.Severity = fmt.Sprintf("F-%02d", i), fmt.Sprintf("broken %d", i), campaign.SeverityLow
		rec.Findings = append(rec.Findings, f)
	}
	rec.Findings[3].Severity = campaign.SeverityCritical
	since := &Since{Run: "r1", New: map[string]bool{"F-17": true}, Still: 19, Fixed: rec.Findings[:9]}
	out := write(t, "markdown", rec, Options{Since: since})
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("%d lines:\n%s", n, out)
	}
	if !strings.Contains(out, "Since r1: 1 new, 9 fixed, 19 still failing.") {
		t.Errorf("nothing of what changed:\n%s", out)
	}
	fresh, grave, other := strings.Index(out, "broken 17"), strings.Index(out, "broken 3 "), strings.Index(out, "broken 0 ")
	if fresh < 0 || fresh > grave || grave > other {
		t.Errorf("new at %d, critical at %d, other at %d:\n%s", fresh, grave, other, out)
	}
}

// What a program said is text in each of the formats.
func TestHostsReadTextAsText(t *testing.T) {
	rec := richRecord()
	rec.Findings = rec.Findings[:1]
	rec.Findings[0].Title = "<b>@all</b> | ![x](http://evil.example) `a` ::error::\n% #1"
	out := write(t, "markdown", rec, Options{})
	for _, bad := range []string{"<b>", "@all", " | ![", "http://", "#1"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q in\n%s", bad, out)
		}
	}
	out = write(t, "github", rec, Options{})
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		if !strings.HasPrefix(l, "::") {
			t.Errorf("a line of its own: %q", l)
		}
	}
	if !strings.Contains(out, "%25 #1") {
		t.Errorf("per cent signs end what they escape:\n%s", out)
	}
}

// GitLab and CTRF require these fields of each entry; CTRF's counts add up.
func TestHostsGetWhatTheyRequire(t *testing.T) {
	for _, rec := range []campaign.Record{richRecord(), cleanRecord()} {
		var issues []map[string]any
		if err := json.Unmarshal([]byte(write(t, "codequality", rec, Options{})), &issues); err != nil {
			t.Fatal(err)
		}
		prints := make(map[any]bool)
		for _, x := range issues {
			for _, k := range []string{"description", "check_name", "fingerprint", "severity", "location"} {
				if x[k] == nil || x[k] == "" {
					t.Errorf("%s is missing in %v", k, x)
				}
			}
			if prints[x["fingerprint"]] {
				t.Errorf("fingerprint %v twice", x["fingerprint"])
			}
			prints[x["fingerprint"]] = true
		}
		var r struct{ Results ctrfResults }
		if err := json.Unmarshal([]byte(write(t, "ctrf", rec, Options{})), &r); err != nil {
			t.Fatal(err)
		}
		s := r.Results.Summary
		if s.Tests == 0 || s.Tests != s.Passed+s.Failed+s.Skipped+s.Pending+s.Other || rec.Verdict != "pass" && s.Failed == 0 || rec.Verdict == "pass" && s.Failed+len(issues) != 0 {
			t.Errorf("verdict %s: %+v, %d issues", rec.Verdict, s, len(issues))
		}
	}
}

func TestPlaceIsTheFailingBlock(t *testing.T) {
	doc := &campaign.Document{Body: "x", First: 11, Blocks: []campaign.Block{
		{From: 1, To: 2}, {From: 3, To: 9, Verdict: campaign.VerdictFail}, {From: 5, To: 5, Verdict: campaign.VerdictFail}}}
	frame := &campaign.Document{Name: "src/rates.py", Line: 8, First: 7, Body: "x\ny\n", Blocks: []campaign.Block{{From: 2, To: 2, Verdict: campaign.VerdictFail}}}
	for want, list := range map[string][]campaign.Exhibit{
		"doc.md:15":      {campaign.TextExhibit("a", "b"), {Kind: "document", Document: doc}, {Kind: "document", Document: frame}},
		"src/rates.py:8": {{Kind: "document", Document: frame}},
		"doc.md:0":       nil,
	} {
		file, line := place(&campaign.Finding{Evidence: list}, "doc.md")
		if got := fmt.Sprintf("%s:%d", file, line); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Every format that code hosts read names the file that a line is of.
func TestFilesOfLines(t *testing.T) {
	rec := campaign.Record{Verdict: "fail", Complete: true, Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Source: "doc.yaml", Cases: campaign.Counts{Run: 1, Fail: 1}}},
		Findings: []campaign.Finding{{ID: "F-1", Contract: "c", Campaign: "n", Evidence: []campaign.Exhibit{{Kind: "document", Document: &campaign.Document{
			Name: "src/rates.py", Line: 8, First: 8, Body: "x\n", Blocks: []campaign.Block{{From: 1, To: 1, Verdict: campaign.VerdictFail}}}}}}}}
	for format, want := range map[string]string{
		"github": "file=src/rates.py,line=8,", "codequality": `"path": "src/rates.py"`, "ctrf": `"filePath": "src/rates.py"`,
		"junit": `file="src/rates.py" line="8"`, "sarif": `"uri": "src/rates.py"`,
	} {
		if got := write(t, format, rec, Options{}); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", format, want, got)
		}
	}
}
