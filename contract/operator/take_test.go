package operator

import (
	"reflect"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Which of what is said of a child becomes the outcome of its case: the worse of
// what its operator did and of what the system did.
func TestTake(t *testing.T) {
	child := &mutator.Child{
		Job:   mutator.Job{Seed: &mutator.Seed{}},
		Steps: []textop.Step{{OpID: "op_a"}, {OpID: "op_b"}}, Applied: []mutator.Applied{{Status: textop.OK}, {Status: textop.Skipped}},
	}
	const says = "the verdicts say FAIL of children made by op_a"
	for name, x := range map[string]struct {
		before campaign.Outcome
		says   mutator.Judgement
		want   campaign.Outcome
	}{
		"it passed":                       {campaign.Outcome{}, mutator.Pass, campaign.Outcome{}},
		"nobody knows":                    {campaign.Outcome{}, mutator.Unknown, campaign.Outcome{}},
		"it failed":                       {campaign.Outcome{}, mutator.Fail, campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityMedium, Title: says}},
		"a breach of less weight":         {campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityLow, Title: "a breach"}, mutator.Fail, campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityMedium, Title: says}},
		"a breach of as much":             {campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityMedium, Title: "a breach"}, mutator.Fail, campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityMedium, Title: "a breach"}},
		"a breach though the system held": {campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityLow, Title: "a breach"}, mutator.Pass, campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityLow, Title: "a breach"}},
	} {
		c, out := &Campaign{spec: Spec{}}, x.before
		f0 := facts{}
		out.Data = f0.encode()
		c.applyVerdict(child, judged{judgement: x.says, reply: "no", verdict: &Verdict{Line: []byte("{}")}}, &out)
		f, ok := decodeFacts(out.Data)
		if !ok || !f.judged || f.judgement != x.says || f.more || f.reply != "" {
			t.Errorf("%s: facts %+v", name, f)
		}
		if out.Verdict != x.want.Verdict || out.Severity != x.want.Severity || out.Title != x.want.Title {
			t.Errorf("%s: %v %v %q", name, out.Verdict, out.Severity, out.Title)
		}
		if failed := out.Verdict == campaign.VerdictFail; (string(out.Attached("reply")) == "no") != failed {
			t.Errorf("%s: the reply is kept: %q", name, out.Attached("reply"))
		}
	}
}

// A failure of the system is named and grouped by what was got past, and the
// bucket of the seed if there is one.
func TestBlame(t *testing.T) {
	for _, x := range []struct {
		bucket textop.Bucket
		v      judged
		title  string
		severe campaign.Severity
	}{
		{"", judged{broken: "no-canary"}, "the reply breaks no-canary on a prompt", 0},
		{"LLM01", judged{broken: "no-canary"}, "the reply breaks no-canary on a prompt for " + BucketLabel("LLM01"), 0},
		{"", judged{broken: "crashed", ended: true}, "the system crashed on a prompt", campaign.SeverityHigh},
		{"", judged{broken: "hung", ended: true}, "the system hung on a prompt", 0},
	} {
		child, out := &mutator.Child{Job: mutator.Job{Seed: &mutator.Seed{}}}, campaign.Outcome{Kind: kindVerdict}
		child.Seed.Bucket = x.bucket
		x.v.blame(child, &out)
		if out.Title != x.title || out.Severity != x.severe || out.Signature != out.Kind+"\n"+x.v.broken+"\n"+string(x.bucket) || (out.Kind == kindVerdict) == x.v.ended {
			t.Errorf("%q of %q: %+v", x.v.broken, x.bucket, out)
		}
	}
}

// The line of a finding says why the reply breaks the judge.
func TestRefine(t *testing.T) {
	why := []campaign.Attachment{{Name: "judge", Data: []byte("polite holds: it is\nno-canary fails: \"heron\" found\nthe system crashed: KeyError: 'x'\n")}}
	for title, want := range map[string]string{
		"the reply breaks no-canary on a prompt":          `the reply breaks no-canary: "heron" found`,
		"the reply breaks no-canary on a prompt for LEAK": `the reply breaks no-canary for LEAK: "heron" found`,
		"the reply breaks polite on a prompt":             "the reply breaks polite on a prompt",
		"the system hung on a prompt":                     "the system hung on a prompt",
		"the system crashed on a prompt for LEAK":         "the system crashed on a prompt for LEAK: KeyError: 'x'",
	} {
		if got, _ := (&Campaign{}).Refine(title, 0, campaign.Outcome{Evidence: why}); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
}

func TestVerdictTable(t *testing.T) {
	for line, want := range map[string][][]string{
		`{"testcase_id": "a:0", "verdict": "FAIL"}`:                      {{"testcase_id", "a:0"}, {"verdict", `"FAIL"`}},
		`{"testcase_id": "a:0", "verdict": true, "oracle_score": 0.5}`:   {{"testcase_id", "a:0"}, {"verdict", "true"}, {"oracle_score", "0.5"}},
		`{"testcase_id": "a:0", "verdict": "FAIL", "oracle_score": NaN}`: {{"testcase_id", "a:0"}, {"verdict", `"FAIL"`}, {"oracle_score", "null"}},
		`{`: nil,
	} {
		e, ok := verdictTable([]byte(line))
		if ok != (want != nil) || ok && !reflect.DeepEqual(e.Table.Rows, want) {
			t.Errorf("%s: %t %+v", line, ok, e)
		}
	}
}

// A line of a file of verdicts names the operators that made the child, by
// itself or by its trace.
func TestVerdictLines(t *testing.T) {
	list, found := DecodeVerdicts("v.jsonl", []byte(`{"op_id": "op_a", "verdict": "FAIL"}

{"testcase_id": "s:1", "verdict": "PASS", "ts": 7, "mutation_trace": [{"op_id": "op_b", "status": "OK"}, {"op_id": "op_c", "status": "SKIPPED"}]}
{"testcase_id": "s:2", "oracle_score": 2.5}
`))
	want := []Verdict{
		{Operators: []string{"op_a"}, Judgement: mutator.Fail},
		{Testcase: "s:1", Operators: []string{"op_b"}, Judgement: mutator.Pass, At: 7},
		{Testcase: "s:2", Judgement: mutator.Unknown},
	}
	rewards := []float64{1, 0, 1}
	if len(found) > 0 || len(list) != len(want) {
		t.Fatalf("%+v %v", list, found)
	}
	for i, v := range list {
		if r := v.reward(); r != rewards[i] {
			t.Errorf("line %d is worth %v, want %v", i, r, rewards[i])
		}
		if v.Line, v.Score = nil, nil; !reflect.DeepEqual(v, want[i]) {
			t.Errorf("line %d: %+v, want %+v", i, v, want[i])
		}
	}
}
