package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/campaign"
)

// A run whose cases are prompts has lists of them, and one without does not.
func TestFormatsOfARun(t *testing.T) {
	names := func(c ...campaign.CampaignRecord) (got string) {
		for _, f := range FormatsOf(&campaign.Record{Campaigns: c}) {
			if f.Name == "html" || f.Name == "hits" || f.Name == "attempts" {
				got += " " + f.Name
			}
		}
		return got
	}
	failing := campaign.Counts{Run: 2, Fail: 1}
	for want, c := range map[string]campaign.CampaignRecord{
		" html": {Cases: failing}, " html attempts": {Prompts: true, Cases: campaign.Counts{Run: 2}}, " html hits attempts": {Prompts: true, Cases: failing},
	} {
		if got := names(c, campaign.CampaignRecord{}); got != want {
			t.Errorf("%+v has%s, want%s", c, got, want)
		}
	}
}

func TestByNameNamesTheNearest(t *testing.T) {
	for give, want := range map[string]string{"jsn": "did you mean json?", "HTML": "did you mean html?", "nothing-like": "text, json, junit, sarif, tap, jsonl, html, markdown, github, codequality, ctrf"} {
		_, err := ByName(give)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", give, err, want)
		}
	}
}

func TestEqualRecordsGiveEqualBytes(t *testing.T) {
	for _, f := range Formats() {
		a, b := write(t, f.Name, richRecord(), Options{}), write(t, f.Name, richRecord(), Options{})
		if a != b {
			t.Errorf("%s differs between equal records", f.Name)
		}
	}
}

// What a report may say of the environment, as patterns to blank out.
var circumstances = map[string]*regexp.Regexp{
	"text":  regexp.MustCompile(`· [\d.,]+/s · [^·]* · `),
	"json":  regexp.MustCompile(`(?s)\n  "environment": \{.*`),
	"junit": regexp.MustCompile(` time(stamp)?="[^"]*"`),
	"sarif": regexp.MustCompile(`(?s)"version": "[^"]*",\s+"informationUri"|"invocations": \[.*?"toolExecutionNotifications"`),
	"tap":   regexp.MustCompile(`$^`),
}

func TestOnlyCircumstancesFollowTheEnvironment(t *testing.T) {
	other := richRecord()
	other.Environment = campaign.Environment{
		Command: []string{"thresh", "resume"}, Started: time.Unix(1, 0), Finished: time.Unix(9, 0), Seconds: 7, Workers: 1,
		Rate: 2, Version: "9", OS: "plan9", Arch: "mips", CPUs: 1, Host: "elsewhere", Notes: []string{"spawn"},
	}
	for format, p := range circumstances {
		a := p.ReplaceAllString(write(t, format, richRecord(), Options{}), "")
		b := p.ReplaceAllString(write(t, format, other, Options{}), "")
		if d := cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")); d != "" {
			t.Errorf("%s: more than clocks and host differ:\n%s", format, d)
		}
	}
}

type failingWriter struct{}

var errFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestAWriteErrorIsTold(t *testing.T) {
	one := func(yield func(Case, error) bool) {
		yield(Case{Verdict: campaign.VerdictFail, Attempt: []byte(`{}`)}, nil)
	}
	for _, f := range Formats() {
		if err := f.Write(failingWriter{}, richRecord(), Options{Cases: one}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if err := FindingText(failingWriter{}, richRecord(), richFindings()[0], Options{}); !errors.Is(err, errFull) {
		t.Errorf("finding: %v", err)
	}
}

// TestNothingIsGreenThatIsNot holds that a run that judged less than all of
// its cases has a point that is not ok.
func TestNothingIsGreenThatIsNot(t *testing.T) {
	clean := cleanRecord()
	for name, change := range map[string]func(*campaign.Record){
		"stopped early":            func(r *campaign.Record) { r.Complete, r.Stopped = false, "time" },
		"no campaign":              func(r *campaign.Record) { r.Campaigns, r.Verdict = nil, "error" },
		"no case":                  func(r *campaign.Record) { r.Campaigns[0].Cases, r.Verdict = campaign.Counts{}, "error" },
		"no case before its end":   func(r *campaign.Record) { r.Campaigns[0].Cases, r.Complete = campaign.Counts{}, false },
		"cases could not be run":   func(r *campaign.Record) { r.Campaigns[0].Cases.Error = 1 },
		"failures, but no finding": func(r *campaign.Record) { r.Campaigns[0].Cases.Fail = 1 },
		"error, with no reason":    func(r *campaign.Record) { r.Verdict = "error" },
		"finding of no campaign":   func(r *campaign.Record) { r.Findings = []campaign.Finding{{ID: "F-1", Contract: "other"}} },
		"finding of a campaign": func(r *campaign.Record) {
			r.Findings = []campaign.Finding{{ID: "F-1", Contract: "fuzzspec", Campaign: "echo"}}
		},
		"a verdict that is unknown": func(r *campaign.Record) { r.Verdict = "" },
	} {
		t.Run(name, func(t *testing.T) {
			rec := cleanRecord()
			change(&rec)
			if !strings.Contains(write(t, "tap", rec, Options{}), "\nnot ok ") {
				t.Error("tap is green")
			}
			if x := write(t, "junit", rec, Options{}); !strings.Contains(x, "<failure ") && !strings.Contains(x, "<error ") {
				t.Error("junit is green")
			}
		})
	}
	if strings.Contains(write(t, "tap", clean, Options{}), "not ok") {
		t.Error("a clean run is not green")
	}
}

// A run without cases that its user accepts is neither green nor red in any format.
func TestAnAcceptedEmptyRunIsSkipped(t *testing.T) {
	none, empty := cleanRecord(), cleanRecord()
	none.Campaigns, empty.Campaigns[0].Cases = nil, campaign.Counts{}
	for name, rec := range map[string]campaign.Record{"no campaign": none, "no case": empty} {
		for format, want := range map[string]string{
			"tap": " # SKIP no case was run\n", "junit": `<skipped message="no case was run">`, "ctrf": `"skipped": 1,`,
			"github": "::notice title=Thresh::0 cases, nothing was judged: no case was run\n", "codequality": "[]\n", "sarif": `"executionSuccessful": true`,
		} {
			got := write(t, format, rec, Options{})
			if !strings.Contains(got, want) || strings.Contains(got, "not ok") || strings.Contains(got, "<error") || strings.Contains(got, `"passed": 1`) {
				t.Errorf("%s, %s: no %q in\n%s", name, format, want, got)
			}
		}
	}
}

// What a killed run lacks is not made up: it has no digest, and its time is what its journal has.
func TestReportsOfAKilledRun(t *testing.T) {
	rec := cleanRecord()
	rec.Digest, rec.Complete, rec.Stopped, rec.Environment.Finished = "", false, "interrupted", time.Time{}
	rec.Campaigns[0].Cases.Error = 2
	for format, want := range map[string]string{
		"markdown": "Run `R-clean`, 300 cases.\n", "sarif": `"executionSuccessful": false`,
		"ctrf": fmt.Sprintf(`"stop": %d`, rec.Environment.Started.UnixMilli()+121_000),
	} {
		if got := write(t, format, rec, Options{}); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", format, want, got)
		}
	}
	if got := write(t, "sarif", rec, Options{}); !strings.Contains(got, `"text": "fuzzspec/echo: 2 cases could not be run"`) {
		t.Errorf("cases without a verdict are not mentioned in\n%s", got)
	}
}

func TestShellQuoteRunsAsItWas(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	arg := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringOf(rapid.SampledFrom([]rune("a7 '\"\\$`\n\t\r\x1b\x7f!#~*\u202e\u200b日"))))
	rapid.Check(t, func(rt *rapid.T) {
		argv := rapid.SliceOfN(rapid.Map(arg, func(s string) string { return strings.ReplaceAll(s, "\x00", "") }), 1, 20).Draw(rt, "argv")
		line := shellQuote(argv)
		if line != visible(line) {
			rt.Fatalf("%q does not show all that it runs", line)
		}
		cmd := exec.Command(bash, "-c", `printf '%s\0' `+line)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		out, err := cmd.Output()
		if err != nil {
			rt.Fatal(err)
		}
		if want := strings.Join(argv, "\x00") + "\x00"; string(out) != want {
			rt.Fatalf("%s\ngives %q\nwant  %q", line, out, want)
		}
	})
}

func TestVisible(t *testing.T) {
	for give, want := range map[string]string{
		"plain": "plain", "a\x1b[31mb": `a\x1b[31mb`, "\x00": `\x00`, "\xff": `\xff`, "\u0085": `\u0085`, "\u202e": `\u202e`,
		"a\nb\tc\r": `a\nb\tc\r`, "日本語 عربي é": "日本語 عربي é", "\U000e0041": `\U000e0041`, "\u0600": "\u0600",
	} {
		if got := visible(give); got != want {
			t.Errorf("visible(%q) = %q, want %q", give, got, want)
		}
	}
}

// FuzzReports holds that no text, wherever it comes from, makes a report that
// cannot be written, or that is not what its format says.
func FuzzReports(f *testing.F) {
	f.Add("title", "body\n", uint8(3))
	f.Add(hostile, hostile, uint8(200))
	f.Add("\x80\ufffe]]>", "  ...\n1..0\nBail out!", uint8(0))
	f.Fuzz(func(t *testing.T, title, body string, n uint8) {
		rec := cleanRecord()
		rec.Verdict = "fail"
		marks := []campaign.Mark{{From: int(n) - 9, To: int(n)}, {From: 1, To: 3}}
		rec.Findings = []campaign.Finding{{
			ID: "F-" + title, Title: title, Kind: body, Contract: "fuzzspec", Campaign: "echo", Reproduce: []string{title, body},
			Evidence: []campaign.Exhibit{
				{Kind: "text", Title: title, Text: &campaign.Text{Body: body, Marks: marks}},
				{Kind: "bytes", Bytes: &campaign.Bytes{Rows: []campaign.BytesRow{
					{Label: title, Data: []byte(body), Start: int64(n), Marks: marks}, {Label: body, Data: []byte(title), Marks: marks},
				}}},
				{Kind: "diff", Diff: &campaign.Diff{Segments: []campaign.Segment{{Op: "equal", Text: strings.Repeat(body, int(n))}, {Op: title, Text: body}}}},
				{Kind: "document", Document: &campaign.Document{Body: body, Blocks: []campaign.Block{{From: int(n), To: 3, Note: title}}}},
				{Kind: "graph", Graph: &campaign.Graph{
					Nodes: []campaign.Node{{ID: title}, {ID: body}, {ID: title}},
					Edges: []campaign.Edge{{From: title, To: body}, {From: body, To: title}, {From: body, To: body, Label: title}, {From: "?", To: title}},
				}},
				{Kind: "timeline", Timeline: &campaign.Timeline{Spans: []campaign.Span{{Lane: title, Start: float64(n), End: -1}, {Lane: body}}}},
				{Kind: title},
			},
		}}
		for _, format := range Formats() {
			out := write(t, format.Name, rec, Options{})
			switch format.Name {
			case "json", "sarif":
				if !json.Valid([]byte(out)) {
					t.Errorf("%s is not JSON", format.Name)
				}
			case "junit":
				checkXML(t, out)
			case "tap":
				checkTAP(t, out)
			case "text":
				checkPlain(t, out)
			}
		}
		var b bytes.Buffer
		if err := FindingText(&b, rec, rec.Findings[0], Options{Width: int(n)}); err != nil {
			t.Fatal(err)
		}
		checkPlain(t, b.String())
	})
}

func checkPlain(t *testing.T, out string) {
	t.Helper()
	for _, line := range strings.Split(out, "\n") {
		if v := visible(line); v != line {
			t.Errorf("reaches the terminal as it is: %q", line)
		}
	}
}

var tapLine = regexp.MustCompile(`^(TAP version 14|1\.\.\d+|(not )?ok \d+ - .*|# .*|  ---|  [a-z]+: .*|  \.\.\.)$`)

func checkTAP(t *testing.T, out string) {
	t.Helper()
	plan, points := -1, 0
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if !tapLine.MatchString(line) {
			t.Errorf("no line of TAP: %q", line)
		}
		if strings.HasPrefix(line, "1..") {
			if _, err := fmt.Sscanf(line, "1..%d", &plan); err != nil {
				t.Errorf("no plan: %q", line)
			}
		}
		if at := strings.Index(line, "ok "); at == 0 || strings.HasPrefix(line, "not ok ") {
			points++
		}
	}
	if plan != points {
		t.Errorf("plan of %d for %d points", plan, points)
	}
}
