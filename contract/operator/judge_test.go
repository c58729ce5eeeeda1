package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/python"
)

// oracle is a program that judges texts, without a process.
type oracle struct {
	judge func(text string, call int) (process.Result, error)
	calls *int
	plans *[]process.Plan
}

func (o oracle) open(_ context.Context, plan process.Plan, _, _ int, _ bool) (process.Runner, error) {
	if o.plans != nil {
		*o.plans = append(*o.plans, plan)
	}
	return o, nil
}

func (o oracle) Run(_ context.Context, c process.Case) (process.Result, error) {
	*o.calls++
	return o.judge(string(c.Input), *o.calls)
}
func (o oracle) Notes() []string { return nil }
func (o oracle) Close() error    { return nil }

func exits(code int, stdout, stderr string) process.Result {
	return process.Result{ExitCode: code, Stdout: []byte(stdout), StdoutSize: int64(len(stdout)), Stderr: []byte(stderr)}
}

// done is a campaign that has been run.
type done struct {
	before   []any // the state of each case
	outcomes []campaign.Outcome
	list     diagnostics
	c        campaign.Any
	state    any
	exec     campaign.Executor[any]
}

type diagnostics interface{ Error() string }

// execute compiles and runs a document to its end.
func execute(t *testing.T, k *operator.Contract, dir, text string) *done {
	t.Helper()
	return executeWith(t, k, dir, text, settings())
}

func executeWith(t *testing.T, k *operator.Contract, dir, text string, set campaign.Settings) *done {
	t.Helper()
	list, found := k.Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}, set)
	if found.HasErrors() {
		t.Fatal(found)
	}
	d := &done{list: found, c: list[0]}
	exec, err := campaign.Solo(t.Context(), d.c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Close() })
	d.exec, d.state = exec, d.c.Start(campaign.Facts{})
	for first := int64(0); ; {
		round, more := d.c.Round(d.state)
		if !more {
			return d
		}
		var outcomes []campaign.Outcome
		for i := range round.Len {
			o, err := exec.Execute(t.Context(), d.state, campaign.Case{Index: first + i})
			if err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, o)
			d.before = append(d.before, d.state)
		}
		d.state = d.c.Fold(d.state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, o := range outcomes {
				if !yield(campaign.Case{Index: first + int64(i)}, o) {
					return
				}
			}
		})
		d.outcomes = append(d.outcomes, outcomes...)
		first += round.Len
	}
}

// verdicts counts outcomes by verdict, in the order pass, fail, skip, error.
func (d *done) verdicts() (n [4]int) {
	for _, o := range d.outcomes {
		n[o.Verdict]++
	}
	return n
}

func (d *done) warnings() string {
	w, _ := campaign.As[campaign.Summarizer[any]](d.c)
	return strings.Join(w.Summarize(d.state).Warnings, "\n")
}

const hexOnly = `{"schema_version": "thresh.operators.v1", "name": "x", "seeds": ["seeds.jsonl"], "select": {"include": ["op_enc_hex", "op_cipher_rot"]}, "duplicates": "keep", %s}`

// made is the children of a document, by testcase id.
func made(t *testing.T, dir, text string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for id, line := range children(t, campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}) {
		var c struct {
			Text string `json:"child_text"`
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		all[id] = c.Text
	}
	return all
}

// A FAIL in the file of verdicts is a finding with all that shows it, and holds
// for the very child that it was given on.
func TestVerdictsAreFindings(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	texts := made(t, dir, fmt.Sprintf(hexOnly, `"children": 4`))
	lines := []string{
		`{"testcase_id": "question:0", "verdict": "PASS", "oracle_score": NaN}`,
		`{"testcase_id": "question:1", "verdict": "FAIL", "oracle_score": 0.9, "reply": "the key is\u200b 7"}`,
		fmt.Sprintf(`{"testcase_id": "question:2", "verdict": "fail", "child_text": %q}`, texts["question:2"]),
		`{"testcase_id": "question:3", "oracle_score": 1}`,
		`{"testcase_id": "order:0", "verdict": "FAIL", "child_text": "of another day"}`,
		`{"testcase_id": "order:9", "verdict": "FAIL"}`,
		`{"testcase_id": "nobody:1", "verdict": "FAIL"}`,
	}
	place(t, dir, "verdicts.jsonl", strings.Join(lines, "\n"))
	d := execute(t, front(), dir, fmt.Sprintf(hexOnly, `"children": 4, "verdicts": "verdicts.jsonl"`))
	if n := d.verdicts(); n != [4]int{1, 2, 5, 0} {
		t.Fatalf("pass, fail, skip, error: %v", n)
	}
	o := d.outcomes[1]
	if o.Kind != "verdict" || o.Severity != campaign.SeverityMedium || !strings.Contains(o.Title, "FAIL of children made by op_") ||
		string(o.Attached("seed")) == "" || string(o.Attached("reply")) != "the key is\u200b 7" {
		t.Errorf("%+v", o)
	}
	if !strings.Contains(d.list.Error(), `1 of 6 verdicts`) && !strings.Contains(d.list.Error(), `1 of 7 verdicts`) {
		t.Errorf("nothing says that a verdict is on no child of the seeds: %v", d.list)
	}
	for _, want := range []string{
		"1 verdict on texts that the children no longer have", "on children that this run did not make",
	} {
		if !strings.Contains(d.warnings(), want) {
			t.Errorf("nothing says %q: %s", want, d.warnings())
		}
	}
	in, _ := campaign.As[campaign.Inputter[any]](d.c)
	payload := in.Input(t.Context(), d.c.Start(campaign.Facts{}), campaign.Case{Index: 1})
	again, err := d.exec.Execute(t.Context(), d.state, campaign.Case{Index: 1, Payload: payload})
	if err != nil || again.Signature != o.Signature {
		t.Errorf("run again: %+v %v", again, err)
	}
	smaller := strings.Replace(string(payload), "Which of these three reports", "Which", 1)
	if again, err = d.exec.Execute(t.Context(), d.state, campaign.Case{Index: 1, Payload: []byte(smaller)}); err != nil || again.Verdict != campaign.VerdictSkip {
		t.Errorf("a smaller seed, on which there is no verdict: %+v %v", again, err)
	}
	p, _ := campaign.As[campaign.Promoter](d.c)
	if _, err := p.Promote(t.Context(), campaign.Finding{ID: "F-1", Kind: "verdict"}, [][]byte{payload}, dir); err == nil || !strings.Contains(err.Error(), "verdict from a file") {
		t.Errorf("promoted: %v", err)
	}
}

// A child that is equal to an earlier one, and for which another was made, counts in no
// rate: the same verdict is not told twice.
func TestRatesCountAChildOnce(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(`{"testcase_id": "question:%d", "verdict": "PASS"}`, i), fmt.Sprintf(`{"testcase_id": "order:%d", "verdict": "PASS"}`, i))
	}
	place(t, dir, "verdicts.jsonl", strings.Join(lines, "\n"))
	for duplicates, want := range map[string]int64{"exact": 2, "keep": 6} {
		d := execute(t, front(), dir, fmt.Sprintf(`{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "strength": 1, "select": {"include": ["op_enc_hex"]},
			"duplicates": %q, "children": 3, "verdicts": "verdicts.jsonl"}`, duplicates))
		s, _ := campaign.As[campaign.Summarizer[any]](d.c)
		total := int64(0)
		for _, e := range s.Summarize(d.state).Exhibits {
			if strings.HasPrefix(e.Title, "Verdicts FAIL") {
				total = e.Matrix.Cells[0][0].Total
			}
		}
		if total != want || len(d.outcomes) < 6 {
			t.Errorf("%s: %d verdicts of %d children count, want %d", duplicates, total, len(d.outcomes), want)
		}
		// Repeated texts that were to be replaced are less than was asked for.
		few := slices.ContainsFunc(s.Summarize(d.state).Warnings, func(w string) bool { return strings.HasPrefix(w, "only 2 of 6 children are distinct texts: ") })
		if few != (duplicates == "exact") {
			t.Errorf("%s: warned of few texts: %t", duplicates, few)
		}
	}
}

// A file whose verdicts nobody understands judges nothing: the run is no pass, and no rate is made of it.
func TestVerdictsThatSayNothing(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	for verdict, void := range map[string]bool{`"verdict": true`: true, `"oracle_score": 0.5`: true, `"verdict": "PASS"`: false, `"verdict": "FAIL", "child_text": "x"`: true} {
		place(t, dir, "verdicts.jsonl", `{"testcase_id": "question:0", `+verdict+`}`)
		d := execute(t, front(), dir, fmt.Sprintf(hexOnly, `"children": 1, "verdicts": "verdicts.jsonl"`))
		s, _ := campaign.As[campaign.Summarizer[any]](d.c)
		sum := s.Summarize(d.state)
		rated := slices.ContainsFunc(sum.Exhibits, func(e campaign.Exhibit) bool { return strings.HasPrefix(e.Title, "Verdicts FAIL") })
		if (sum.Void != "") != void || rated == void {
			t.Errorf("%s: void %q, rated %t", verdict, sum.Void, rated)
		}
	}
}

// Verdicts that no child of the document can have are refused.
func TestVerdictsOfOthers(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "verdicts.jsonl", `{"testcase_id": "else:0", "verdict": "FAIL"}`)
	_, found := front().Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: fmt.Appendf(nil, hexOnly, `"verdicts": "verdicts.jsonl"`)}, settings())
	if !found.HasErrors() || !strings.Contains(found.Error(), "nothing would be judged") {
		t.Error(found)
	}
}

// What an oracle's end says.
func TestOracleAnswers(t *testing.T) {
	t.Parallel() // mostly waits
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge", "")
	const traceback = "Traceback (most recent call last):\n  File \"judge.py\", line 3, in <module>\n    x = reply[\"a\"]\nKeyError: 'a'\n"
	const assertion = "Traceback (most recent call last):\n  File \"judge.py\", line 3, in <module>\n    assert not leaked\nAssertionError\n"
	for name, c := range map[string]struct {
		res  process.Result
		err  error
		want campaign.Verdict
		says string
	}{
		"held":                         {res: exits(0, "", ""), want: campaign.VerdictPass},
		"failed":                       {res: exits(1, "", ""), want: campaign.VerdictFail, says: "the oracle says FAIL"},
		"says FAIL":                    {res: exits(0, "hello\n{\"verdict\": \"FAIL\"}\n", ""), want: campaign.VerdictFail},
		"says PASS":                    {res: exits(0, "{\"verdict\": \"pass\"}", ""), want: campaign.VerdictPass},
		"talks":                        {res: exits(0, "all fine\n[1", ""), want: campaign.VerdictPass},
		"contradicts itself":           {res: exits(1, "{\"verdict\": \"PASS\"}", ""), want: campaign.VerdictError, says: "says PASS, and exits with 1"},
		"says what nobody understands": {res: exits(0, "{\"verdict\": \"MAYBE\"}", ""), want: campaign.VerdictError, says: `"MAYBE": expected PASS or FAIL`},
		"says a number":                {res: exits(0, "{\"verdict\": 0}", ""), want: campaign.VerdictError, says: "expected PASS or FAIL"},
		"crashes in Python":            {res: exits(1, "", traceback), want: campaign.VerdictError, says: "it crashed: KeyError"},
		"asserts in Python":            {res: exits(1, "", assertion), want: campaign.VerdictFail},
		"another code":                 {res: exits(3, "", "no network\nat all"), want: campaign.VerdictError, says: "the oracle gave no verdict in 3 tries: exit code 3: no network"},
		"a signal":                     {res: process.Result{Status: process.Signaled, Signal: 9}, want: campaign.VerdictError, says: "signal 9"},
		"too long":                     {res: process.Result{Status: process.TimedOut}, want: campaign.VerdictError, says: "took too long"},
		"too much":                     {res: process.Result{Stdout: []byte("x"), StdoutSize: 9}, want: campaign.VerdictError, says: "printed too much"},
		"cannot be started":            {err: errors.New("no processes left"), want: campaign.VerdictError, says: "no processes left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			k := operator.New(python.OpenOperators, oracle{judge: func(string, int) (process.Result, error) { return c.res, c.err }, calls: &calls}.open)
			d := execute(t, k, dir, fmt.Sprintf(hexOnly, `"children": 1, "oracle": {"command": ["judge"]}`))
			for _, o := range d.outcomes {
				if o.Verdict != c.want || !strings.Contains(o.Title, c.says) {
					t.Errorf("%v %q, want %v %q", o.Verdict, o.Title, c.want, c.says)
				}
			}
			if c.want == campaign.VerdictError && calls != 3*len(d.outcomes) {
				t.Errorf("asked %d times about %d children", calls, len(d.outcomes))
			}
		})
	}
}

// A call that fails once is repeated.
func TestOracleIsAskedAgain(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge", "")
	calls := 0
	k := operator.New(nil, oracle{judge: func(_ string, call int) (process.Result, error) {
		if call%2 == 1 {
			return exits(3, "", "busy"), nil
		}
		return exits(0, "", ""), nil
	}, calls: &calls}.open)
	d := execute(t, k, dir, fmt.Sprintf(hexOnly, `"children": 2, "oracle": {"command": ["judge"]}`))
	if n := d.verdicts(); n != [4]int{4, 0, 0, 0} || calls != 8 {
		t.Errorf("pass, fail, skip, error: %v, %d calls", n, calls)
	}
}

// An oracle that is down is not asked again about every child once five in a
// row came to nothing, and the campaign goes on to its end.
func TestOracleThatIsDown(t *testing.T) {
	t.Parallel() // mostly waits
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge", "")
	calls := 0
	k := operator.New(nil, oracle{judge: func(_ string, call int) (process.Result, error) {
		if call == 9 { // about the fifth child: the row begins again
			return exits(0, "", ""), nil
		}
		return exits(4, "", ""), nil
	}, calls: &calls}.open)
	d := execute(t, k, dir, fmt.Sprintf(hexOnly, `"children": 40, "oracle": {"command": ["judge"], "retries": 1}`))
	if n := d.verdicts(); n != [4]int{1, 0, 0, 79} || calls != 80+4+5 {
		t.Errorf("pass, fail, skip, error: %v, %d calls", n, calls)
	}
}

// A system that hangs is a finding where the document says so.
func TestOracleThatHangs(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge", "")
	calls := 0
	k := operator.New(nil, oracle{judge: func(string, int) (process.Result, error) { return process.Result{Status: process.TimedOut}, nil }, calls: &calls}.open)
	d := execute(t, k, dir, fmt.Sprintf(hexOnly, `"children": 3, "oracle": {"command": ["judge"], "on_timeout": "fail"}`))
	for _, o := range d.outcomes {
		if o.Verdict != campaign.VerdictFail || o.Kind != "hang" || !strings.HasPrefix(o.Title, "the oracle does not end on children made by op_") || o.Cause[0] != "hang" {
			t.Errorf("%+v", o)
		}
	}
	if calls != 6 {
		t.Errorf("%d calls", calls)
	}
}

// Children without a verdict teach a policy nothing, and take no place from
// others: what is learned is the same whichever way the cases are run.
func TestLearningWithErrors(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge", "")
	for _, policy := range []string{"exp3", "ucb1"} {
		var texts [2][]string
		for i := range texts {
			calls := 0
			k := operator.New(nil, oracle{judge: func(text string, _ int) (process.Result, error) {
				switch len(text) % 5 {
				case 0:
					return exits(3, "", ""), nil
				case 1, 2:
					return exits(1, "", ""), nil
				}
				return exits(0, "", ""), nil
			}, calls: &calls}.open)
			d := execute(t, k, dir, fmt.Sprintf(`{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "children": 24, "policy": %q, "rounds": 4,
  "select": {"include": ["op_enc_*", "op_cipher_*", "op_typo_*"]}, "duplicates": "exact", "oracle": {"command": ["judge"], "retries": 0}}`, policy))
			n := d.verdicts()
			if n[campaign.VerdictError] == 0 || n[campaign.VerdictFail] == 0 || n[0]+n[1]+n[2]+n[3] < 48 {
				t.Fatalf("%s: pass, fail, skip, error: %v", policy, n)
			}
			for _, o := range d.outcomes {
				texts[i] = append(texts[i], string(o.AppendFacts(nil)))
			}
		}
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
			t.Errorf("%s: %s", policy, diff)
		}
	}
}

// An oracle runs where the document is, with a folder of its own for files.
func TestOracleRunsBesideTheDocument(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge", "")
	place(t, dir, "rules/words.txt", "")
	calls, plans := 0, []process.Plan(nil)
	k := operator.New(nil, oracle{judge: func(string, int) (process.Result, error) { return exits(0, "", ""), nil }, calls: &calls, plans: &plans}.open)
	for folder, want := range map[string]string{"": dir, "rules": filepath.Join(dir, "rules")} {
		plans = nil
		extra := ""
		if folder != "" {
			extra = fmt.Sprintf(`, "folder": %q`, folder)
		}
		execute(t, k, dir, fmt.Sprintf(hexOnly, `"children": 1, "oracle": {"command": ["judge", "<child>"]`+extra+`}`))
		cmd := plans[0].Command(process.Paths{RunID: "id", InputPath: "/run/child", OutDir: "/run/out"})
		if cmd.Dir != want || !slices.Contains(cmd.Env, "THRESH_TMPDIR=/run/out") || !slices.Contains(cmd.Env, "THRESH_TESTCASE_ID=id") || cmd.Argv[1] != "/run/child" {
			t.Errorf("folder %q: %+v", folder, cmd)
		}
		if !plans[0].PerCase || !plans[0].Stdin { // each child has its own path, and is on standard input as well
			t.Errorf("folder %q: %+v", folder, plans[0])
		}
	}
}
