package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/score"
	"github.com/thresh-dev/thresh/engine/similarity"
)

// Reply is an agent's answer and what was observed about it.
type Reply struct {
	Prompt  string
	Text    string
	Latency time.Duration
	Tools   []Tool
	Own     []string `json:"-"` // names that calls have as their own, beside those of Tools
	// Blind says that this agent's tool calls cannot be seen.
	Blind                     bool
	InputTokens, OutputTokens int64
	TokensKnown               bool
	Uncounted                 int // answers of LLMs that do not say how many tokens they used
}

// Tool is a call of a tool by the agent.
type Tool struct {
	Name  string
	Names []string        `json:"-"` // other names
	Path  []string        `json:"-"` // further names of a request, see [judge.Pattern.Owned]
	Args  json.RawMessage // an object or an array; nil: not known
	// Texts says that all values in Args are strings because the call has no other type, as in a
	// query or a form.
	Texts bool `json:",omitempty"`
}

// Judge is a model that judges replies.
type Judge interface {
	// Judge says whether a reply meets the criteria, and why. It returns an error if there is no
	// judgement.
	Judge(ctx context.Context, criteria, prompt, reply string) (ok bool, reason string, err error)
}

// Result is the result of one check.
type Result struct {
	Passed  bool
	Reason  string // the same in every equal run
	Measure string // figures, which may differ; "": none
	// Inapplicable says that the invariant is for other prompts.
	Inapplicable bool
}

// Checker checks replies. Many goroutines may use it if they may use its parts.
type Checker struct {
	Measure similarity.Measure
	Judge   Judge
	// Schemas holds the compiled schemas by the path of their invariant.
	Schemas map[string]*Schema
}

// Check checks one reply. baseline is the text that behavior_unchanged compares with.
func (c *Checker) Check(ctx context.Context, v *config.Invariant, r *Reply, baseline string) (Result, error) {
	if v.Filter != nil {
		applies, err := v.Filter.Search(r.Prompt)
		if err != nil {
			return Result{}, fmt.Errorf("searching the prompt for %s: %w", v.Path+".prompt_filter", err)
		}
		if !applies {
			return Result{Passed: true, Reason: "does not apply: the prompt does not match prompt_filter", Inapplicable: true}, nil
		}
	}
	switch v.Type {
	case "contains", "not_contains", "contains_any", "regex", "excludes_pattern", "excludes_pii", "refusal", "refusal_check",
		"valid_json", "output_not_empty":
		return checkText(v, r.Text)
	case "latency":
		return latency(v, r.Latency), nil
	case "completes":
		return Result{Passed: true, Reason: "the agent answered"}, nil // without an answer there would be no reply to check
	case "similarity":
		return c.compareTexts(ctx, v.Expected, r.Text, v.Threshold, false)
	case "behavior_unchanged":
		return c.compareTexts(ctx, baseline, r.Text, v.Alike, v.Negate)
	case "tool_called", "tool_not_called", "tool_arguments":
		return tools(v, r)
	case "json_schema":
		return c.schema(v, r)
	case "tokens", "cost":
		return checkUsage(v, r)
	case "llm_judge":
		return c.judged(ctx, v, r)
	}
	return Result{}, fmt.Errorf("%s: there is no check of type %q", v.Path, v.Type)
}

// checkText checks the text of the reply alone.
func checkText(v *config.Invariant, text string) (Result, error) {
	d := judge.Demand{
		Type: v.Type, Value: v.Value, Values: v.Values, Patterns: v.Patterns, Excluded: v.Excluded, Pattern: v.Pattern, Regex: v.Regex,
		Exact: v.Exact, Negate: v.Negate,
	}
	ok, reason, err := d.Judge(text)
	return Result{Passed: ok, Reason: reason}, err
}

func latency(v *config.Invariant, took time.Duration) Result {
	ms := float64(took) / float64(time.Millisecond)
	r := Result{Passed: ms <= v.MaxMS, Measure: fmt.Sprintf("%.1f ms", ms)}
	r.Reason = fmt.Sprintf("within %g ms", v.MaxMS)
	if !r.Passed {
		r.Reason = fmt.Sprintf("latency exceeded %g ms", v.MaxMS)
	}
	return r
}

// compareTexts compares two texts by the measure. The reason names the threshold.
func (c *Checker) compareTexts(ctx context.Context, want, got string, threshold float64, negate bool) (Result, error) {
	res, err := similarity.Compare(ctx, c.Measure, want, got, threshold)
	if err != nil {
		return Result{}, fmt.Errorf("comparing the reply by %s: %w", c.Measure.Name(), err)
	}
	r := Result{Passed: res.Alike() != negate, Measure: res.String()}
	switch {
	case res.Alike():
		r.Reason = fmt.Sprintf("alike by %s at threshold %g", res.Measure, res.Wanted)
	default:
		r.Reason = fmt.Sprintf("not alike by %s at threshold %g", res.Measure, res.Wanted)
	}
	switch {
	case negate && res.Alike():
		r.Reason += ", but must not be"
	case negate:
		r.Reason += ", as required"
	}
	return r, nil
}

func (c *Checker) judged(ctx context.Context, v *config.Invariant, r *Reply) (Result, error) {
	if c.Judge == nil {
		return Result{}, fmt.Errorf("%s: there is no model that judges", v.Path)
	}
	ok, reason, err := c.Judge.Judge(ctx, v.Criteria, r.Prompt, r.Text)
	if err != nil {
		return Result{}, fmt.Errorf("asking the judge about %q: %w", v.Criteria, err)
	}
	// The reason must not vary from run to run, and a model words its own differently each time.
	res := Result{Passed: ok != v.Negate, Measure: reason, Reason: "the judge finds the criteria met: " + v.Criteria}
	if !ok {
		res.Reason = "the judge finds the criteria not met: " + v.Criteria
	}
	return res, nil
}

// value returns what a call cost, in tokens or in money.
func value(v *config.Invariant, r *Reply) (float64, error) {
	if !r.TokensKnown && r.Uncounted > 0 {
		return 0, fmt.Errorf("%s: the number of tokens is not known: %s of the LLM without `usage`; OpenAI's API streams it if asked for by stream_options: {include_usage: true}",
			v.Path, diag.Plural(r.Uncounted, "answer"))
	}
	if !r.TokensKnown {
		return 0, fmt.Errorf("%s: the number of tokens is not known: neither the reply says it nor do the agent's calls to its LLM go through Thresh", v.Path)
	}
	if v.Type == "tokens" {
		return float64(r.InputTokens + r.OutputTokens), nil
	}
	return (float64(r.InputTokens)*v.InputPrice + float64(r.OutputTokens)*v.OutputPrice) / 1e6, nil
}

func checkUsage(v *config.Invariant, r *Reply) (Result, error) {
	x, err := value(v, r)
	if err != nil {
		return Result{}, err
	}
	return checkLimit(v, x, ""), nil
}

func checkLimit(v *config.Invariant, x float64, what string) Result {
	r := Result{Passed: (x <= v.Max) != v.Negate, Measure: fmt.Sprintf("%s%g", what, x), Reason: fmt.Sprintf("%s%s within %g", what, v.Type, v.Max)}
	if x > v.Max {
		r.Reason = fmt.Sprintf("%s%s above %g", what, v.Type, v.Max)
	}
	return r
}

// CheckAll checks an invariant on all replies of a cell together, by its percentile.
func (c *Checker) CheckAll(v *config.Invariant, replies []Reply) (Result, error) {
	if len(replies) == 0 {
		return Result{}, fmt.Errorf("%s: there is no reply to measure", v.Path)
	}
	values := make([]float64, len(replies))
	for i := range replies {
		if v.Type == "latency" {
			values[i] = float64(replies[i].Latency)
			continue
		}
		x, err := value(v, &replies[i])
		if err != nil {
			return Result{}, err
		}
		values[i] = x
	}
	x, ok := score.Percentile(values, v.Percentile)
	if !ok {
		return Result{}, fmt.Errorf("%s: there is nothing to measure", v.Path)
	}
	what := fmt.Sprintf("p%g of %s: ", v.Percentile, diag.Plural(len(values), "call"))
	if v.Type == "latency" {
		r := latency(v, time.Duration(x))
		r.Measure, r.Reason = what+r.Measure, what+r.Reason
		return r, nil
	}
	return checkLimit(v, x, what), nil
}
