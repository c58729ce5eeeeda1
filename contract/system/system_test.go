package system

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
)

var shop = []sut.Operation{
	{Name: "share", Method: "GET", Schema: json.RawMessage(`{"type":"object","required":["by"],"properties":{"by":{"type":"integer","minimum":0}}}`),
		Arguments: []sut.Argument{{Name: "by", In: "query", Type: "integer"}},
		Answers:   map[string]json.RawMessage{"200": json.RawMessage(`{"type":"object","required":["left"]}`), "422": nil}},
	{Name: "order", Method: "POST", Schema: json.RawMessage(`{"type":"object"}`)},
}

func TestVerdicts(t *testing.T) {
	for _, x := range []struct {
		valid bool
		o     sut.Observation
		want  string // kind and title
	}{
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1}`)}, ""},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{}`)}, "answer share: the answer does not fit its schema: the value: missing property 'left'"},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`<p>`)}, "answer share: the answer does not fit its schema: it is no JSON"},
		{true, sut.Observation{End: sut.Answered, Status: 201}, "undeclared-status share: HTTP 201 is not declared"},
		{true, sut.Observation{End: sut.Refused, Status: 404}, "undeclared-status share: HTTP 404 is not declared"},
		{false, sut.Observation{End: sut.Refused, Status: 404}, ""},
		{true, sut.Observation{End: sut.Refused, Status: 429}, ""},
		{true, sut.Observation{End: sut.Refused, Status: 422}, ""},
		{true, sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500"}, "crash share: HTTP 500"},
		{true, sut.Observation{End: sut.Hung}, "timeout share: no answer in time"},
		{true, sut.Observation{End: sut.Refused, Why: "KeyError: 'a'"}, `internal-error share: reports an error of its runtime for valid input: "KeyError"`},
		{false, sut.Observation{End: sut.Refused, Why: "KeyError: 'a'"}, ""},
		{true, sut.Observation{End: sut.Refused, Why: "there is no such order"}, ""},
		{false, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1}`)}, "accepted"},
	} {
		out := judge(nil, &shop[0], &input{Operation: "share", Valid: x.valid}, &x.o)
		got := strings.TrimSpace(out.Kind + " " + out.Title)
		if got == "" {
			got = string(out.Data)
		}
		if got != x.want {
			t.Errorf("valid=%t %+v: %q, want %q", x.valid, x.o, got, x.want)
		}
	}
}

// What may change something is not among the cases unless it is asked for, and
// what failed once is not called with several special arguments.
func TestRounds(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, seed: 1}
	if !c.spared(&shop[1]) || c.spared(&shop[0]) {
		t.Error("POST is called unasked, or GET is not")
	}
	c.writes = true
	if c.spared(&shop[1]) {
		t.Error("POST is not called though it was asked for")
	}
	data, err := json.Marshal(shop[:1])
	if err != nil {
		t.Fatal(err)
	}
	s := c.Start(campaign.Facts{Data: data})
	first, ok := c.Round(s)
	if !ok || first.Len == 0 || first.Len > 2 {
		t.Fatalf("the first round has %d cases", first.Len)
	}
	next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
		yield(campaign.Case{Index: 0}, campaign.Outcome{Verdict: campaign.VerdictFail})
	})
	if r, _ := c.Round(next); r.Len != 0 {
		t.Errorf("%d calls of an operation whose usual call fails", r.Len)
	}
	passed := c.Fold(s, func(func(campaign.Case, campaign.Outcome) bool) {})
	if r, _ := c.Round(passed); r.Len < 10 {
		t.Errorf("%d calls with one special argument", r.Len)
	}
}

func TestRefused(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	document, want, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	none := func(string) (string, error) { return "", os.ErrNotExist }
	_, list := New(nil).Compile(context.Background(), campaign.Spec{Path: "x.system.yaml", Data: []byte(strings.ReplaceAll(document, "|", "\n"))},
		campaign.Settings{Digest: none})
	if len(list) != 1 || !strings.HasPrefix(list.Render(diag.Style{}), want) {
		t.Errorf("%v, want %s", list, want)
	}
}
