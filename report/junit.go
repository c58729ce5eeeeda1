package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// JUnit XML has no single standard. These types are the part that Jenkins, GitLab and GitHub
// Actions all read: attributes for counts, classname and name as the identity of a test over time,
// text inside failure and error.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr,omitempty"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Err        *junitText      `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr,omitempty"` // "": unknown
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitSkipped `xml:"skipped"`
	Out     *junitText    `xml:"system-out"`
}

type junitText struct {
	Body string `xml:",cdata"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Body    string `xml:",cdata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

func writeJUnit(w io.Writer, rec campaign.Record, opt Options) error {
	all := junitSuites{Name: "thresh " + xmlText(rec.RunID), Time: seconds(rec.Environment.Seconds)}
	list, err := named(&rec, opt)
	if err != nil {
		return fmt.Errorf("write junit report of run %s: %w", rec.RunID, err)
	}
	for i, s := range list {
		js := junitOf(s, &rec, opt)
		if len(list) == 1 {
			js.Time = all.Time // the time of one campaign among several is unknown
		}
		if i == 0 && len(rec.Warnings) > 0 {
			js.Err = &junitText{xmlText("warning: " + strings.Join(rec.Warnings, "\nwarning: "))}
		}
		all.Tests += js.Tests
		all.Failures += js.Failures
		all.Errors += js.Errors
		all.Skipped += js.Skipped
		all.Suites = append(all.Suites, js)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	}
	if err != nil {
		return fmt.Errorf("write junit report of run %s: %w", rec.RunID, err)
	}
	return nil
}

func junitOf(s suite, rec *campaign.Record, opt Options) junitSuite {
	js := junitSuite{Name: "thresh", Tests: len(s.Points)}
	if t := rec.Environment.Started; !t.IsZero() {
		js.Timestamp = t.UTC().Format("2006-01-02T15:04:05")
	}
	class, file := "thresh", ""
	js.Properties = []junitProperty{{"run", xmlText(rec.RunID)}, {"digest", xmlText(rec.Digest)}}
	if c := s.Campaign; c != nil {
		js.Name = xmlText(c.Contract + "." + c.Name)
		class, file = js.Name, xmlText(c.Source)
		js.Properties = append(js.Properties, campaignProperties(c)...)
	}
	for _, p := range s.Points {
		jc := junitCase{Class: class, Name: xmlText(p.ID), File: file}
		if p.Elapsed > 0 {
			jc.Time = seconds(p.Elapsed.Seconds())
		}
		if p.Finding != nil && file != "" {
			jc.File, jc.Line = place(p.Finding, s.Campaign.Source)
			jc.File = xmlText(jc.File)
		}
		switch p.Status {
		case held:
			if p.Name != p.ID {
				jc.Out = &junitText{xmlText(p.Name)}
			}
		case failed:
			js.Failures++
			jc.Failure = junitFailure(p, opt)
		case errored:
			js.Errors++
			jc.Error = &junitProblem{Type: "error", Message: xmlText(p.Name), Body: xmlText(p.Detail)}
		case skipped:
			js.Skipped++
			jc.Skipped = &junitSkipped{Message: xmlText(cmp.Or(p.Detail, p.Name))}
		}
		js.Cases = append(js.Cases, jc)
	}
	return js
}

func campaignProperties(c *campaign.CampaignRecord) []junitProperty {
	ps := []junitProperty{
		{"identity", xmlText(c.Identity)},
		{"cases.planned", strconv.FormatInt(c.Cases.Planned, 10)},
		{"cases.run", strconv.FormatInt(c.Cases.Run, 10)},
		{"cases.pass", strconv.FormatInt(c.Cases.Pass, 10)},
		{"cases.fail", strconv.FormatInt(c.Cases.Fail, 10)},
		{"cases.skip", strconv.FormatInt(c.Cases.Skip, 10)},
		{"cases.error", strconv.FormatInt(c.Cases.Error, 10)},
	}
	if c.Score != nil {
		ps = append(ps, junitProperty{"score", strconv.FormatFloat(*c.Score, 'g', -1, 64)})
	}
	return ps
}

// junitEvidence is how many bytes the text of one failure has at most, because readers keep all of
// it in memory.
const junitEvidence = 32 << 10

func junitFailure(p point, opt Options) *junitProblem {
	f := p.Finding
	if f == nil {
		return &junitProblem{Type: "failure", Message: xmlText(p.Name), Body: xmlText(p.Detail)}
	}
	s := newScreen(Options{Blob: opt.Blob})
	s.findingBody(f, opt)
	body := head(s.String(), junitEvidence)
	if len(body) < len(s.String()) {
		body += fmt.Sprintf("\n[cut: the first %s of %s of evidence]\n", size(junitEvidence), size(int64(len(s.String()))))
	}
	if len(f.Reproduce) > 0 {
		body += "\nreproduce: " + shellQuote(f.Reproduce) + "\n"
	}
	return &junitProblem{Type: xmlText(f.Kind), Message: xmlText(f.Title), Body: xmlText(body)}
}

func seconds(s float64) string { return strconv.FormatFloat(finite(s), 'f', 3, 64) }

// xmlText returns text that XML 1.0 can hold: invisible characters, which include all that XML
// forbids, are escaped.
func xmlText(s string) string { return join(pieces(s, true)) }
