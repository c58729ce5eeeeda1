//go:build unix

package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
)

func openOperators(t testing.TB, set pyhost.OperatorSet) pyhost.Operators {
	t.Helper()
	if set.LoadLimit == 0 {
		set.LoadLimit = patience
	}
	if set.CallLimit == 0 {
		set.CallLimit = patience
	}
	set.Python = python(t)
	o, err := OpenOperators(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return o
}

func apply(t testing.TB, o pyhost.Operators, calls ...pyhost.OperatorCall) []pyhost.OperatorReply {
	t.Helper()
	replies := make([]pyhost.OperatorReply, len(calls))
	err := o.Apply(context.Background(), calls, func(i int, r *pyhost.OperatorReply) error {
		replies[i] = *r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return replies
}

// wild makes the calls of op_wild.py that the seeds name.
func wild(seeds ...string) []pyhost.OperatorCall {
	var calls []pyhost.OperatorCall
	for _, s := range seeds {
		calls = append(calls, pyhost.OperatorCall{Seed: s})
	}
	return calls
}

// direct is what a Python without Thresh makes of op_shuffle.
const direct = `
import json, random, sys
sys.path.insert(0, sys.argv[1])
from src.operators import op_shuffle
for n, text in json.loads(sys.argv[2]):
    print(json.dumps(op_shuffle.apply(text, {}, random.Random(n)).child_text))
`

func TestOperatorsGiveWhatPythonGives(t *testing.T) {
	dir := filepath.Join(code(t), "ops")
	o := openOperators(t, pyhost.OperatorSet{Files: []string{filepath.Join(dir, "src/operators/op_shuffle.py")}})
	m := o.Modules()[0]
	if m.Fault != nil || m.MetaLine != 5 || m.ApplyLine != 14 || !strings.Contains(string(m.Meta), `"strength_range": [1, 5]`) {
		t.Fatalf("%+v", m)
	}
	var calls []pyhost.OperatorCall
	var pairs [][2]any
	for n, text := range []string{"one two three four", "", "한국어 텍스트 여럿", "a\U0001F600 b c", strings.Repeat("long text ", 500)} {
		seed := uint64(n) * 0xfff_ffff_ffff
		calls = append(calls, pyhost.OperatorCall{Seed: text, RNG: seed, WantState: true})
		pairs = append(pairs, [2]any{seed, text})
	}
	arg, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python(t), "-c", direct, dir, string(arg)).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var states [][]byte
	for i, r := range apply(t, o, calls...) {
		var want string
		if err := json.Unmarshal([]byte(lines[i]), &want); err != nil {
			t.Fatal(err)
		}
		if r.End != pyhost.Applied || r.Status != "OK" || r.Child != want || !strings.Contains(string(r.Trace), `"pair": [1, 2]`) || len(r.Notes) > 0 {
			t.Errorf("%q: %+v, want %q", calls[i].Seed, r, want)
		}
		states = append(states, r.State)
	}
	if r := apply(t, o, pyhost.OperatorCall{Seed: "x y", WantStateUnlessOK: true}); r[0].State != nil {
		t.Errorf("a state of %d bytes is told, which nothing goes on from", len(r[0].State))
	}
	// A generator goes on where it was, its pending gauss() value included.
	again := apply(t, o, pyhost.OperatorCall{Seed: "x", State: states[0], WantState: true}, pyhost.OperatorCall{Seed: "x", State: states[0]}, pyhost.OperatorCall{Seed: "x", RNG: 1})
	if len(states[0]) != 4*stateWords+8 || len(again[0].State) != 4*stateWords || again[0].Child != again[1].Child || again[0].Child == again[2].Child {
		t.Errorf("states of %d and %d bytes; %q, %q, %q", len(states[0]), len(again[0].State), again[0].Child, again[1].Child, again[2].Child)
	}
}

func TestOperatorsFindTheirProject(t *testing.T) {
	dir := code(t)
	other := filepath.Join(dir, "other")
	if err := os.CopyFS(filepath.Join(other, "src"), os.DirFS(filepath.Join(dir, "ops/src"))); err != nil {
		t.Fatal(err)
	}
	// A package whose modules are imported as if each of its folders were on the path.
	for name, text := range map[string]string{
		"__init__.py": "", "far_words.py": "", "ops/__init__.py": "", "ops/near_words.py": "",
		"ops/op_packaged.py": "import far_words, near_words\nOPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n",
	} {
		path := filepath.Join(dir, "pkg", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := openOperators(t, pyhost.OperatorSet{Files: []string{
		filepath.Join(dir, "ops/src/operators/op_relative.py"), filepath.Join(dir, "bad/op_wild.py"), filepath.Join(other, "src/operators/op_relative.py"),
		filepath.Join(dir, "pkg/ops/op_packaged.py"),
	}})
	for _, m := range o.Modules() {
		if m.Fault != nil {
			t.Errorf("%s: %v", m.File, m.Fault)
		}
	}
	ctx := json.RawMessage(`{"strength":2}`)
	for i, r := range apply(t, o, pyhost.OperatorCall{Module: 0, Seed: "a", Context: ctx, WantStateUnlessOK: true}, pyhost.OperatorCall{Module: 2, Seed: "b", Context: ctx}) {
		if told := len(r.State) > 0; told != (i == 0) {
			t.Errorf("%d: a state of %d bytes", i, len(r.State))
		}
		if r.End != pyhost.Applied || r.Status != "SKIPPED" || string(r.Trace) != `{"strength": 2}` || r.Error != nil {
			t.Errorf("%d: %+v", i, r)
		}
	}
}

// Two folders may have modules of one name, also of operators and of what is
// imported late.
func TestFoldersOfOperatorsAreApart(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, folder := range []string{"one", "two"} {
		for name, text := range map[string]string{
			"words.py": "TEXT = %q\n", "late/__init__.py": "TEXT = %q + '!'\n",
			"op_words.py": "import words\nOPERATOR_META = {'op_id': %q}\ndef apply(seed_text, ctx, rng):\n    from late import TEXT\n    return dict(status='OK', child_text=words.TEXT + TEXT, trace={})\n",
		} {
			path := filepath.Join(dir, folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, fmt.Appendf(nil, text, folder), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		files = append(files, filepath.Join(dir, folder, "op_words.py"))
	}
	o := openOperators(t, pyhost.OperatorSet{Files: files})
	var calls []pyhost.OperatorCall
	for i := range 6 {
		calls = append(calls, pyhost.OperatorCall{Module: i % 2, Context: json.RawMessage("{}")})
	}
	for i, r := range apply(t, o, calls...) {
		if want := []string{"oneone!", "twotwo!"}[i%2]; r.Child != want {
			t.Errorf("call %d: %q, want %q: %+v", i, r.Child, want, r.Fault)
		}
	}
}

func TestOperatorModules(t *testing.T) {
	t.Parallel() // mostly waits
	dir := filepath.Join(code(t), "bad")
	cases := []struct {
		file, class, message string
		line                 int
		printed              string
	}{
		{"op_syntax.py", "SyntaxError", "", 4, ""},
		{"op_no_meta.py", "AttributeError", "the module has no OPERATOR_META", 1, ""},
		{"op_no_apply.py", "AttributeError", "the module has no apply", 1, ""},
		{"op_meta_list.py", "TypeError", "OPERATOR_META is a list, not a dict", 2, ""},
		{"op_apply_number.py", "TypeError", "apply is an int, which cannot be called", 2, ""},
		{"op_import.py", "ModuleNotFoundError", "No module named 'no_such_module'", 1, ""},
		{"op_raise.py", "RuntimeError", "at load", 3, "loading\n"},
		{"op_hang.py", "Hung", "no answer within 3s", 1, ""},
		{"op_exit.py", "Died", "the process ended: exit status 4", 1, "bye\n"},
		{"op_missing.py", "FileNotFoundError", "", 0, ""},
	}
	var files []string
	for _, tc := range cases {
		files = append(files, filepath.Join(dir, tc.file))
	}
	files = append(files, filepath.Join(dir, "op_wild.py"), filepath.Join(dir, "op_global.py"))
	o := openOperators(t, pyhost.OperatorSet{Files: files, LoadLimit: 3 * time.Second})
	for i, tc := range cases {
		m := o.Modules()[i]
		if m.Fault == nil || m.Fault.Class != tc.class || tc.message != "" && m.Fault.Message != tc.message || m.Fault.Line != tc.line || tc.line > 0 && m.Fault.File != files[i] || m.Printed != tc.printed {
			t.Errorf("%s: %v, printed %q", tc.file, m.Fault, m.Printed)
		}
		r := apply(t, o, pyhost.OperatorCall{Module: i}, pyhost.OperatorCall{Module: len(cases), Seed: "fine"})
		if r[0].End != pyhost.Unusable || !strings.HasPrefix(r[1].Child, "fine") {
			t.Errorf("%s: %+v", tc.file, r)
		}
	}
	if m := o.Modules()[len(cases)+1]; !m.GlobalRandom || string(m.Meta) != `{"op_id": "x", "limit": "inf"}` {
		t.Errorf("%+v", m)
	}
}

func TestOperatorCalls(t *testing.T) {
	t.Parallel() // mostly waits
	o := openOperators(t, pyhost.OperatorSet{
		Files:  []string{filepath.Join(code(t), "bad/op_wild.py")},
		Limits: process.Limits{AddressSpace: 2 << 30}, CallLimit: 5 * time.Second,
	})
	line := func(text string) int { return lineOf(t, o.Modules()[0].File, text) }
	type want struct {
		seed    string
		end     pyhost.CallEnd
		fault   string
		line    int
		printed string
		global  bool
	}
	wants := []want{
		{"raise", pyhost.RaisedIn, "ValueError: broken", line(`"broken"`), "", false},
		{"exit", pyhost.RaisedIn, "SystemExit: 3", line("sys.exit(3)"), "", false},
		{"unknown", pyhost.RaisedIn, "KeyError: 'do_unknown'", line(`globals()["do_"`), "", false},
		{"none", pyhost.WrongType, "TypeError: apply returned None, not an ApplyResult", 0, "", false},
		{"list", pyhost.WrongType, "TypeError: apply returned a list, not an ApplyResult", 0, "", false},
		{"bytes", pyhost.WrongType, "TypeError: ApplyResult.child_text is a bytes, not a str", 0, "", false},
		{"status", pyhost.WrongType, "TypeError: ApplyResult.status is an int, not a str", 0, "", false},
		{"trace", pyhost.WrongType, "TypeError: ApplyResult.trace is a list, not a dict", 0, "", false},
		{"global", pyhost.Applied, "", 0, "", true},
		{"global", pyhost.Applied, "", 0, "", true},
		{"reseed", pyhost.Applied, "", 0, "", true},
		{"print", pyhost.Applied, "", 0, "hello\nchild\n", false},
		{"fork", pyhost.Applied, "", 0, "", false},
		{"annals", pyhost.WrongType, "TypeError: the trace takes 1.4 MiB as JSON; at most 1 are taken", 0, "", false},
		{"much", pyhost.Applied, "", 0, strings.Repeat("y", printedLimit), false},
		{"die", pyhost.Died, "ProcessEnded: the process ended: exit status 3", 0, "", false},
		{"killed", pyhost.Died, "ProcessEnded: the process ended: signal 9 (killed)", 0, "", false},
		{"kill_host", pyhost.Died, "ProcessEnded: the process ended: it ended the host that had started it", 0, "", false},
		{"close", pyhost.Died, "ProcessEnded: the process ended: exit status 71", 0, "", false},
		{"bulky", pyhost.WrongType, "TypeError: what it gave takes 66.0 MiB as JSON; at most 60 are taken", 0, "", false},
		{"patch", pyhost.Applied, "", 0, "", false},
		{"fine", pyhost.Applied, "", 0, "", false},
	}
	if runtime.GOOS == "linux" { // elsewhere the limit does not bind
		wants = append(wants, want{"memory", pyhost.NoMemory, "MemoryError", line("1 << 34"), "", false}, want{"fine", pyhost.Applied, "", 0, "", false})
	}
	var calls []pyhost.OperatorCall
	for _, w := range wants {
		calls = append(calls, wild(w.seed)...)
	}
	replies := apply(t, o, calls...)
	for i, w := range wants {
		r := replies[i]
		got := want{w.seed, r.End, "", 0, r.Printed, r.GlobalRandom}
		if f := r.Fault; f != nil {
			got.line = f.Line
			bare := *f
			bare.File = ""
			got.fault = bare.String()
		}
		if w.line == 0 {
			got.line = 0
		}
		if d := cmp.Diff(w, got, cmp.AllowUnexported(want{})); d != "" {
			t.Errorf("call %d (-want +got):\n%s", i, d)
		}
	}
	if replies[8].Child != replies[9].Child {
		t.Errorf("the global generator is not put back: %s, %s", replies[8].Child, replies[9].Child)
	}
	if notes := strings.Join(o.Notes(), "\n"); !strings.Contains(notes, `replaced 4 times because of a call that ended as "died"`) ||
		strings.Contains(notes, `replaced 1 time because of a call that ended as "memory"`) != (runtime.GOOS == "linux") {
		t.Errorf("notes: %s", notes)
	}
}

func TestOperatorValues(t *testing.T) {
	o := openOperators(t, pyhost.OperatorSet{Files: []string{filepath.Join(code(t), "bad/op_wild.py")}, HashSeed: "7"})
	r := apply(t, o, wild("odd_trace", "surrogate", "error", "hashed")...)
	if got := string(r[0].Trace); !strings.HasPrefix(got, `{"nan": "nan", "object": "<class '`) || !strings.HasSuffix(got, `"1": [1, 2], "text": "\u00e9"}`) || len(r[0].Notes) != 1 {
		t.Errorf("%s, notes %q", got, r[0].Notes)
	}
	if r[1].Child != "a\ufffdb" || len(r[1].Notes) != 1 {
		t.Errorf("%+v", r[1])
	}
	if r[2].Status != "INVALID" || r[2].Error == nil || *r[2].Error != "no good" {
		t.Errorf("%+v", r[2])
	}
	if r[3].Child != "randomised" {
		t.Errorf("the hash seed has no effect: %+v", r[3])
	}
}

func TestHungOperators(t *testing.T) {
	t.Parallel() // mostly waits
	o := openOperators(t, pyhost.OperatorSet{Files: []string{filepath.Join(code(t), "bad/op_wild.py")}, CallLimit: time.Second})
	ends := []pyhost.CallEnd{pyhost.Applied, pyhost.Hung, pyhost.Applied, pyhost.Hung, pyhost.Applied}
	for i, r := range apply(t, o, wild("fine", "hang", "fine", "sleep", "fine")...) {
		if r.End != ends[i] || r.End == pyhost.Applied && r.Child != "fine 1" {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if notes := strings.Join(o.Notes(), "\n"); !strings.Contains(notes, `replaced 2 times because of a call that ended as "hung"`) {
		t.Error(notes)
	}
}

// What cannot be asked of operators is refused, and costs them nothing.
func TestCallsThatCannotBeMade(t *testing.T) {
	files := []string{filepath.Join(code(t), "bad/op_wild.py")}
	for _, set := range []pyhost.OperatorSet{{Files: files, CallLimit: patience}, {Files: files, LoadLimit: patience}} {
		if o, err := OpenOperators(t.Context(), set); o != nil || err == nil || !strings.Contains(err.Error(), "need time limits") {
			t.Errorf("%v, %v", o, err)
		}
	}
	o := openOperators(t, pyhost.OperatorSet{Files: files})
	for want, calls := range map[string][]pyhost.OperatorCall{
		"operator module -1 does not exist": {{Module: -1}}, "operator module 1 does not exist": {{Seed: "fine"}, {Module: 1}}, "a generator's state has 1 bytes": {{Seed: "fine", State: []byte{1}}},
	} {
		if err := o.Apply(t.Context(), calls, func(int, *pyhost.OperatorReply) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	stop := errors.New("stop")
	heard := 0
	if err := o.Apply(t.Context(), wild("fine", "fine", "fine"), func(int, *pyhost.OperatorReply) error { heard++; return stop }); !errors.Is(err, stop) || heard != 1 {
		t.Errorf("%d replies, %v", heard, err)
	}
	if r := apply(t, o, wild("fine")...); r[0].End != pyhost.Applied || r[0].Child != "fine 1" {
		t.Errorf("%+v", r)
	}
}

func TestCancelledOperators(t *testing.T) {
	o := openOperators(t, pyhost.OperatorSet{Files: []string{filepath.Join(code(t), "bad/op_wild.py")}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Apply(ctx, wild("sleep"), func(int, *pyhost.OperatorReply) error { return nil }); err != context.Canceled {
		t.Errorf("%v", err)
	}
	if r := apply(t, o, wild("fine")...); r[0].End != pyhost.Applied {
		t.Errorf("%+v", r)
	}
}

func BenchmarkApply(b *testing.B) {
	dir := filepath.Join(code(b), "ops")
	o := openOperators(b, pyhost.OperatorSet{Files: []string{filepath.Join(dir, "src/operators/op_shuffle.py")}})
	seed := strings.Repeat("a few words ", 34)[:400]
	var calls []pyhost.OperatorCall
	for i := range 1000 {
		calls = append(calls, pyhost.OperatorCall{Seed: seed, RNG: uint64(i)})
	}
	for b.Loop() {
		apply(b, o, calls...)
	}
	b.ReportMetric(float64(b.N)*float64(len(calls))/b.Elapsed().Seconds(), "applies/s")
}
