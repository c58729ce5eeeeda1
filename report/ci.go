package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Formats of single code hosts or dashboards. Like everywhere, they show findings and whatever kept
// a run from being complete.

// place returns where a finding is: the source line where it struck, or the line of the document
// that its evidence points to first. Line 0 means unknown.
func place(f *campaign.Finding, source string) (file string, at int) {
	if f == nil {
		return source, 0
	}
	for i := range f.Evidence {
		d := f.Evidence[i].Document
		if d == nil {
			continue
		}
		line, size := 0, 0
		for _, b := range d.Blocks { // the smallest block is the closest
			if n := b.To - b.From + 1; b.Verdict == campaign.VerdictFail && b.From > 0 && (line == 0 || n < size) {
				line, size = b.From, n
			}
		}
		if line == 0 {
			continue
		}
		if d.Line > 0 { // the exhibit names a file of its own, such as the end of a stack trace
			source = d.Name
		}
		return source, line + max(d.First, 1) - 1
	}
	return source, 0
}

// problem is a point that is not ok, with its place.
type problem struct {
	point
	File  string
	Line  int
	Suite string // "": the run as a whole
}

func problems(rec *campaign.Record) []problem {
	var out []problem
	for _, s := range suites(rec) {
		file, name := "", ""
		if c := s.Campaign; c != nil {
			file, name = c.Source, c.Contract+"/"+c.Name
		}
		for _, p := range s.Points {
			if p.Status == failed || p.Status == errored {
				at, line := place(p.Finding, file)
				out = append(out, problem{p, at, max(line, 1), name})
			}
		}
	}
	return out
}

// summary describes a problem in one line.
func (p *problem) summary() string {
	if p.Finding != nil {
		text := brief(p.Finding.Title)
		if l := flakyLabel(p.Finding); l != "" {
			text += " (" + l + ")"
		}
		return text
	}
	return brief(strings.TrimSuffix(p.Name+": "+p.Detail, ": "))
}

type qualityIssue struct {
	Description string          `json:"description"`
	Check       string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// writeQuality writes the report that GitLab shows in merge requests.
func writeQuality(w io.Writer, rec campaign.Record, _ Options) error {
	list := []qualityIssue{}
	for _, p := range problems(&rec) {
		x := qualityIssue{p.summary(), "thresh", p.Suite + "/" + p.ID, "blocker", qualityLocation{cmp.Or(strings.TrimPrefix(p.File, "./"), "."), qualityLines{p.Line}}}
		if f := p.Finding; f != nil {
			x.Check, x.Fingerprint = f.Contract+"/"+f.Kind, cmp.Or(f.ID, f.Fingerprint)
			x.Severity = [...]string{"info", "minor", "major", "critical", "blocker"}[min(int(f.Severity), 4)]
		}
		list = append(list, x)
	}
	return writeIndented(w, "codequality", rec.RunID, list)
}

func writeIndented(w io.Writer, format, run string, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write %s report of run %s: %w", format, run, err)
	}
	return nil
}

type ctrfReport struct {
	Format  string      `json:"reportFormat"`
	Version string      `json:"specVersion"`
	Results ctrfResults `json:"results"`
}

type ctrfResults struct {
	Tool    ctrfTool    `json:"tool"`
	Summary ctrfSummary `json:"summary"`
	Tests   []ctrfTest  `json:"tests"`
}

type ctrfTool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type ctrfSummary struct {
	Tests   int   `json:"tests"`
	Passed  int   `json:"passed"`
	Failed  int   `json:"failed"`
	Pending int   `json:"pending"`
	Skipped int   `json:"skipped"`
	Other   int   `json:"other"`
	Start   int64 `json:"start"` // milliseconds since 1970
	Stop    int64 `json:"stop"`
}

type ctrfTest struct {
	Name     string   `json:"name"`
	Status   string   `json:"status"`
	Duration int64    `json:"duration"` // milliseconds; 0: unknown
	Suite    []string `json:"suite,omitempty"`
	Message  string   `json:"message,omitempty"`
	Line     int      `json:"line,omitempty"`
	File     string   `json:"filePath,omitempty"`
	Type     string   `json:"type,omitempty"`
	Flaky    bool     `json:"flaky,omitempty"`
	Extra    any      `json:"extra,omitempty"`
}

// writeCTRF writes the Common Test Report Format.
func writeCTRF(w io.Writer, rec campaign.Record, opt Options) error {
	list, err := named(&rec, opt)
	if err != nil {
		return fmt.Errorf("write ctrf report of run %s: %w", rec.RunID, err)
	}
	out := ctrfReport{Format: "CTRF", Version: "0.0.0", Results: ctrfResults{Tool: ctrfTool{"Thresh", rec.Environment.Version}, Tests: []ctrfTest{}}}
	sum := &out.Results.Summary
	if e := rec.Environment; !e.Started.IsZero() {
		sum.Start, sum.Stop = e.Started.UnixMilli(), max(e.Started.UnixMilli(), e.Finished.UnixMilli())
		if e.Finished.IsZero() { // a killed run
			sum.Stop += int64(1000 * max(0, finite(e.Seconds)))
		}
	}
	for _, s := range list {
		var suite []string
		file := ""
		if c := s.Campaign; c != nil {
			suite, file = []string{c.Contract, c.Name}, c.Source
		}
		for _, p := range s.Points {
			t := ctrfTest{Name: p.ID, Suite: suite, File: file, Duration: p.Elapsed.Milliseconds()}
			x := problem{point: p}
			switch p.Status {
			case held:
				t.Status, sum.Passed = "passed", sum.Passed+1
			case skipped:
				t.Status, t.Message, sum.Skipped = "skipped", p.Detail, sum.Skipped+1
			case failed:
				t.Status, t.Message, sum.Failed = "failed", x.summary(), sum.Failed+1
			default: // readers must not take an unjudged case for a passed one
				t.Status, t.Message, sum.Failed = "failed", "not judged: "+x.summary(), sum.Failed+1
			}
			if f := p.Finding; f != nil {
				t.File, t.Line = place(f, file)
				t.Type, t.Flaky = f.Kind, f.Flaky
				t.Extra = map[string]string{"id": f.ID, "severity": f.Severity.String(), "reproduce": shellQuote(f.Reproduce)}
			}
			out.Results.Tests = append(out.Results.Tests, t)
		}
	}
	sum.Tests = len(out.Results.Tests)
	return writeIndented(w, "ctrf", rec.RunID, out)
}

// writeGitHub writes workflow commands, which GitHub Actions shows as annotations beside the code.
func writeGitHub(w io.Writer, rec campaign.Record, _ Options) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, p := range problems(&rec) {
		level, title, text := "error", "Thresh", p.summary()
		if f := p.Finding; f != nil {
			level = map[string]string{"error": "error", "warning": "warning", "note": "notice"}[sarifLevel(f.Severity)]
			title = "Thresh " + f.Severity.String() + " " + visible(f.ID)
			if len(f.Reproduce) > 0 {
				text += "\nreproduce: " + visible(shellQuote(f.Reproduce))
			}
		}
		at := ""
		if p.File != "" {
			at = fmt.Sprintf("file=%s,line=%d,", property.Replace(visible(p.File)), p.Line)
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", level, at, property.Replace(title), data.Replace(text))
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "::notice title=Thresh::%s\n", data.Replace(casesRun(&rec)+", "+headline(&rec)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write github report of run %s: %w", rec.RunID, err)
	}
	return nil
}
