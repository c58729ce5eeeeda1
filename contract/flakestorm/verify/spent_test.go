package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
)

// Tokens and money, of one reply and of all replies of a cell. A border belongs
// to what is allowed.
func TestSpent(t *testing.T) {
	reply := func(in, out int64) verify.Reply {
		return verify.Reply{InputTokens: in, OutputTokens: out, TokensKnown: true}
	}
	c := &verify.Checker{}
	for _, tc := range []struct {
		yaml    string
		replies []verify.Reply
		passed  bool
		says    string
	}{
		{`{type: tokens, max: 30}`, []verify.Reply{reply(10, 20)}, true, "30 tokens within 30"},
		{`{type: tokens, max: 30}`, []verify.Reply{reply(11, 20)}, false, "31 tokens above 30"},
		{`{type: cost, max: 7, input_price: 2, output_price: 5}`, []verify.Reply{reply(1_000_000, 1_000_000)}, true, "7 cost within 7"},
		{`{type: cost, max: 6.9, input_price: 2, output_price: 5}`, []verify.Reply{reply(1_000_000, 1_000_000)}, false, "7 cost above 6.9"},
		{`{type: tokens, max: 5, percentile: 50}`, []verify.Reply{reply(1, 1), reply(2, 3), reply(90, 9)}, true, "p50 of 3 calls: 5 p50 of 3 calls: tokens within 5"},
		{`{type: tokens, max: 5, percentile: 90}`, []verify.Reply{reply(1, 1), reply(2, 3), reply(90, 9)}, false, "99 p90 of 3 calls: tokens above 5"},
		{`{type: tokens, max: 5, percentile: 50}`, []verify.Reply{reply(1, 1), {}}, false, "the number of tokens is not known"},
		{`{type: tokens, max: 5, percentile: 50}`, nil, false, "there is no reply to measure"},
		{`{type: tokens, max: 5}`, []verify.Reply{{}}, false, "the number of tokens is not known"},
		{`{type: tokens, max: 5}`, []verify.Reply{{Uncounted: 2}}, false, "the number of tokens is not known: 2 answers of the LLM without `usage`"},
		{`{type: latency, max_ms: 20, percentile: 1}`, []verify.Reply{{Latency: 30 * time.Millisecond}, {Latency: 20 * time.Millisecond}}, true, "p1 of 2 calls: 20.0 ms p1 of 2 calls: within 20 ms"},
	} {
		v := invariant(t, tc.yaml)
		var r verify.Result
		var err error
		if many := strings.Contains(tc.yaml, "percentile"); many != verify.Aggregate(&v) {
			t.Errorf("%s: aggregate is %t", tc.yaml, !many)
		} else if many {
			r, err = c.CheckAll(&v, tc.replies)
		} else {
			r, err = c.Check(t.Context(), &v, &tc.replies[0], "")
		}
		said := r.Measure + " " + r.Reason
		if err != nil {
			said = err.Error()
		}
		if r.Passed != tc.passed || !strings.Contains(said, tc.says) {
			t.Errorf("%s: %t %s, want %t %s", tc.yaml, r.Passed, said, tc.passed, tc.says)
		}
		if (err != nil) != strings.HasPrefix(tc.says, "the") || err != nil && r != (verify.Result{}) {
			t.Errorf("%s: %+v %v", tc.yaml, r, err)
		}
	}
	v := invariant(t, `{type: completes}`)
	if verify.Aggregate(&v) {
		t.Error("completes is looked at reply by reply")
	}
}

// near says that all texts are as alike as it is.
type near float64

func (near) Name() string { return "near" }

func (near) Translate(threshold float64) float64 { return threshold }

func (n near) Score(context.Context, string, string) (float64, error) {
	if n < 0 {
		return 0, errors.New("it is down")
	}
	return float64(n), nil
}

// Two texts are alike at the threshold and above it, also where they must not be.
func TestAlike(t *testing.T) {
	for _, tc := range []struct {
		yaml   string
		near   near
		passed bool
		says   string
	}{
		{`{type: similarity, expected: a, threshold: 0.5}`, 0.75, true, "alike by"},
		{`{type: similarity, expected: a, threshold: 0.5}`, 0.25, false, "not alike by"},
		{`{type: behavior_unchanged, similarity_threshold: 0.5, negate: true}`, 0.75, false, ", but must not be"},
		{`{type: behavior_unchanged, similarity_threshold: 0.5, negate: true}`, 0.25, true, ", as required"},
		{`{type: similarity, expected: a}`, -1, false, "it is down"},
		{`{type: llm_judge, criteria: it is polite}`, 1, false, "there is no model that judges"},
	} {
		v := invariant(t, tc.yaml)
		c := &verify.Checker{Measure: tc.near}
		r, err := c.Check(t.Context(), &v, &verify.Reply{Text: "b"}, "c")
		said := r.Reason
		if err != nil {
			said = err.Error()
		}
		if r.Passed != tc.passed || !strings.Contains(said, tc.says) || err != nil && r != (verify.Result{}) {
			t.Errorf("%s: %t %s, want %t %s", tc.yaml, r.Passed, said, tc.passed, tc.says)
		}
	}
	v := config.Invariant{Type: "vibes", Path: "invariants[0]"}
	if r, err := (&verify.Checker{}).Check(t.Context(), &v, &verify.Reply{}, ""); err == nil || r.Passed {
		t.Errorf("a check that is none: %+v %v", r, err)
	}
	v = invariant(t, `{type: contains, value: x, prompt_filter: refund}`)
	if r, err := (&verify.Checker{}).Check(t.Context(), &v, &verify.Reply{Prompt: "hello"}, ""); err != nil || !r.Passed || !r.Inapplicable {
		t.Errorf("a prompt that is not meant: %+v %v", r, err)
	}
}

// What a schema cannot be, and how a text breaks one.
func TestCompileSchema(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                     "not JSON: ",
		`{"$ref": "http://localhost:1/s.json"}`: "it is not fetched; what a schema refers to must stand in it",
		`{"type": 5}`:                           "/type",
		`{"pattern": "("}`:                      "(",
	} {
		if s, err := verify.CompileSchema([]byte(text)); err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	s, err := verify.CompileSchema([]byte(`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"pattern": "^(?=x)[^0-9]+$"}, "c": {"pattern": "^(?!y)\\d$"}}, "required": ["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"a": 1}`: "", `{"a": 1, "b": "xy"}`: "", `{"a": 1, "c": "3"}`: "", `nothing`: "they are not JSON",
		`{"a": "1", "b": "yx"}`: "at '/a': got string, want integer; at '/b': 'yx' does not match pattern '^(?=x)[^0-9]+$'",
		`{}`:                    "at '': missing property 'a'", `{"a": 1, "c": "٣"}`: "at '/c': '٣' does not match pattern '^(?!y)\\\\d$'",
	} {
		if got := s.Breaks([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
