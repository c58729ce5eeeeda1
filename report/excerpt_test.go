package report

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A finding's block shows what was sent, what came back and the step that differs, and
// no more than that.
func TestExcerpt(t *testing.T) {
	reply := campaign.TextExhibit("Reply", "nothing here\nthe word is heron\n")
	reply.Text.Marks = []campaign.Mark{{From: 25, To: 30}}
	long := campaign.TextExhibit("Conversation", "0\n1\n2\n3\n4\n5\n6\n7\n")
	long.Text.Marks = []campaign.Mark{{From: 12, To: 13}}
	steps := campaign.TableExhibit("Steps", []string{"#", "the model says", "the system says"}, [][]string{{"1", "a", ""}, {"2", "b", ""}, {"3", "c", ""}, {"4", "in", "out"}, {"5", "e", ""}})
	steps.Table.Focus = []int{3}
	history := campaign.TableExhibit("History", []string{"call"}, [][]string{{"put"}, {"get"}})
	history.Table.Focus = []int{0}
	place := campaign.TextExhibit("Place", "$.functions.x")
	input := campaign.BytesExhibit("Input", campaign.BytesRow{Label: "seed", Data: []byte("one\ntwo\n")}, campaign.BytesRow{Label: "minimized", Data: []byte("two\n3\n4\n5\n6\n")})
	inputs := func(seed, made, minimized string) campaign.Exhibit {
		return campaign.BytesExhibit("Input", campaign.BytesRow{Label: "seed", Data: []byte(seed)},
			campaign.BytesRow{Label: "case", Data: []byte(made)}, campaign.BytesRow{Label: "minimized", Data: []byte(minimized)})
	}
	for name, x := range map[string]struct {
		list []campaign.Exhibit
		want string
	}{
		"child and reply": {[]campaign.Exhibit{campaign.TextExhibit("Child", "say it"), reply, steps},
			"  Child:\n    say it\n  Reply:\n    nothing here\n    the word is heron\n"},
		"the end of a long text": {[]campaign.Exhibit{long}, "  Conversation:\n    2\n    3\n    4\n    5\n    6\n    7\n    [2 more lines; thresh show F-1 shows all]\n"},
		"steps": {[]campaign.Exhibit{steps, place},
			"  Steps:\n    #  the model says  the system says\n    2  b\n    3  c\n    4  in              out\n    [2 more lines; thresh show F-1 shows all]\n"},
		"what follows the row that matters": {[]campaign.Exhibit{history}, "  History:\n    call\n    put\n    get\n"},
		"what leads": {[]campaign.Exhibit{place, steps}, "  Place:\n    $.functions.x\n  Steps:\n    #  the model says  the system says\n    2  b\n    3  c\n" +
			"    4  in              out\n    [2 more lines; thresh show F-1 shows all]\n"},
		"the smallest input": {[]campaign.Exhibit{input, campaign.TextExhibit("Standard error", "boom")},
			"  Input, minimized, 12 B:\n    two\n    3\n    4\n    5\n    [1 more line]\n  Standard error:\n    boom\n"},
		"the smallest input of a case that cannot be read": {[]campaign.Exhibit{inputs("one", strings.Repeat("\x80\x81", 20), "two")}, "  Input, minimized, 3 B:\n    two\n"},
		"a smallest input of blanks":                       {[]campaign.Exhibit{inputs("one", "  1", "  ")}, "  Input, minimized, 2 B:\n    \"  \"\n"},
		"a smallest input without bytes":                   {[]campaign.Exhibit{inputs("one", "", "")}, "  Input: no bytes\n"},
		"nothing":                                          {nil, ""},
	} {
		s := newScreen(Options{Width: 80})
		if s.excerpt(&campaign.Finding{ID: "F-1", Evidence: x.list}); s.String() != x.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.ReplaceAll(s.String(), "\t", "→"), x.want)
		}
	}
}

// A smaller reproducer that could not be run again is not said to have held.
func TestMinimizedWithoutResult(t *testing.T) {
	for noResult, want := range map[bool]string{true: "running it again had no result", false: "it did not fail again after shrinking"} {
		s := newScreen(Options{Width: 100})
		if s.minimized(&campaign.Finding{Minimized: &campaign.Minimal{Size: 1, From: 2, Tries: 3, NoResult: noResult}}); s.String() != "  minimized:   2 B -> 1 B, 3 executions, not verified: "+want+"\n" {
			t.Error(s.String())
		}
	}
}

// An input that nothing smaller was found for is said to be the smallest only if the search came to its end.
func TestMinimizedToItself(t *testing.T) {
	for spent, want := range map[bool]string{true: "  minimized:   found nothing smaller, 4 executions, budget ended\n", false: ""} {
		s := newScreen(Options{Width: 100})
		f := campaign.Finding{Samples: []campaign.Sample{{Blob: "b"}}, Minimized: &campaign.Minimal{Blob: "b", Size: 9, From: 9, Tries: 4, Verified: true, Spent: spent}}
		if s.minimized(&f); s.String() != want {
			t.Errorf("%q, want %q", s.String(), want)
		}
	}
}

// Columns that hold nothing are left out, and words stay whole where there is room.
func TestGridKeepsWordsWhole(t *testing.T) {
	s := newScreen(Options{Width: 60})
	s.grid(0, []string{"#", "actor", "arguments", "what the model says", "what the system says"},
		[][]string{{"1", "", "account_id=Account#1, amount=2", "no change; balance differs from the model after withdraw", "balance(Account#1) is 0"}}, nil)
	if got := s.String(); strings.Contains(got, "actor") || !strings.Contains(got, "account_id=Account#1,") || !strings.Contains(got, "balance(Account#1)") {
		t.Error("\n" + got)
	}
}

// The last lines of a run that was killed say what is known of it.
func TestKilledRunSaysWhatIsKnown(t *testing.T) {
	rec := campaign.Record{RunID: "r1-1", Verdict: "fail", Stopped: "interrupted", Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Cases: campaign.Counts{Run: 50, Pass: 11, Fail: 39}}}}
	var b strings.Builder
	if err := writeText(&b, rec, Options{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "not complete: interrupted · 39 failing cases, not grouped into findings yet") || strings.Contains(text, "digest") || strings.Contains(text, "0/s") {
		t.Error(text)
	}
}
