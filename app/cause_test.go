package app

import (
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
	talk := func(asked, answered string) campaign.Exhibit {
		e := events("asked")
		e.Timeline.Spans = []campaign.Span{{Lane: "agent", Kind: "message", Note: asked}, {Lane: "agent", Kind: "message", Note: answered}}
		return e
	}
	minimal := func(blob string, verified bool) campaign.Finding {
		return campaign.Finding{Minimized: &campaign.Minimal{Blob: blob, Verified: verified}}
	}
	report := func(of, text string, more ...campaign.Exhibit) campaign.Finding {
		return campaign.Finding{Evidence: append(more, campaign.Exhibit{Kind: "text", Text: &campaign.Text{Body: text, ReportOf: of}})}
	}
	said := func(text string) campaign.Exhibit {
		return campaign.Exhibit{Kind: "text", Text: &campaign.Text{Body: text, ReportOf: "agent"}}
	}
	group := func(f campaign.Finding) string {
		(&framer{}).explain("doc.yaml", &f)
		return f.Group
	}
	with := func(list ...campaign.Exhibit) campaign.Finding { return campaign.Finding{Evidence: list} }
	raised := func(class, kind string) campaign.Finding {
		return campaign.Finding{Evidence: []campaign.Exhibit{source("calc.py", 22)}, Cause: []string{class, "exit 1", kind, "calc.py:term"}}
	}
	crashed := func(access, function string) campaign.Finding {
		return campaign.Finding{Evidence: []campaign.Exhibit{source("calc.c", 22)}, Cause: []string{"signal", access, function, "main (calc.c:40)"}}
	}
	elsewhere := with(events("silence"))
	elsewhere.Campaign = "another"
	loops := with(events("silence"))
	loops.Kind = "call-loop"
	canned := with(talk("When?", "Sorry, something went wrong."))
	canned.Kind = "excludes_pattern"
	for _, x := range []struct {
		name string
		a, b campaign.Finding
		same bool
	}{
		{"one line of a program", with(source("parse.py", 9), events("a")), with(source("parse.py", 9), events("b")), true},
		{"two exceptions of one line", raised("exception", "TypeError"), raised("exception", "ZeroDivisionError"), false},
		{"one exception of one line", raised("exception", "TypeError"), raised("exception", "TypeError"), true},
		{"two accesses of one line", raised("sanitizer", "heap-buffer-overflow"), raised("sanitizer", "heap-use-after-free"), true},
		{"a division and an access of one line", raised("signal", "SIGFPE"), raised("signal", "heap damage"), false},
		{"two functions of one line", crashed("read", "term (calc.c:22)"), crashed("read", "sum (calc.c:22)"), false},
		{"two reads of one line", crashed("read", "term (calc.c:22:9)"), crashed("read", "term (calc.c:22:31)"), false},
		{"damage and an access of one function", crashed("stack damage", "term"), crashed("write", "term (calc.c:22)"), true},
		{"one division of one line", raised("signal", "SIGFPE"), raised("signal", "SIGFPE"), true},
		{"two lines", with(source("parse.py", 9)), with(source("parse.py", 10)), false},
		{"a line of the document says nothing of the cause", with(source("doc.yaml", 9), events("a")), with(source("doc.yaml", 9), events("b")), false},
		{"the same took place", with(source("doc.yaml", 3), events("silence")), with(source("doc.yaml", 4), events("silence")), true},
		{"one answer to two questions", with(talk("Where is it?", "Sorry, something went wrong.")), with(talk("When?", "Sorry, something went wrong.")), true},
		{"one answer that breaks two invariants", with(talk("Where is it?", "Sorry, something went wrong.")), canned, true},
		{"two answers", with(talk("When?", "Sorry, something went wrong.")), with(talk("When?", "It is lost, I fear.")), false},
		{"one word says nothing of the cause", with(talk("Where is it?", "Yes.")), with(talk("When?", "Yes.")), false},
		{"another kind in the same course of events", loops, with(events("silence")), false},
		{"the same in another campaign", with(events("silence")), elsewhere, false},
		{"one smallest input", minimal("x", true), minimal("x", true), true},
		{"two inputs", minimal("x", true), minimal("y", true), false},
		{"inputs that did not fail again", minimal("x", false), minimal("x", false), false},
		{"one report of a program", report("orders", "ready in 3 ms\nerror: no rate in order 3\n"), report("orders", "ready in 14 ms\nerror: no rate in order 14\n"), true},
		{"one report of two programs", report("orders", "error: no rate"), report("prices", "error: no rate"), false},
		{"two reports", report("orders", "error: no rate"), report("orders", "error: no price"), false},
		{"one error in JSON", report("GET /orders/*", `{"id": 3, "error": "no rate"}`), report("GET /orders/*", `{"id": 14, "error": "no rate"}`), true},
		{"two errors in JSON", report("GET /orders/*", `{"error": "no rate"}`), report("GET /orders/*", `{"error": "no price"}`), false},
		{"two reports of one line", report("orders", "error: no rate", source("fail.py", 3)), report("orders", "error: no price", source("fail.py", 3)), false},
		{"one report of one line by two programs", report("orders", "error: no rate", source("rates.py", 3)), report("prices", "error: no rate", source("rates.py", 3)), true},
		{"a status is not a report", report("agent", "(no answer: refused: HTTP 500: Internal Server Error)\n"), report("agent", "(no answer: refused: HTTP 500: Internal Server Error)\n"), false},
		{"a status of a service is not a report", report("GET /orders/*", "status 500\n\nInternal Server Error"), report("GET /orders/*", "status 500\n\nInternal Server Error"), false},
		{"the reason beside a status", report("agent", `(no answer: refused: HTTP 500: {"error": "Internal Server Error: no rate"})`), report("agent", `(no answer: refused: HTTP 500: {"error": "Internal Server Error: no rate"})`), true},
		{"two reports, one of them the same", report("agent", "(no answer: no rate)", said("POST /chat 500")), report("agent", "(no answer: no price)", said("POST /chat 500")), false},
		{"empty reports", report("orders", ""), report("orders", ""), false},
		{"nothing known", with(), with(), false},
	} {
		a, b := group(x.a), group(x.b)
		if same := a == b && a != ""; same != x.same {
			t.Errorf("%s: %q and %q", x.name, a, b)
		}
	}
}
