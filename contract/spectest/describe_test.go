package spectest

import (
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
)

// The document says at every block how it went, and at the line that failed
// what was expected of it.
func TestDocumentShowsWhatFailed(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := "# Notes\n\n" + blockDocument("id: A-1\ntype: text.file\npath: notes.txt\nassert:\n  - target: text\n    must:\n      - contain: [\"one\"]\n      - contain: [\"two\"]\n",
		"id: A-2\ntype: text.file\npath: notes.txt\nassert:\n  - target: text\n    must:\n      - contain: [\"one\"]\n")
	write(t, "notes.txt", []byte("one\n"))
	k := newContract(nil)
	_, outcomes := play(t, k, doc, nil)
	camps, _ := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, campaign.Settings{Options: map[string][]string{}})
	c, _ := campaign.As[*Campaign](camps[0])
	var results iter.Seq2[campaign.Case, campaign.Outcome] = func(yield func(campaign.Case, campaign.Outcome) bool) {
		for i, o := range outcomes {
			if !yield(campaign.Case{Index: int64(i)}, o) {
				return
			}
		}
	}
	shown := c.exhibits(c.Fold(c.Start(campaign.Facts{}), results))
	if len(shown) != 1 || shown[0].Document == nil {
		t.Fatalf("shown: %+v", shown)
	}
	first, second := int64(0), int64(1) // a line leads to the case that was judged by it
	want := []campaign.Block{
		{From: 3, To: 12, Verdict: campaign.VerdictFail, Note: "A-1", Case: &first},
		{From: 14, To: 22, Verdict: campaign.VerdictPass, Note: "A-2", Case: &second},
		{From: 11, To: 11, Verdict: campaign.VerdictFail, Note: `expected text to contain "two"`, Case: &first},
	}
	if d := cmp.Diff(want, shown[0].Document.Blocks); d != "" {
		t.Error(d)
	}
}

// A case has one finding, of the first check that fails, which shows all that do.
func TestAllFailedChecksAreShown(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: A-1\ntype: cli.run\nharness: {entrypoint: /bin/sh}\nargv: [-c, 'echo Bob token; exit 3']\nexit_code: 0\n" +
		"assert:\n  - target: stdout\n    must:\n      - contain: [Bob, Ada]\n      - evaluate: [[eq, [subject], Eve]]\n  - target: stderr\n    must:\n      - contain: [none]\n")
	set := map[string][]string{optVar: {"TOKEN"}}
	k := newContract(map[string]string{"TOKEN": "Bob token"})
	_, outcomes := play(t, k, doc, set)
	if got, want := outcomes[0].Title, "a.spec.md:6 A-1: expected exit code 0, not 3"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	camps, _ := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, campaign.Settings{Options: set})
	c, _ := campaign.As[*Campaign](camps[0])
	shown := c.Describe(nil, campaign.Case{}, outcomes[0], nil)
	texts := map[string]string{}
	for _, e := range shown {
		if e.Text != nil {
			texts[e.Title] = e.Text.Body
		} else if got := len(e.Document.Blocks); got != 4 {
			t.Errorf("%d lines are marked", got)
		}
	}
	want := map[string]string{
		"Failure": "a.spec.md:6 A-1  exit_code  (first of 4 checks that failed)\nexpected: exit code 0, not 3\nstdout:   \"${TOKEN}\"\n" +
			"also:     line 10: expected stdout to contain \"Ada\"\nalso:     line 11: expected stdout to satisfy [\"eq\",[\"subject\"],\"Eve\"]\n" +
			"also:     line 14: expected stderr to contain \"none\"\n",
		"More checks that failed": "a.spec.md:10 A-1  assert[0].must[0]  stdout contain\nexpected: stdout to contain \"Ada\"\nactual:   \"${TOKEN}\\n\"\n" +
			"\na.spec.md:11 A-1  assert[0].must[1]  stdout evaluate\nexpected: stdout to satisfy [\"eq\",[\"subject\"],\"Eve\"]\nactual:   \"${TOKEN}\\n\"\n" +
			"\na.spec.md:14 A-1  assert[1].must[0]  stderr contain\nexpected: stderr to contain \"none\"\nactual:   nothing\n",
	}
	for title, text := range want {
		if d := cmp.Diff(text, texts[title]); d != "" {
			t.Error(title, d)
		}
	}
}

// What a command or a service reports of its failure is marked as that, with what of the
// system it was.
func TestReportOf(t *testing.T) {
	said := func(name, text string) campaign.Outcome {
		return campaign.Outcome{Evidence: []campaign.Attachment{{Name: name, Data: []byte(text)}}}
	}
	cli, web := &Case{cli: &cliRun{entry: "orders"}}, &Case{http: &httpCall{method: "GET", url: "http://127.0.0.1:80/orders/17/lines?page=2"}}
	exit, status := &Failure{Op: "exit_code"}, &Failure{Op: "contain", Target: "status"}
	for name, x := range map[string]struct {
		c              *Case
		f              *Failure
		o              campaign.Outcome
		report, system string
	}{
		"standard error":   {cli, exit, said("stderr", "boom"), "stderr", "orders"},
		"another check":    {cli, status, said("stderr", "boom"), "", ""},
		"an error answer":  {web, status, said("answer", "status 503\n\nboom"), "answer", "GET http://*/orders/*/lines 503"},
		"no error answer":  {web, status, said("answer", "status 200\n\nfine"), "", ""},
		"nothing answered": {web, status, campaign.Outcome{}, "", ""},
		"no such system":   {&Case{system: &systemCall{}}, status, said("answer", "x"), "", ""},
	} {
		if report, system := reportOf(x.c, x.f, x.o); report != x.report || system != x.system {
			t.Errorf("%s: %q of %q, want %q of %q", name, report, system, x.report, x.system)
		}
	}
}

// What a command wrote is no report of a failure if it did not fail but was to: two such
// cases have two causes.
func TestSuccessReportsNoFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	for exit, want := range map[string]string{"0": "", "3": "/bin/sh"} {
		doc := blockDocument("id: A-1\ntype: cli.run\nharness: {entrypoint: /bin/sh}\nargv: [-c, 'echo x1; exit " + exit + "']\nexit_code: 5\n")
		k := newContract(nil)
		_, outcomes := play(t, k, doc, nil)
		camps, _ := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, campaign.Settings{Options: map[string][]string{}})
		c, _ := campaign.As[*Campaign](camps[0])
		got := ""
		for _, e := range c.Describe(nil, campaign.Case{}, outcomes[0], nil) {
			if e.Text != nil {
				got += e.Text.ReportOf
			}
		}
		if got != want {
			t.Errorf("exit code %s: a report of %q, want %q", exit, got, want)
		}
	}
}
