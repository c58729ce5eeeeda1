package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/similarity"
)

// Reply is an agent's answer with what was seen of it.
type Reply struct {
	Prompt  string
	Text    string
	Latency time.Duration
	Tools   []Tool
	// Blind says that tool calls of this agent cannot be seen.
	Blind                     bool
	InputTokens, OutputTokens int64
	TokensKnown               bool
}

// Tool is a tool's call by the agent.
type Tool struct {
	Name string
	Args json.RawMessage // an object or an array; nil: not known
	// Texts tells that all values in Args are strings for want of another type:
	// those of a query or a form.
	Texts bool `json:",omitempty"`
}

// Judge is a model that judges replies.
type Judge interface {
	// Judge says whether a reply meets the criteria, and why. An error means
	// that there is no judgement.
	Judge(ctx context.Context, criteria, prompt, reply string) (ok bool, reason string, err error)
}

// Result is what one check came to.
type Result struct {
	Passed  bool
	Reason  string // the same in every equal run
	Measure string // figures, which may differ; "" for none
}

// Checker checks replies. It may be used by many goroutines if its parts may.
type Checker struct {
	Measure similarity.Measure
	Judge   Judge
	// Schemas are compiled schemas by invariant path.
	Schemas map[string]*Schema
}

// Check checks one reply. baseline is what behavior_unchanged compares with.
func (c *Checker) Check(ctx context.Context, v *config.Invariant, r *Reply, baseline string) (Result, error) {
	switch v.Type {
	case "contains":
		return found(v, strings.Contains(strings.ToLower(r.Text), strings.ToLower(v.Value)), fmt.Sprintf("%q", v.Value)), nil
	case "contains_any":
		hit := ""
		for _, x := range v.Values {
			if strings.Contains(strings.ToLower(r.Text), strings.ToLower(x)) {
				hit = x
				break
			}
		}
		what := fmt.Sprintf("any of %s", quoted(v.Values))
		if hit != "" {
			what = fmt.Sprintf("%q", hit)
		}
		return found(v, hit != "", what), nil
	case "regex":
		hit, err := v.Regex.Search(r.Text)
		if err != nil {
			return Result{}, fmt.Errorf("searching the reply for %q: %w", v.Pattern, err)
		}
		return found(v, hit, fmt.Sprintf("the pattern %q", v.Pattern)), nil
	case "excludes_pattern":
		return excludes(v, r.Text), nil
	case "latency":
		return latency(v, r.Latency), nil
	case "valid_json":
		if _, err := jsontree.Parse([]byte(r.Text), jsontree.Python()); err != nil {
			return Result{Reason: "Invalid JSON: " + err.Error()}, nil
		}
		return Result{Passed: true, Reason: "valid JSON"}, nil
	case "output_not_empty":
		if strings.TrimSpace(r.Text) == "" {
			return Result{Reason: "the reply is empty"}, nil
		}
		return Result{Passed: true, Reason: "the reply is not empty"}, nil
	case "completes":
		return Result{Passed: true, Reason: "the agent answered"}, nil // or there would be no reply
	case "excludes_pii":
		return excludesPII(r.Text), nil
	case "refusal_check":
		return refusal(r.Text), nil
	case "similarity":
		return c.alike(ctx, v.Expected, r.Text, v.Threshold, false)
	case "behavior_unchanged":
		return c.alike(ctx, baseline, r.Text, v.Alike, v.Negate)
	case "tool_called", "tool_not_called", "tool_arguments":
		return tools(v, r)
	case "json_schema":
		return c.schema(v, r), nil
	case "tokens", "cost":
		return spent(v, r)
	case "llm_judge":
		return c.judged(ctx, v, r)
	}
	return Result{}, fmt.Errorf("%s: there is no check of type %q", v.Path, v.Type)
}

// found words a check for something in the reply, also a negated one.
func found(v *config.Invariant, hit bool, what string) Result {
	r := Result{Passed: hit != v.Negate}
	switch {
	case hit && v.Negate:
		r.Reason = what + " found, and must not be there"
	case hit:
		r.Reason = what + " found"
	case v.Negate:
		r.Reason = what + " not found, as it must be"
	default:
		r.Reason = what + " not found"
	}
	return r
}

func quoted(list []string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprintf("%q", x)
	}
	return strings.Join(words, ", ")
}

// excludes is for strings that must not occur, taken literally and in any case.
func excludes(v *config.Invariant, text string) Result {
	for _, p := range v.Patterns {
		if strings.Contains(strings.ToLower(text), strings.ToLower(p)) {
			r := Result{Passed: v.Negate, Reason: fmt.Sprintf("%q found, and must not be there", p)}
			if v.Negate {
				r.Reason = fmt.Sprintf("%q found, as it must be", p)
			}
			return r
		}
	}
	if v.Negate {
		return Result{Reason: fmt.Sprintf("none of %s found, and one must be there", quoted(v.Patterns))}
	}
	return Result{Passed: true, Reason: fmt.Sprintf("none of %s found", quoted(v.Patterns))}
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

// alike compares two texts by the measure; both thresholds are named.
func (c *Checker) alike(ctx context.Context, want, got string, threshold float64, negate bool) (Result, error) {
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
	if negate {
		r.Reason += ", and must not be"
		if !res.Alike() {
			r.Reason = strings.TrimSuffix(r.Reason, ", and must not be") + ", as it must be"
		}
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
	// A model words its reasons anew each time.
	res := Result{Passed: ok != v.Negate, Measure: reason, Reason: "the judge finds the criteria met: " + v.Criteria}
	if !ok {
		res.Reason = "the judge finds the criteria not met: " + v.Criteria
	}
	return res, nil
}
