package report

import (
	"io"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Format is one way to write a record.
type Format struct {
	Name      string // the word on the command line
	Extension string // of files of this format, with its dot
	Summary   string // one line for help texts
	Write     func(w io.Writer, rec campaign.Record, opt Options) error
}

// Options are what a reader wants of a report. The zero value is a plain
// report, 100 columns wide where width matters.
type Options struct {
	Color bool // escape sequences for a terminal; for text alone
	Width int  // columns of the terminal, taken as at least 60; 0: 100
	// Blob returns a content that the record names by its address in the
	// store. With it the reports for people show whole reproducers; without
	// it, the previews that the record holds.
	Blob func(id string) ([]byte, error)
	// Cases yields the cases of the run, nil if they are not known. Formats
	// that list them say then no more than the record does.
	Cases Cases
	// CaseLink is where a page leads from what shows a case, such as a cell of a
	// matrix; "" for nowhere. Without it the single page leads to the finding
	// that begins with the case.
	CaseLink func(contract, campaign string, index int64) string
	// Folder is that which names of source files are relative to, for links to an
	// editor; "" for none.
	Folder string
	// Card: the finding is one of many on a page, and has one of its own with all evidence.
	Card bool
	// Report is the command that reports the run, nil if none does: text names it where
	// something is cut.
	Report []string
	// Ran: the text ends a run, and shows fewer of many texts.
	Ran bool
	// Told are warnings that whoever reads the text has just seen.
	Told []string
	// Since is what changed since an earlier run; nil if nobody looked.
	Since *Since
}

// Formats returns every format, in the order in which help texts list them.
func Formats() []Format {
	return []Format{
		{"text", ".txt", "findings, counts and a verdict for a terminal", writeText},
		{"json", ".json", "everything, by the schema " + SchemaID, writeJSON},
		{"junit", ".xml", "JUnit XML for Jenkins, GitLab and GitHub Actions", writeJUnit},
		{"sarif", ".sarif", "SARIF 2.1.0 for code scanning", writeSARIF},
		{"tap", ".tap", "TAP version 14", writeTAP},
		{"jsonl", ".jsonl", "a line of JSON for each case and finding, and for the run", writeLines},
		{"html", ".html", "one self-contained page", writeHTML},
		{"markdown", ".md", "a comment for a merge request or a step's summary, new findings first", writeMarkdown},
		{"github", ".annotations", "annotations of GitHub Actions", writeGitHub},
		{"codequality", ".codequality.json", "the Code Quality report of GitLab", writeQuality},
		{"ctrf", ".ctrf.json", "the Common Test Report Format", writeCTRF},
		{"hits", ".hits.jsonl", "the prompts that got past the system, a line of JSON each, with fields of garak and promptfoo", writeHits},
		{"attempts", ".attempts.jsonl", "the same for every prompt that was judged", writeAll},
	}
}

// FormatsOf are the formats in which there is something to say of a run.
func FormatsOf(rec *campaign.Record) []Format {
	sent, hits := false, false
	for i := range rec.Campaigns {
		c := &rec.Campaigns[i]
		sent, hits = sent || c.Prompts, hits || c.Prompts && c.Cases.Fail > 0
	}
	return slices.DeleteFunc(Formats(), func(f Format) bool { return f.Name == "hits" && !hits || f.Name == "attempts" && !sent })
}

// ByName returns the format of that name.
func ByName(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	hint := diag.DidYouMean(name, names)
	if hint != "" {
		hint = ", " + hint
	}
	return Format{}, diag.Refused("no report format %q%s (formats: %s)", name, hint, strings.Join(names, ", "))
}
