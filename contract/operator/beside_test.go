package operator

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/textop"
)

// A judge that fails beside another one alone is named, with its cases.
func TestJudgesBesideOthers(t *testing.T) {
	v := judged{broken: "a", opinions: []judgement{{Judge: "a"}, {Judge: "b"}, {Judge: "c", Holds: true}, {Judge: "b"}, {Reason: "it crashed"}}}
	if got := v.beside(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("beside a: %q", got)
	}
	if v.ended = true; len(v.beside()) > 0 {
		t.Errorf("of a call that ended: %q", v.beside())
	}
	var s state
	s.keepBeside(&facts{}, nil)
	s.keepBeside(&facts{}, []string{kindVerdict})
	s.keepBeside(&facts{}, []string{"crashed", "b"})
	if s.beside != nil {
		t.Errorf("nothing failed beside another: %v", s.beside)
	}
	both := facts{beside: []string{"c", "b"}}
	s.keepBeside(&both, []string{kindVerdict, "a"})
	if got := s.masked(); len(got) != 2 {
		t.Errorf("one case is enough: %q", got)
	}
	s.keepBeside(&both, []string{kindVerdict})
	s.keepBeside(&facts{beside: []string{"b"}}, []string{"crashed", "c"})
	if got := s.masked(); len(got) != 2 || !strings.HasPrefix(got[0], "the judge b fails on 3 cases,") || !strings.HasPrefix(got[1], "the judge c fails on 2 cases,") {
		t.Errorf("%q", got)
	}
	s.keepBeside(&facts{}, []string{kindVerdict, "b"})
	s.keepBeside(&both, []string{kindVerdict, "a"})
	if got := s.masked(); len(got) != 1 || !strings.HasPrefix(got[0], "the judge c fails on 3 cases,") {
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
