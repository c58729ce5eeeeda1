package spectest

import (
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// A case that is judged by its expectation holds when its verdict is the one
// expected, and by itself otherwise; both say the same of that verdict.
func TestExpectations(t *testing.T) {
	holds, breaks := "[{target: text, must: [{contain: [id]}]}]", "[{target: text, must: [{regex: ['\\Anowhere']}]}]"
	skipped := "requires: {capabilities: [unheard.of], when_missing: skip}"
	for name, x := range map[string]struct {
		keys    string
		verdict campaign.Verdict // under its expectation
		status  string
		why     string // what is not as expected
	}{
		"holds":                           {"assert: " + holds, campaign.VerdictPass, "pass", ""},
		"fails":                           {"assert: " + breaks, campaign.VerdictFail, "fail", "it fails with category assertion, and no expectation says that it should"},
		"holds, as expected":              {"assert: " + holds + ", expect: {portable: {status: pass, category: null}}", campaign.VerdictPass, "pass", ""},
		"fails, as expected":              {"assert: " + breaks + ", expect: {portable: {status: fail, category: assertion}}", campaign.VerdictPass, "fail", ""},
		"fails with the words expected":   {"assert: " + breaks + ", expect: {portable: {status: fail, category: assertion, message_tokens: [nowhere]}}", campaign.VerdictPass, "fail", ""},
		"fails with other words":          {"assert: " + breaks + ", expect: {portable: {status: fail, category: assertion, message_tokens: [elephant]}}", campaign.VerdictFail, "fail", `the message does not contain "elephant"`},
		"fails in another way":            {"assert: " + breaks + ", expect: {portable: {status: fail, category: schema}}", campaign.VerdictFail, "fail", "category is assertion, expected schema"},
		"fails though it should hold":     {"assert: " + breaks + ", expect: {portable: {status: pass, category: null}}", campaign.VerdictFail, "fail", "status is fail, expected pass"},
		"holds though it should fail":     {"assert: " + holds + ", expect: {portable: {status: fail, category: assertion}}", campaign.VerdictFail, "pass", "status is pass, expected fail"},
		"skipped":                         {"assert: " + holds + ", " + skipped, campaign.VerdictSkip, "skip", ""},
		"skipped, as expected":            {"assert: " + holds + ", " + skipped + ", expect: {portable: {status: skip, category: null}}", campaign.VerdictSkip, "skip", ""},
		"skipped though it should not be": {"assert: " + holds + ", " + skipped + ", expect: {portable: {status: pass, category: null}}", campaign.VerdictFail, "skip", "status is skip, expected pass"},
	} {
		doc := blockDocument("- {id: A, type: text.file, " + x.keys + "}\n")
		c := soleCampaign(t, doc, map[string][]string{OptExpect: {"true"}})
		o := outcomes(t, c)[0]
		r, ran := c.Result(0, &o)
		if o.Verdict != x.verdict || !ran || r.Status != x.status || r.Why != x.why || r.Expected != (x.why == "") || !strings.Contains(o.Title, x.why) {
			t.Errorf("%s: %v %q, %t %+v", name, o.Verdict, o.Title, ran, r)
		}
		if failed := r.Status == "fail"; failed != (r.Category != "") || failed != (r.Message != "") {
			t.Errorf("%s: %+v", name, r)
		}
		c = soleCampaign(t, doc, nil)
		o = outcomes(t, c)[0]
		alone, ran := c.Result(0, &o)
		if !ran || alone.Status != x.status || alone.Expected != (x.status != "fail") {
			t.Errorf("%s, by itself: %t %+v", name, ran, alone)
		}
	}
	c := soleCampaign(t, blockDocument("- {id: A, type: text.file, assert: "+holds+"}\n"), nil)
	for name, o := range map[string]campaign.Outcome{"an error": {Verdict: campaign.VerdictError}, "damaged": {Data: []byte("{")}} {
		if r, ran := c.Result(0, &o); ran {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// On a busy machine a predicate gets its time once more, counted as the
// processor gives it.
func TestExpired(t *testing.T) {
	past := time.Now().Add(-time.Second)
	_, known := threadTime()
	for name, x := range map[string]struct {
		e    evaluator
		want bool
	}{
		"no deadline":        {evaluator{c: &Case{}}, false},
		"before it":          {evaluator{c: &Case{}, deadline: time.Now().Add(time.Hour)}, false},
		"no time of its own": {evaluator{c: &Case{}, deadline: past}, true},
		"an hour of it":      {evaluator{c: &Case{timeout: time.Hour}, deadline: past}, !known},
		"that is over too":   {evaluator{c: &Case{timeout: time.Hour}, deadline: past, overtime: 1}, true},
	} {
		for range 2 {
			if got := x.e.expired(); got != x.want {
				t.Errorf("%s: %t", name, got)
			}
		}
	}
}
