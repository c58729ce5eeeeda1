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
	Name      string // the name on the command line
	Extension string // of files in this format, with its dot
	Summary   string // one line for help texts
	Write     func(w io.Writer, rec campaign.Record, opt Options) error
}

// Options say what a reader wants in a report. The zero value gives a plain report, 100 columns
// wide where width matters.
type Options struct {
	Color bool // use escape sequences; only for text
	Width int  // columns of the terminal, at least 60; 0: 100
	// Blob returns the content at an address in the store that the record names. With it, the
	// reports for people show whole reproducers; without it, the record's previews.
	Blob func(id string) ([]byte, error)
	// Cases yields the cases of the run; nil if they are unknown. Without them, formats that list
	// cases show only what the record has.
	Cases Cases
	// CaseLink returns the address of a case's page for links from exhibits, such as a cell of a
	// matrix; "" for none. If CaseLink is nil, the single page links to the finding that begins
	// with the case.
	CaseLink func(contract, campaign string, index int64) string
	// Folder is the folder to which names of source files are relative, for links to an editor; "":
	// none.
	Folder string
	// Card: the finding is one of many on a page and has a page of its own with all evidence.
	Card bool
	// Report is the command that reports the run; nil: none. The text report names it where it cuts
	// something.
	Report []string
	// Ran: the text appears at the end of a run and shows only some of many texts.
	Ran bool
	// Told lists warnings that the reader of the text has just seen.
	Told []string
	// Since is what changed since an earlier run; nil if nothing was compared.
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

// FormatsOf returns the formats that have content for a run.
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
