package campaign_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

func TestCauseOf(t *testing.T) {
	source := func(name string, line int) campaign.Exhibit {
		return campaign.Exhibit{Kind: "document", Document: &campaign.Document{Name: name, Line: line}}
	}
	events := func(label string) campaign.Exhibit {
		return campaign.Exhibit{Kind: "timeline", Timeline: &campaign.Timeline{Spans: []campaign.Span{{Lane: "agent", Label: label}}}}
	}
	minimal := func(blob string, verified bool) campaign.Finding {
		return campaign.Finding{Minimized: &campaign.Minimal{Blob: blob, Verified: verified}}
	}
	with := func(list ...campaign.Exhibit) campaign.Finding { return campaign.Finding{Evidence: list} }
	raised := func(class, kind string) campaign.Finding {
		return campaign.Finding{Evidence: []campaign.Exhibit{source("calc.py", 22)}, Cause: []string{class, "exit 1", kind, "calc.py:term"}}
	}
	elsewhere := with(events("silence"))
	elsewhere.Campaign = "another"
	loops := with(events("silence"))
	loops.Kind = "call-loop"
	for _, x := range []struct {
		name string
		a, b campaign.Finding
		same bool
	}{
		{"one line of a program", with(source("parse.py", 9), events("a")), with(source("parse.py", 9), events("b")), true},
		{"two exceptions of one line", raised("exception", "TypeError"), raised("exception", "ZeroDivisionError"), false},
		{"one exception of one line", raised("exception", "TypeError"), raised("exception", "TypeError"), true},
		{"two accesses of one line", raised("sanitizer", "heap-buffer-overflow"), raised("sanitizer", "heap-use-after-free"), true},
		{"two lines", with(source("parse.py", 9)), with(source("parse.py", 10)), false},
		{"a line of the document says nothing of the cause", with(source("doc.yaml", 9), events("a")), with(source("doc.yaml", 9), events("b")), false},
		{"the same took place", with(source("doc.yaml", 3), events("silence")), with(source("doc.yaml", 4), events("silence")), true},
		{"another kind in the same course of events", loops, with(events("silence")), false},
		{"the same in another campaign", with(events("silence")), elsewhere, false},
		{"one smallest input", minimal("x", true), minimal("x", true), true},
		{"two inputs", minimal("x", true), minimal("y", true), false},
		{"inputs that did not fail again", minimal("x", false), minimal("x", false), false},
		{"nothing known", with(), with(), false},
	} {
		a, b := campaign.CauseOf(&x.a, "doc.yaml"), campaign.CauseOf(&x.b, "doc.yaml")
		if same := a == b && a != ""; same != x.same {
			t.Errorf("%s: %q and %q", x.name, a, b)
		}
	}
}

func TestByCause(t *testing.T) {
	list := strings.Fields("a1 b1 - a2 - b2")
	got := campaign.ByCause(list, func(s string) string { return strings.Trim(s, "-12") })
	var words []string
	for _, g := range got {
		words = append(words, strings.Join(g, "+"))
	}
	if s := strings.Join(words, " "); s != "a1+a2 b1+b2 - -" {
		t.Error(s)
	}
}
