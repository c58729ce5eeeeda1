package fuzzspec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
)

const (
	sanitized = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\nWRITE of size 4 at 0x1 thread T0\n    #0 0x1 in parse /src/a.c:3:1\n"
	traceback = "Traceback (most recent call last):\n  File \"tool.py\", line 3, in <module>\n    x\nKeyError: 'x'\n"
)

// unseen is the look at a crash of which nothing is to be seen.
func unseen() (*process.Crash, bool) { return nil, true }

// Each rule of the verdict, alone and against the ones that come after it.
func TestJudge(t *testing.T) {
	exited := func(code int, stderr string) process.Result {
		return process.Result{Status: process.Exited, ExitCode: code, Stderr: []byte(stderr)}
	}
	plain := settings{outputs: "auto"}
	accepting := settings{outputs: "auto", okExit: []int{1, 3}}
	trusting := accepting
	trusting.okReports = true
	for name, c := range map[string]struct {
		set   settings
		facts facts
		res   process.Result
		kind  string // "": it holds
		end   ending // without the exit code
	}{
		"exit 0":                      {plain, facts{}, exited(0, ""), "", ending{}},
		"exit 1":                      {plain, facts{}, exited(1, ""), "exit", ending{Status: "exited"}},
		"an accepted exit code":       {accepting, facts{}, exited(3, "refused"), "", ending{}},
		"another one than accepted":   {accepting, facts{}, exited(2, "refused"), "exit", ending{Status: "exited"}},
		"0 is always accepted":        {accepting, facts{}, exited(0, "a warning"), "", ending{}},
		"a report, exit 1":            {plain, facts{}, exited(1, traceback), "crash", ending{Status: "exited"}},
		"a report, exit 1 accepted":   {accepting, facts{}, exited(1, traceback), "crash", ending{Status: "exited"}},
		"a report, exit 3 accepted":   {accepting, facts{}, exited(3, traceback), "", ending{}},
		"a report that was logged":    {accepting, facts{}, exited(0, traceback), "", ending{}},
		"a thread died, exit 0":       {plain, facts{}, exited(0, "Exception in thread Thread-1 (f):\n"+traceback), "crash", ending{Status: "exited"}},
		"a thread that may die":       {trusting, facts{}, exited(0, "Exception in thread Thread-1 (f):\n"+traceback), "", ending{}},
		"a report that is accepted":   {trusting, facts{}, exited(1, traceback), "", ending{}},
		"a sanitizer, exit 0":         {plain, facts{}, exited(0, sanitized), "crash", ending{Status: "exited"}},
		"a sanitizer, exit accepted":  {trusting, facts{}, exited(1, sanitized), "crash", ending{Status: "exited"}},
		"a signal":                    {accepting, facts{}, process.Result{Status: process.Signaled, Signal: 11}, "crash", ending{Status: "signaled", Signal: 11}},
		"too late":                    {accepting, facts{}, process.Result{Status: process.TimedOut}, "timeout", ending{Status: "timed out"}},
		"too much":                    {accepting, facts{}, process.Result{Status: process.Signaled, Signal: 25, OutputLimit: true}, "flood", ending{Status: "signaled", OutputLimit: true}},
		"too much, then too late":     {accepting, facts{}, process.Result{Status: process.TimedOut, OutputLimit: true}, "flood", ending{Status: "timed out", OutputLimit: true}},
		"processes are left":          {plain, facts{}, process.Result{Status: process.Exited, Leftovers: 1}, "leftovers", ending{Status: "exited", Leftovers: true}},
		"as the seed leaves some":     {plain, facts{Leftovers: true}, process.Result{Status: process.Exited, Leftovers: 2}, "", ending{}},
		"a failure weighs more":       {plain, facts{}, process.Result{Status: process.Exited, ExitCode: 1, Leftovers: 1}, "exit", ending{Status: "exited"}},
		"no outputs where some are":   {plain, facts{Outputs: true}, exited(0, ""), "output", ending{Status: "exited"}},
		"none with a refusal":         {accepting, facts{Outputs: true}, exited(3, "refused"), "", ending{}},
		"a refusal, and required":     {settings{outputs: "require", okExit: []int{3}}, facts{}, exited(3, ""), "output", ending{Status: "exited"}},
		"no outputs where required":   {settings{outputs: "require"}, facts{}, exited(0, ""), "output", ending{Status: "exited"}},
		"no outputs, and they do not": {settings{outputs: "ignore"}, facts{Outputs: true}, exited(0, ""), "", ending{}},
		"none, which are required":    {settings{outputs: "require"}, facts{}, process.Result{Status: process.Exited, NoOutputs: true}, "output", ending{Status: "exited"}},
		"known to have no outputs":    {plain, facts{}, process.Result{Status: process.Exited, NoOutputs: true, Dir: "/nowhere"}, "", ending{}},
	} {
		camp := &Campaign{set: c.set}
		if c.res.Dir == "" {
			c.res.Dir = t.TempDir()
		}
		o, err := camp.judge(&state{facts: c.facts}, &c.res, nil, "case_7", unseen)
		if err != nil || o.Kind != c.kind || (o.Verdict == campaign.VerdictFail) != (c.kind != "") || o.Verdict == campaign.VerdictError {
			t.Errorf("%s: %v %s %q (%s), want %q", name, err, o.Verdict, o.Kind, o.Title, c.kind)
			continue
		}
		if c.kind == "" {
			if len(o.Data) > 0 {
				t.Errorf("%s: facts of a case that holds: %s", name, o.Data)
			}
			continue
		}
		var end ending
		if err := json.Unmarshal(o.Data, &end); err != nil {
			t.Fatal(err)
		}
		if c.res.Status == process.Exited && !c.res.OutputLimit {
			if end.ExitCode == nil || *end.ExitCode != c.res.ExitCode {
				t.Errorf("%s: exit code %v", name, end.ExitCode)
			}
		} else if end.ExitCode != nil {
			t.Errorf("%s: has the exit code %d", name, *end.ExitCode)
		}
		end.ExitCode, c.end.Output = nil, end.Output
		if end != c.end || (end.Output != "") != (c.kind == "output") {
			t.Errorf("%s: %+v, want %+v", name, end, c.end)
		}
	}
}

// What a program repeats of its input is not its own crash; what it adds is.
func TestEchoIsNoCrash(t *testing.T) {
	const thread = "Exception in thread Thread-1 (f):\n" + traceback
	for name, c := range map[string]struct {
		stderr, input string
		crash         bool
	}{
		"a log that is shown":       {sanitized, "10:00 " + sanitized + "10:01 started\n", false},
		"a log, line by line":       {"line 1: " + strings.ReplaceAll(strings.TrimSpace(sanitized), "\n", "\nline 2: "), sanitized, false},
		"a trace that is shown":     {thread, thread, false},
		"another program's log":     {sanitized, strings.ReplaceAll(sanitized, "heap", "stack"), true},
		"its own crash beside it":   {sanitized + thread, sanitized, true},
		"a crash of an empty input": {sanitized, "", true},
	} {
		o, err := (&Campaign{set: settings{outputs: "ignore"}}).judge(&state{}, &process.Result{Status: process.Exited, Stderr: []byte(c.stderr)}, []byte(c.input), "case_7", unseen)
		if err != nil || (o.Verdict == campaign.VerdictFail) != c.crash {
			t.Errorf("%s: %v %s %s", name, err, o.Verdict, o.Title)
		}
	}
}

// The run's id is not part of a cause, and a traceback with an accepted exit code
// is grouped as it is with one that is not.
func TestJudgeGroups(t *testing.T) {
	layers := func(set settings, stderr, runID string) string {
		o, err := (&Campaign{set: set}).judge(&state{}, &process.Result{Status: process.Exited, ExitCode: 1, Stderr: []byte(stderr)}, nil, runID, unseen)
		if err != nil {
			t.Fatal(err)
		}
		return o.Kind + o.Signature + strings.Join(o.Cause, "|")
	}
	plain, accepting := settings{outputs: "ignore"}, settings{outputs: "ignore", okExit: []int{1}}
	if a, b := layers(plain, traceback, "x"), layers(accepting, traceback, "x"); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if a, b := layers(plain, "cannot read k_0_case_000001: bad", "k_0_case_000001"), layers(plain, "cannot read k_0_case_000002: bad", "k_0_case_000002"); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestJudgeOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		files        map[string]string
		noneExpected bool
		want, detail string // beginnings; "": nothing is wrong
	}{
		"none":               {nil, false, "OUT_MISSING:", "no JSON output was written"},
		"none, as expected":  {nil, true, "", ""},
		"good":               {map[string]string{"a.json": `{"a":1}`}, false, "", ""},
		"broken":             {map[string]string{"a.json": `{"a":`}, false, "JSON_BAD:a.json:JSONDecodeError", "output a.json is not JSON (JSONDecodeError)"},
		"broken, unexpected": {map[string]string{"a.json": `{"a":`}, true, "JSON_BAD:a.json:JSONDecodeError", "output a.json is not JSON (JSONDecodeError)"},
		"no JSON":            {map[string]string{"a.txt": "x"}, false, "OUT_MISSING:", "no JSON output was written"},
		"no JSON, expected":  {map[string]string{"a.txt": "x"}, true, "", ""},
	} {
		dir := t.TempDir()
		for f, text := range c.files {
			if err := os.MkdirAll(filepath.Join(dir, "out"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "out", f), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		signature, detail, broken, err := judgeOutputs(dir, "case_7", c.noneExpected)
		if got, bad := string(broken.Data), strings.HasPrefix(c.want, "JSON_BAD"); bad && got != c.files["a.json"] || !bad && got != "" {
			t.Errorf("%s: the broken output is kept as %q", name, got)
		}
		if err != nil || !strings.HasPrefix(signature, c.want) || (signature == "") != (c.want == "") || !strings.HasPrefix(detail, c.detail) {
			t.Errorf("%s: %v %q %q, want %q %q", name, err, signature, detail, c.want, c.detail)
		}
		has := false
		for f := range c.files {
			has = has || strings.HasSuffix(f, ".json")
		}
		if got := hasOutputs(dir); got != has {
			t.Errorf("%s: has outputs: %t", name, got)
		}
	}
}

// What a guided campaign has reached is what passing cases say: the data of a
// failing one tells how it ended. An edge that was taken once and four times is
// one edge and two tuples.
func TestFoldCountsEdges(t *testing.T) {
	c := &Campaign{set: settings{guided: true, deep: true}, maker: referenceMaker{}}
	fold := func(s *state, outcomes ...campaign.Outcome) *state {
		return c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, o := range outcomes {
				if !yield(campaign.Case{Index: int64(i), Payload: []byte{byte(i)}}, o) {
					return
				}
			}
		})
	}
	passed := func(tuples ...uint32) campaign.Outcome { return campaign.Outcome{Data: encodeKept(1, tuples)} }
	s := fold(c.Start(campaign.Facts{}), passed(7<<8|1, 9<<8|1), fail(kindExit, "exit 1", 0, "", ending{Status: "exited"}), passed(7<<8|8), passed(9<<8|1), passed())
	want := []campaign.Figure{{Name: "edges", Value: 2}, {Name: "edge/hit-count tuples", Value: 3}, {Name: "inputs in the corpus", Value: 3}}
	if got := c.Figures(s); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s.done != 5 {
		t.Errorf("%d cases", s.done)
	}
	if w := c.warnings(s); len(w) > 0 {
		t.Errorf("%q", w)
	}
	blind := fold(c.Start(campaign.Facts{}), passed(), fail(kindExit, "exit 1", 0, "", ending{Status: "exited"}))
	if w := c.warnings(blind); len(w) != 1 || !strings.HasPrefix(w[0], "nothing guided the campaign: no coverage was seen in 2 cases") {
		t.Errorf("a run without coverage says %q", w)
	}
	rows := c.Summarize(s).Exhibits[0].Table.Rows
	if rows[0][0] != "edges" || rows[0][1] != "2" || rows[1][0] != "edge/hit-count tuples" || rows[1][1] != "3" {
		t.Errorf("%v", rows)
	}
	if got := (&Campaign{}).Figures(s); got != nil {
		t.Errorf("an unguided campaign counts no edges: %v", got)
	}
}

// A crash by a signal is known by what was seen on its stack, not by the last
// words before it; a report of a sanitizer's or a runtime's is left as it is.
func TestJudgeStack(t *testing.T) {
	c := &Campaign{set: settings{outputs: "auto"}}
	judge := func(res process.Result, seen *process.Crash) (campaign.Outcome, bool) {
		looked := false
		o, err := c.judge(&state{}, &res, nil, "case_7", func() (*process.Crash, bool) { looked = true; return seen, true })
		if err != nil {
			t.Fatal(err)
		}
		return o, looked
	}
	died := func(words string) process.Result {
		return process.Result{Status: process.Signaled, Signal: 11, Stderr: []byte(words)}
	}
	at := func(places ...string) *process.Crash {
		return &process.Crash{Kind: "wild write", Layers: places, Frames: places, By: "the symbol table", Hint: process.Exploitable}
	}
	o, looked := judge(died("reading tag 1"), at("parse+0x7", "main+0x1"))
	if want := []string{"signal", "SIGSEGV", "wild write", "parse+0x7", "main+0x1"}; !looked || !slices.Equal(o.Cause, want) || o.Severity != campaign.SeverityCritical {
		t.Errorf("looked %t, %v %s, want %v", looked, o.Cause, o.Severity, want)
	}
	if o.Title != "SIGSEGV: wild write in parse+0x7" || !strings.Contains(string(o.Attached(stackName)), "likely exploitable (a guess") {
		t.Errorf("%q\n%s", o.Title, o.Attached(stackName))
	}
	if again, _ := judge(died("reading tag 2"), at("parse+0x7", "main+0x1")); !slices.Equal(again.Cause, o.Cause) {
		t.Errorf("the last words split the group: %v", again.Cause)
	}
	if plain, looked := judge(died("reading tag 1"), nil); !looked || !slices.Equal(plain.Cause, []string{"signal", "SIGSEGV", "reading tag <n>"}) {
		t.Errorf("without a stack: looked %t, %v", looked, plain.Cause)
	}
	for _, x := range []struct{ evidence, want string }{
		{string(o.Attached(stackName)), "wild write, likely exploitable (a guess from the kind of crash alone)\nnamed by the symbol table\n#0 parse+0x7\n#1 main+0x1\n"},
		{string(stackEvidence(&process.Crash{Kind: "wild jump", Hint: process.Exploitable}).Data),
			"wild jump, likely exploitable (a guess from the kind of crash alone)\nno code of the program's own is on the stack\n"},
	} {
		if x.evidence != x.want {
			t.Errorf("%q, want %q", x.evidence, x.want)
		}
	}
	plain, _ := judge(died("reading tag 1"), nil)
	report, _ := judge(died(sanitized), nil)
	exit, _ := judge(process.Result{Status: process.Exited, ExitCode: 1}, nil)
	for _, x := range []struct {
		o    campaign.Outcome
		want string
	}{
		{o, "the kind of crash and the calls on the stack"}, {plain, "the signal and the end of standard error: no stack was read"},
		{report, "the report that the program printed"}, {exit, ""}, {campaign.Outcome{Kind: kindCrash}, ""}, {campaign.Outcome{}, ""},
	} {
		if got := toldApart(x.o); got != x.want {
			t.Errorf("%s is known by %q, want %q", x.o.Title, got, x.want)
		}
	}
	for name, res := range map[string]process.Result{"a report": died(sanitized), "an exit code": {Status: process.Exited, ExitCode: 1}, "a kill": {Status: process.Signaled, Signal: 9}} {
		if _, looked := judge(res, at("x")); looked {
			t.Errorf("%s: looked at the stack of what tells itself", name)
		}
	}
}

// Cases set aside are run again in case order, a few of each kind, no more of one
// that hangs, and so many at once as the cases so far allow; what comes of them
// teaches the campaign nothing else.
func TestCasesSetAside(t *testing.T) {
	var g guided
	spent := func(edge uint32) campaign.Outcome {
		return campaign.Outcome{Data: g.encodeAside(&process.Result{Status: process.OverBudget, Edges: []uint32{edge<<8 | 1, edge<<8 | 2}}, nil)}
	}
	late := func(input string) campaign.Outcome {
		return campaign.Outcome{Data: g.encodeAside(&process.Result{Status: process.SetAside}, []byte(input))}
	}
	c := &Campaign{maker: referenceMaker{}, set: settings{guided: true, deep: true, round: guidedRound}, count: 40, id: campaign.Identity{Name: "x"}}
	n := int64(0)
	cut := func(s *state, outcomes ...campaign.Outcome) *state {
		return c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for _, o := range outcomes {
				n++
				if !yield(campaign.Case{Index: n, Payload: []byte{byte(n)}}, o) {
					return
				}
			}
		})
	}
	fold := func(s *state, outcomes ...campaign.Outcome) *state {
		s = cut(s, outcomes...)
		s.closing = false // as if the round had been no longer
		return s
	}
	next := func(s *state) (inputs string) {
		r, more := c.Round(s)
		if !more {
			return "over"
		}
		if r.At == nil {
			return fmt.Sprint(r.Len, " cases")
		}
		for i := range r.Len {
			inputs += fmt.Sprint(r.At(i)[0], " ")
		}
		return inputs
	}
	expect := func(s *state, want string) {
		t.Helper()
		if got := next(s); got != want {
			t.Errorf("the next round is %q, want %q", got, want)
		}
	}
	s := c.Start(campaign.Facts{})
	expect(s, "40 cases")
	pass, hang := campaign.Outcome{}, fail(kindTimeout, "timeout", 0, "", ending{})
	s.seen = map[uint32]reach{1: {}}
	s = fold(s, spent(7), pass, spent(7), late("a"), spent(8), late("b"), late("a"))
	expect(s, "1 3 4 5 ")
	if all := fold(s, hang, hang, pass, pass); len(all.waiting) != 2 || all.again != 4 {
		t.Errorf("after a round with two hangs of a kind %d wait", len(all.waiting))
	}
	n -= 4
	s = fold(s, hang) // the run was cut behind the first: the third is like it
	expect(s, "4 5 6 ")
	s = fold(s, pass, pass, fail(kindCrash, "late", 0, "", ending{}))
	expect(s, "33 cases") // the first four are used up; the other late one waits
	if s.failed != 2 || len(s.corpus) != 1 || s.done != 7 {
		t.Errorf("%d failed, corpus of %d, %d cases", s.failed, len(s.corpus), s.done)
	}
	if w := c.warnings(s); len(w) != 1 || !strings.HasPrefix(w[0], "1 case used up") {
		t.Errorf("%q", w)
	}
	s = fold(s, spent(7)) // known to hang
	for range 12 {
		s = fold(s, spent(9))
	}
	if len(s.waiting) != 1+alikeMost {
		t.Errorf("%d wait", len(s.waiting))
	}
	for s.done < c.count {
		s = fold(s, pass)
	}
	expect(s, "7 13 14 15 ") // at the end, all that may be, some at a time
	s = fold(s, pass, pass, pass, pass)
	expect(s, "16 17 18 19 ")
	s = fold(s, pass, pass, pass, pass)
	s = fold(s, pass)
	expect(s, "over")
	want := []campaign.Figure{{Name: "cases set aside", Value: 19}, {Name: "of them by time", Value: 3}, {Name: "run again", Value: 13}}
	if got := c.Figures(s); !slices.Equal(got[3:], want) {
		t.Errorf("%v, want %v", got[3:], want)
	}
	if len(c.warnings(s)) > 0 {
		t.Error("a warning though all were run again")
	}

	// A run that ends earlier runs again what waits, and nothing else, and is over.
	n, g = 0, guided{}
	c.count = 1 << 20
	var many []campaign.Outcome
	for k := range uint32(confirmFirst + confirmLast + 3) {
		many = append(many, spent(100+k))
	}
	begun := fold(c.Start(campaign.Facts{}), many...)
	begun.again = confirmFirst
	for _, s := range []*state{cut(begun), cut(begun, pass), cut(fold(begun, pass, pass))} {
		all := 0
		for r, more := c.Round(s); more; r, more = c.Round(s) {
			if r.At == nil || r.Len > confirmFirst {
				t.Fatalf("a round of %d closes it", r.Len)
			}
			all += int(r.Len)
			s = cut(s, slices.Repeat([]campaign.Outcome{pass}, int(r.Len))...)
		}
		if all != confirmLast || len(s.waiting) != confirmFirst+3 || s.done >= c.count {
			t.Errorf("%d cases are run again at the end, %d wait, %d are done", all, len(s.waiting), s.done)
		}
	}
	begun.again = 0
	if r, _ := c.Round(cut(begun, pass)); r.At == nil || r.Len != confirmFirst {
		t.Errorf("a run cut among what is run again goes on with %d cases", r.Len)
	}
	if _, got := decodeKept(spent(7).Data); slices.Contains(got, 7<<8|1) {
		t.Error("an ended case has coverage")
	}
}

// Hangs are dear to run again: of cases that took no edge beside those of hangs the
// first, second, fourth are, one that took another edge is, and all of them together
// only as often as the cases so far have paid for. The parent of one set aside is
// chosen less often.
func TestCasesLikeHangs(t *testing.T) {
	const budget = leastBudget
	c := &Campaign{maker: referenceMaker{}, set: settings{guided: true, deep: true, round: 256}, count: 1 << 40}
	s := c.Start(campaign.Facts{Data: []byte(`{"budget":1048576}`)})
	if s.facts.Budget != budget {
		t.Fatalf("the budget is %d", s.facts.Budget)
	}
	fold := func(outcomes ...campaign.Outcome) {
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, o := range outcomes {
				yield(campaign.Case{Index: int64(i), Payload: []byte{byte(i)}}, o)
			}
		})
		s.closing = false // as if the round had been no longer
	}
	spent := func(edges ...uint32) campaign.Outcome {
		res := process.Result{Status: process.OverBudget}
		for _, e := range edges {
			res.Edges = append(res.Edges, e<<8|1)
		}
		return campaign.Outcome{Data: s.encodeAside(&res, nil)}
	}
	hang := fail(kindTimeout, "timeout", 0, "", ending{})
	fold(spent(1, 2, 3, 4, 5))
	if s.shares[0].used != leastBudget+caseWork {
		t.Errorf("the parent has worn off by %d edges", s.shares[0].used)
	}
	whole := len(spent(1, 2, 3).Data)
	fold(hang)
	if less := len(spent(1, 2, 3).Data); less >= whole {
		t.Errorf("edges of hangs take %d bytes, before %d", less, whole)
	}
	for i := range uint32(15) { // other edges each time, all of them of the hang
		var edges []uint32
		for e := range uint32(4) {
			if (i+1)>>e&1 != 0 {
				edges = append(edges, e+1)
			}
		}
		fold(spent(edges...))
		if r, _ := c.Round(s); r.At != nil {
			fold(campaign.Outcome{Data: encodeKept(2*budget, nil)}) // and yet it ends
		}
	}
	if n := int(s.again) - 1 + len(s.waiting); n != 4 || s.again < confirmFirst {
		t.Errorf("of 15 cases like a hang %d are to be run again, %d were", n, s.again-1)
	}
	if r, _ := c.Round(s); r.At != nil {
		t.Error("cases are run again that the others have not paid for")
	}
	before := len(s.waiting)
	fold(spent(1, 9))
	if len(s.waiting) != before+1 {
		t.Error("a case that took another edge is passed over")
	}
	s.done = confirmShare*int64(s.spent)/caseWork - 1
	if r, _ := c.Round(s); r.At != nil || r.Len != 256 {
		t.Errorf("not all is paid for, or a round has %d cases", r.Len)
	}
	s.done++
	if r, _ := c.Round(s); r.At == nil {
		t.Error("nothing is run again though it is paid for")
	}
	c.count = s.done
	s.spent = 1 << 60
	if r, _ := c.Round(s); r.At == nil {
		t.Error("nothing is run again at the end")
	}
}

// A case may take 20 times the edges of its seed, one that is run again, or is an
// explicit input, a hundred times that and the document's limit.
func TestBudgetOfACase(t *testing.T) {
	s := &state{facts: facts{Budget: 5}}
	c := &Campaign{set: settings{guided: true}}
	for _, x := range []struct {
		payload []byte
		cold    bool
		budget  uint64
	}{{nil, false, 5}, {nil, true, 500}, {[]byte("x"), false, 500}} {
		pc := c.processCase(s, campaign.Case{Payload: x.payload}, "id", nil, x.cold)
		if pc.Budget != x.budget || pc.Confirm != (x.budget == 500) {
			t.Errorf("%+v: %+v", x, pc)
		}
	}
	if pc := (&Campaign{}).processCase(s, campaign.Case{Payload: []byte("x")}, "id", nil, false); pc.Budget != 0 || pc.Confirm {
		t.Errorf("unguided: %+v", pc)
	}
}

// A broken output counts where none is expected; it is kept only of a case that wrote one.
func TestJudgeKeepsBrokenOutput(t *testing.T) {
	c := &Campaign{set: settings{outputs: "auto"}}
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "out"), 0o755), os.WriteFile(filepath.Join(dir, "out", "a.json"), []byte("{"), 0o644)); err != nil {
		t.Fatal(err)
	}
	o, err := c.judge(&state{}, &process.Result{Status: process.Exited, Dir: dir}, nil, "case_7", unseen)
	if err != nil || o.Kind != kindOutput || string(o.Attached(outputName)) != "{" {
		t.Errorf("%v %+v", err, o)
	}
	o, err = c.judge(&state{facts: facts{Outputs: true}}, &process.Result{Status: process.Exited, Dir: t.TempDir()}, nil, "case_7", unseen)
	if err != nil || o.Kind != kindOutput || len(o.Evidence) > 0 {
		t.Errorf("%v %+v", err, o)
	}
}

// spoken is a program that refuses every input with the same words, and whose crashes
// cannot be looked at.
type spoken string

func (p spoken) Run(context.Context, process.Case) (process.Result, error) {
	return process.Result{Status: process.Exited, ExitCode: 3, NoOutputs: true, Stderr: []byte(p)}, nil
}
func (spoken) Trace(context.Context, process.Case) (*process.Crash, error) {
	return &process.Crash{}, errors.New("not here")
}
func (spoken) Notes() []string { return nil }
func (spoken) Close() error    { return nil }

// A crash of a process that runs many cases, which the input alone does not cause, is no bug that
// the input shows; one of which nothing could be seen may be.
func TestCrashThatAnEarlierCasePrepared(t *testing.T) {
	for _, x := range []struct {
		kept, looked bool
		by           process.Executor
		want         string
	}{
		{true, true, process.AFL, "SIGSEGV in a process that runs many cases; the input alone does not crash it"},
		{true, false, process.AFL, "SIGSEGV: tag"}, {true, true, process.Spawn, "SIGSEGV: tag"}, {false, true, process.AFL, "SIGSEGV: tag"},
	} {
		res := process.Result{Status: process.Signaled, Signal: 11, Stderr: []byte("tag"), Executor: x.by}
		o, err := (&Campaign{}).judge(&state{facts: facts{Kept: x.kept}}, &res, nil, "case_7", func() (*process.Crash, bool) { return nil, x.looked })
		if err != nil || o.Title != x.want || strings.HasPrefix(toldApart(o), "a crash that the input alone does not cause") != (x.want != "SIGSEGV: tag") {
			t.Errorf("%+v: %q known by %q, %v", x, o.Title, toldApart(o), err)
		}
	}
}

// The warning about a seed that fails has the words that the program printed.
func TestSeedThatFails(t *testing.T) {
	const words = "cannot read record 17 of 'abc'"
	c := &Campaign{spec: &Spec{Target: Target{Command: []string{"/bin/tool"}}}, exe: Executable{Path: "/bin/tool"}, set: settings{outputs: "auto"}}
	c.open = func(context.Context, process.Plan, int, int, bool) (process.Runner, error) {
		return spoken(words + "\n"), nil
	}
	f, err := c.Probe(t.Context())
	if err != nil || len(f.Warnings) != 1 || !strings.HasSuffix(f.Warnings[0], "the unmodified seed already fails: exit status 3: "+words) {
		t.Errorf("%v %q", err, f.Warnings)
	}
	for memory, want := range map[int64]int{0: 1, 4 << 30: 2} {
		c.set.memory = memory
		c.open = func(context.Context, process.Plan, int, int, bool) (process.Runner, error) {
			return spoken("==7==ReserveShadowMemoryRange failed while trying to map 0xdfff0001000 bytes. Perhaps you're using ulimit -v\n"), nil
		}
		f, err := c.Probe(t.Context())
		if err != nil || len(f.Warnings) != want || strings.HasSuffix(f.Warnings[want-1], "give --memory-limit 0") != (want == 2) {
			t.Errorf("a limit of %d: %v %q", memory, err, f.Warnings)
		}
	}
	if seen, looked := stackReader(t.Context(), spoken(""), process.Case{})(); seen != nil || looked {
		t.Errorf("%+v of a crash that could not be looked at", seen)
	}
}

// hung is a program that is ended at its time limit, and with it what it waits for.
type hung struct{ spoken }

func (hung) Run(context.Context, process.Case) (process.Result, error) {
	return process.Result{Status: process.TimedOut, NoOutputs: true, Leftovers: 1}, nil
}

// symbolized is a program whose sanitizer leaves its symbolizer running for a moment.
type symbolized struct{ spoken }

func (symbolized) Run(context.Context, process.Case) (process.Result, error) {
	return process.Result{Status: process.Exited, ExitCode: 23, NoOutputs: true, Leftovers: 1, Stderr: []byte("==7==ERROR: LeakSanitizer: detected memory leaks\n")}, nil
}

// What is killed with a seed that takes too long is not left behind, nor is what a crash leaves: such
// leftovers of other cases stay failures.
func TestSeedThatHangs(t *testing.T) {
	for _, r := range []process.Runner{hung{}, symbolized{}} {
		c := &Campaign{spec: &Spec{Target: Target{Command: []string{"/bin/tool"}}}, exe: Executable{Path: "/bin/tool"}, set: settings{outputs: "auto"}}
		c.open = func(context.Context, process.Plan, int, int, bool) (process.Runner, error) { return r, nil }
		f, err := c.Probe(t.Context())
		if err != nil || len(f.Warnings) != 1 || c.Start(f).facts.Leftovers {
			t.Errorf("%v %q", err, f.Warnings)
		}
	}
}

// What is wrong with an output is pointed at, so that cards show it beside the input.
func TestBrokenOutputIsPointedAt(t *testing.T) {
	for text, want := range map[string]string{`{"a": }`: "not JSON: ", "": "(the file is empty"} {
		e := brokenOutput([]byte(text))
		if m := e.Text.Marks; len(m) != 1 || !strings.HasPrefix(e.Text.Body[m[0].From:m[0].To], want) {
			t.Errorf("%q: marks %v of %q", text, m, e.Text.Body)
		}
	}
}
