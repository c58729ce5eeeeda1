package spectest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Result is the result of one case, in the terms of conformance reports.
type Result struct {
	ID       string
	Status   string // "pass", "fail" or "skip"
	Category string // of a failure; "" otherwise
	Message  string // of a failure; "" otherwise
	// Expected reports whether the result matches the case's expect metadata or, without any, whether
	// the case did not fail.
	Expected bool
	Why      string // the difference from the expectation; "" if there is none
	Document string // name of the document; empty until the caller fills it in
	Line     int    // of the case's block
}

// raw is what an outcome stores for a case that is judged by its expectation.
type raw struct {
	Status string `json:"status"`
	Why    string `json:"why,omitempty"` // the difference from the expectation
	result
}

// judgeExpectation judges a case by its expected result.
func (x *executor) judgeExpectation(c *Case, f *Failure) campaign.Outcome {
	r := raw{Status: "pass", result: result{Failure: f, Line: c.From}}
	switch {
	case f != nil:
		r.Status = "fail"
	case c.skip != "":
		r.Status = "skip"
	}
	why := c.mismatch(r.Status, f)
	r.Why = why
	var o campaign.Outcome
	if why != "" {
		told := &Failure{Category: Assertion, Path: "expect", Message: why, Want: why, Line: c.From}
		if f != nil {
			told.Target, told.Op, told.actual = f.Target, f.Op, f.actual
			told.Want = why + " (" + f.summary() + ")"
		}
		o = x.failed(c, told, "expectation", why)
		if f != nil && r.Failure.Want == "" {
			r.Failure.Want = why
		}
	}
	if c.skip != "" && why == "" {
		o.Verdict = campaign.VerdictSkip
	}
	o.Data, _ = json.Marshal(r) // strings, numbers and booleans
	return o
}

// mismatch describes how a result differs from the expected one; "" if it does not.
func (c *Case) mismatch(status string, f *Failure) string {
	category, message := "", ""
	if f != nil {
		category, message = f.Category, f.Message
	}
	e := c.expect
	if e == nil {
		if f != nil {
			return "it fails with category " + category + ", and no expectation says that it should"
		}
		return ""
	}
	if status != e.Status {
		return fmt.Sprintf("status is %s, expected %s", status, e.Status)
	}
	if category != e.Category {
		return fmt.Sprintf("category is %s, expected %s", cmp.Or(category, "null"), cmp.Or(e.Category, "null"))
	}
	for _, t := range e.Tokens {
		if !strings.Contains(message, t) {
			return fmt.Sprintf("the message does not contain %q", t)
		}
	}
	return ""
}

// Result returns the result of case i from its outcome, and false if the case could not run.
func (c *Campaign) Result(i int64, o *campaign.Outcome) (Result, bool) {
	cs := c.Case(i)
	r := Result{ID: cs.ID, Line: cs.From, Status: "pass", Expected: true}
	if r.ID == "" {
		r.ID = fmt.Sprintf("%s:%d", c.name, cs.From)
	}
	var kept raw
	switch {
	case o.Verdict == campaign.VerdictError:
		return r, false
	case len(o.Data) > 0:
		if json.Unmarshal(o.Data, &kept) != nil {
			return r, false
		}
		r.Status, r.Why = kept.Status, kept.Why
		if kept.Status == "" && kept.Failure == nil { // some blocks of a page did not run
			r.Status = o.Verdict.String()
		} else if kept.Status == "" { // judged without its expectation
			r.Status, r.Why = "fail", "it fails"
		}
		r.Expected = r.Why == ""
		if kept.Failure != nil {
			r.Category, r.Message = kept.Category, kept.Message
			if strings.TrimSpace(r.Message) == "" {
				r.Message = r.Category + " failure"
			}
		}
	case o.Verdict == campaign.VerdictSkip:
		r.Status = "skip"
	}
	return r, true
}
