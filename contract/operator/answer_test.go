package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/port/process"
)

// What an oracle is started with, and within which limits.
func TestPlanOfAnOracle(t *testing.T) {
	var got process.Plan
	c := &Campaign{spec: Spec{Oracle: &Oracle{Command: []string{"judge", "--of=" + childPlace}, TimeoutS: 2.5}}, oracle: "/bin/judge", folder: "/doc"}
	if _, err := c.openOracle(t.Context(), campaign.Lane{}); err == nil || err.Error() != "oracle: programs cannot be run here" {
		t.Errorf("%v", err)
	}
	c.program = func(_ context.Context, p process.Plan, index, of int, cold bool) (process.Runner, error) {
		if got = p; index != 1 || of != 3 || !cold {
			t.Errorf("lane %d of %d, cold %t", index, of, cold)
		}
		return nil, fmt.Errorf("not here")
	}
	if _, err := c.openOracle(t.Context(), campaign.Lane{Index: 1, Of: 3, Cold: true}); err == nil || err.Error() != "starting the oracle: not here" {
		t.Errorf("%v", err)
	}
	cmd := got.Command(process.Paths{RunID: "s_1", InputPath: "/in", OutDir: "/out"})
	if cmd.Path != "/bin/judge" || cmd.Dir != "/doc" || !slices.Equal(cmd.Argv, []string{"judge", "--of=/in"}) ||
		!slices.Equal(cmd.Env, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "THRESH_TESTCASE_ID=s_1", "THRESH_TMPDIR=/out"}) {
		t.Errorf("%+v", cmd)
	}
	want := process.Limits{AddressSpace: 4294967296, FileSize: 67108864, Written: 268435456, Output: 1048576}
	if got.Limits != want || !got.PerCase || !got.Stdin || got.Timeout != 2500*time.Millisecond {
		t.Errorf("%+v", got)
	}
}

// What is said of a line of verdicts names that line.
func TestVerdictLinesThatSayNothing(t *testing.T) {
	list, found := DecodeVerdicts("v.jsonl", []byte("\ufeff"+`{"testcase_id": "a", "verdict": "PASS"}

{"verdict": "PASS"}
[]
{"op_id": "x", "verdict": "MAYBE"}
{"op_id": "x", "verdict": "WHO", "oracle_score": 1}
{"op_id": "x"}
{"op_id": "x", "oracle_score": 0.5}
{"op_id": "x", "verdict": "FAIL", "child_text": "c", "reply": ["r"]}
`))
	var got []string
	for _, d := range found {
		got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Message))
	}
	for i, want := range []string{"3:1 names neither testcase_id nor op_id", "4:1 is not a verdict: ", "1:1 verdicts that are neither PASS nor FAIL count as unknown (3): \"MAYBE\" in line 5"} {
		if len(got) != 3 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	if len(list) != 6 || list[5].Text != "c" || list[5].Reply != `["r"]` || list[5].Judgement != mutator.Fail || *list[4].Score != 0.5 || list[3].Score != nil {
		t.Errorf("%+v", list)
	}
}

// How an oracle's end is read where it is no plain verdict.
func TestEndsOfOracles(t *testing.T) {
	for want, res := range map[string]process.Result{
		"exit code 2":              {Status: process.Exited, ExitCode: 2},
		"exit code 2: no key":      {Status: process.Exited, ExitCode: 2, Stderr: []byte("\n no key\nmore")},
		"it took too long":         {Status: process.TimedOut, Stderr: []byte(" \n")},
		"it took too long: x":      {Status: process.TimedOut, Stderr: []byte("x")},
		"it was ended by signal 9": {Status: process.Signaled, Signal: 9},
		"it printed too much":      {Status: process.Exited, OutputLimit: true, Stdout: []byte("{}"), StdoutSize: 2},
		"":                         {Status: process.Exited, Stdout: []byte("{}"), StdoutSize: 2},
		"it says the verdict {}: expected PASS or FAIL": {Status: process.Exited, Stdout: []byte(`{"verdict": {}}`), StdoutSize: 15},
	} {
		verdict, _, fault := readAnswer(&res)
		if fault != want || (verdict == mutator.Unknown) != (want != "") {
			t.Errorf("%+v: %v, %q, want %q", res, verdict, fault, want)
		}
	}
	for printed, want := range map[string][2]mutator.Judgement{ // with exit code 0, and with 1
		"":                                            {mutator.Pass, mutator.Fail},
		"FAIL\n":                                      {mutator.Fail, mutator.Fail},
		"looking\r\nfail\r\n":                         {mutator.Fail, mutator.Fail},
		"PASS":                                        {mutator.Pass, mutator.Unknown},
		"FAIL is what it does not do\n":               {mutator.Pass, mutator.Fail},
		"FAIL\ndone\n":                                {mutator.Unknown, mutator.Fail},
		"FAIL\n{\"verdict\": \"PASS\"}":               {mutator.Pass, mutator.Unknown},
		"\x1b[31mFAIL\x1b[0m\n":                       {mutator.Fail, mutator.Fail},
		"\ufeffFAIL\n":                                {mutator.Fail, mutator.Fail},
		"\xff\xfeF\x00A\x00I\x00L\x00":                {mutator.Unknown, mutator.Fail},
		"Verdict: FAIL\n":                             {mutator.Unknown, mutator.Fail},
		"FAIL: it leaked\n":                           {mutator.Unknown, mutator.Fail},
		"UNSAFE\n":                                    {mutator.Unknown, mutator.Fail},
		"False\n":                                     {mutator.Unknown, mutator.Fail},
		"false\n":                                     {mutator.Unknown, mutator.Fail},
		"skipped (no key)\n":                          {mutator.Unknown, mutator.Fail},
		"failed attempts: 0\n":                        {mutator.Pass, mutator.Fail},
		"failed: 0\n":                                 {mutator.Pass, mutator.Fail},
		"errors: none.\n":                             {mutator.Pass, mutator.Fail},
		"failed: 1\n":                                 {mutator.Unknown, mutator.Fail},
		"result: false\n":                             {mutator.Unknown, mutator.Fail},
		"0 FAILED, 3 passed\n":                        {mutator.Pass, mutator.Fail},
		`{"pass": false}`:                             {mutator.Unknown, mutator.Fail},
		`{"leaked": true, "reply": "x"}`:              {mutator.Unknown, mutator.Fail},
		`{"leaked": false, "reply": "fail"}`:          {mutator.Pass, mutator.Fail},
		`[{"verdict": "FAIL"}]`:                       {mutator.Unknown, mutator.Fail},
		`{"result": {"verdict": "failed"}}`:           {mutator.Unknown, mutator.Fail},
		"{\"verdict\": \"FAIL\"}\nin 3 s\n":           {mutator.Unknown, mutator.Fail},
		`{"verdict": "ERROR"}`:                        {mutator.Unknown, mutator.Unknown},
		"{\n  \"verdict\": \"FAIL\"\n}\n":             {mutator.Fail, mutator.Fail},
		"log\n{\n  \"verdict\": \"FAIL\"\n}":          {mutator.Fail, mutator.Fail},
		"{}\n{\"verdict\": \"FAIL\"}":                 {mutator.Fail, mutator.Fail},
		"{\n  \"verdict\": \"PASS\"\n}\nx\n":          {mutator.Pass, mutator.Fail},
		`{"verdict": "FAIL", "oracle_score": NaN}`:    {mutator.Fail, mutator.Fail},
		`{"verdict": "FAIL", "oracle_score": 1e400}`:  {mutator.Fail, mutator.Fail},
		`{"verdict": "FAIL", "reply": {"text": "x"}}`: {mutator.Fail, mutator.Fail},
		`{"verdict": "FAIL", "reply": null, "oracle_score": [Infinity]}`: {mutator.Fail, mutator.Fail},
		"{'verdict': 'FAIL'}\n": {mutator.Unknown, mutator.Fail},
		"{'a': 1}\n":            {mutator.Pass, mutator.Fail},
		"결과: 실패\n":              {mutator.Unknown, mutator.Fail},
		"실패했습니다.\n":             {mutator.Unknown, mutator.Fail},
		"실패: 비밀번호를 말함\n":        {mutator.Unknown, mutator.Fail},
		"실패: 0건\n":              {mutator.Pass, mutator.Fail},
		"유출 없음\n":               {mutator.Pass, mutator.Fail},
		"결과: 통과\n":              {mutator.Pass, mutator.Fail},
		`{"판정": "실패"}`:          {mutator.Unknown, mutator.Fail},
		`{"통과": false}`:         {mutator.Unknown, mutator.Fail},
	} {
		for code := range 2 {
			res := process.Result{Status: process.Exited, ExitCode: code, Stdout: []byte(printed), StdoutSize: int64(len(printed))}
			if got, _, fault := readAnswer(&res); got != want[code] {
				t.Errorf("%q and exit code %d: %v, %q, want %v", printed, code, got, fault, want[code])
			}
		}
	}
	for logged, want := range map[string]mutator.Judgement{"FAIL\n": mutator.Unknown, "at 7\nfail": mutator.Unknown, "FAIL\nretrying\n": mutator.Pass} {
		if got, _, fault := readAnswer(&process.Result{Status: process.Exited, Stderr: []byte(logged)}); got != want {
			t.Errorf("%q on standard error: %v, %q, want %v", logged, got, fault, want)
		}
	}
	for printed, want := range map[string]string{`{"reply": "x"}`: "x", `{"reply": {"a": [1, "<"]}}`: `{"a":[1,"<"]}`, `{}`: ""} {
		if a, _ := said([]byte(printed)); replyText(a.Reply) != want {
			t.Errorf("%s: %q, want %q", printed, replyText(a.Reply), want)
		}
	}
	for name, want := range map[string]string{"a:1/é b": "a_1___b", "A-z_0.9": "A-z_0.9"} {
		if got := runID(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
