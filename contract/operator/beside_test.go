package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/textop"
)

// A judge that fails beside other findings alone is noted, with its cases and the first child.
func TestJudgesBesideOthers(t *testing.T) {
	v := judged{broken: "a", opinions: []judgement{{Judge: "a"}, {Judge: "b"}, {Judge: "c", Holds: true}, {Judge: "b"}, {Reason: "it crashed"}}}
	if got := v.beside(true); !slices.Equal(got, []string{"b"}) {
		t.Errorf("beside a: %q", got)
	}
	if got := v.beside(false); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("beside an operator's breach: %q", got)
	}
	if v.ended = true; len(v.beside(true)) > 0 {
		t.Errorf("of a call that ended: %q", v.beside(true))
	}
	var s state
	n := 0
	keep := func(beside []string, cause ...string) {
		n++
		s.keepBeside(&facts{beside: beside}, cause, func(only string) []byte { return fmt.Append(nil, only, n) })
	}
	keep(nil)
	keep(nil, kindVerdict)
	keep(nil, "crashed", "b")
	if s.beside != nil {
		t.Errorf("nothing failed beside another: %v", s.beside)
	}
	both := []string{"c", "b"}
	keep(both, kindVerdict, "a")
	keep(both, kindVerdict)
	keep([]string{"b"}, "crashed", "c")
	if got := s.hidden(); len(got) != 2 || !strings.HasPrefix(got[0], "the judge b fails on 3 cases,") || !strings.HasPrefix(got[1], "the judge c fails on 2 cases,") {
		t.Errorf("%q", got)
	}
	if got := s.beside["b"].first; string(got) != "b 4" && string(got) != "b4" {
		t.Errorf("the first child of b is that of %q", got)
	}
	if s.cause("b") != "a" || s.cause("a") != "a" {
		t.Errorf("b, alone of a child of a, has the cause %q", s.cause("b"))
	}
	keep(nil, kindVerdict, "b")
	keep(both, kindVerdict, "a")
	if s.cause("b") != "b" {
		t.Errorf("b has a finding of its own, and the cause %q", s.cause("b"))
	}
	if got := s.masked(); !slices.Equal(got, []string{"c"}) || s.beside["b"].first != nil {
		t.Errorf("b has a finding: %q", got)
	}
	for _, f := range []facts{
		{beside: []string{"b", "c"}}, {beside: []string{"b"}, lacks: true, tools: []string{"x"}}, {same: true}, {lacks: true, tools: []string{"x"}},
	} {
		f.status, f.judged, f.more, f.reply = textop.OK, true, true, "r"
		got, ok := decodeFacts(f.encode())
		if !ok || !slices.Equal(got.beside, f.beside) || !slices.Equal(got.tools, f.tools) || got.reply != "r" || got.same != f.same || len(got.applied) > 0 {
			t.Errorf("%+v of %+v", got, f)
		}
	}
}

// A regression test judges by what its finding is about.
func TestJudgesOfFinding(t *testing.T) {
	c := &Campaign{}
	c.spec = Spec{Judges: []Judge{{ID: "a", Demand: judge.Demand{Type: "contains"}}, {ID: "b", Demand: judge.Demand{Type: "contains"}}}}
	for want, f := range map[string]campaign.Finding{
		"b":         {Kind: kindVerdict, Cause: []string{kindVerdict, "b", "a"}},
		"completes": {Kind: "crashed", Cause: []string{"crashed", "crashed", "a"}},
		"a b":       {Kind: kindVerdict, Cause: []string{kindVerdict, "other"}},
	} {
		var ids []string
		for _, j := range c.judgesOf(&f) {
			ids = append(ids, j.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%v: %q, want %q", f.Cause, got, want)
		}
	}
}
