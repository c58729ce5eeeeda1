package campaign_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// root is the Merkle tree's root as RFC 6962 defines it.
func root(leaves [][]byte) []byte {
	switch len(leaves) {
	case 0:
		sum := sha256.Sum256(nil)
		return sum[:]
	case 1:
		sum := sha256.Sum256(append([]byte{0}, leaves[0]...))
		return sum[:]
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	sum := sha256.Sum256(slices.Concat([]byte{1}, root(leaves[:k]), root(leaves[k:])))
	return sum[:]
}

func TestTree(t *testing.T) {
	var tree campaign.Tree
	var leaves [][]byte
	for i := range 35 {
		if got, want := tree.Root(), root(leaves); string(got) != string(want) {
			t.Fatalf("%d leaves: %x, want %x", i, got, want)
		}
		leaves = append(leaves, fmt.Append(nil, "leaf ", i))
		tree.Add(leaves[i])
	}
}

func TestDiffering(t *testing.T) {
	base := campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityLow, Kind: "k", Title: "t", Signature: "s", Cause: []string{"a"}, Input: "i"}
	for _, x := range []struct {
		change         func(*campaign.Outcome)
		exact, verdict string
	}{
		{change: func(o *campaign.Outcome) { o.Data = []byte("d") }},
		{func(o *campaign.Outcome) { o.Verdict = campaign.VerdictPass }, "another verdict", "another verdict"},
		{func(o *campaign.Outcome) { o.Kind = "" }, "another kind or title", ""},
		{func(o *campaign.Outcome) { o.Title = "" }, "another kind or title", ""},
		{func(o *campaign.Outcome) { o.Severity++ }, "another kind or title", ""},
		{func(o *campaign.Outcome) { o.Signature = "" }, "another signature or cause", ""},
		{func(o *campaign.Outcome) { o.Cause = nil }, "another signature or cause", ""},
		{func(o *campaign.Outcome) { o.Input = "" }, "another input", ""},
		{change: func(o *campaign.Outcome) { o.Kind, o.Verdict = campaign.KindEndedLater, campaign.VerdictError }},
	} {
		other := base
		x.change(&other)
		for how, want := range map[campaign.Comparison]string{campaign.CompareExact: x.exact, campaign.CompareVerdict: x.verdict} {
			if a, b := how.Differing(base, other), how.Differing(other, base); a != want || b != want {
				t.Errorf("%+v: %q and %q, want %q", other, a, b, want)
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1000": 1000, "3KiB": 3 << 10, "512MiB": 512 << 20, "4GiB": 4 << 30, "2TiB": 2 << 40,
		"9223372036854775807": math.MaxInt64, "8388607TiB": 8388607 << 40, "8388608TiB": -1, "-1": -1, "-1KiB": -1, "": -1, "KiB": -1, "5kb": -1, "1.5GiB": -1,
	} {
		n, err := campaign.ParseSize(text)
		if err != nil {
			n = -1
			if !strings.Contains(err.Error(), "such as 1048576, 512MiB or 4GiB, got \""+text) {
				t.Error(err)
			}
		}
		if n != want {
			t.Errorf("%q: %d, want %d", text, n, want)
		}
	}
}

func TestCounts(t *testing.T) {
	var c campaign.Counts
	for v, n := range map[campaign.Verdict]int{campaign.VerdictPass: 5, campaign.VerdictFail: 2, campaign.VerdictSkip: 3, campaign.VerdictError: 1} {
		for range n {
			c.Add(v)
		}
	}
	if want := (campaign.Counts{Run: 11, Pass: 5, Fail: 2, Skip: 3, Error: 1}); c != want || c.FollowUps() != 0 || c.Executed() != 11 {
		t.Errorf("%+v", c)
	}
	c.Planned = 9
	if c.FollowUps() != 2 {
		t.Errorf("%d follow-ups", c.FollowUps())
	}
	c.Replace(campaign.Counts{Pass: 2, Skip: 1})
	if want := (campaign.Counts{Planned: 8, Run: 8, Pass: 3, Fail: 2, Skip: 2, Error: 1, Replaced: 3}); c != want || c.Executed() != 11 || c.FollowUps() != 0 {
		t.Errorf("%+v", c)
	}
	c = campaign.Counts{Planned: 20, Run: 12, Pass: 12}
	c.Replace(campaign.Counts{Pass: 4})
	if c.Planned != 16 || c.Run != 8 {
		t.Errorf("%+v", c)
	}
	c.Plus(campaign.Counts{Planned: 1, Run: 2, Pass: 3, Fail: 4, Skip: 5, Error: 6, Replaced: 7})
	if want := (campaign.Counts{Planned: 17, Run: 10, Pass: 11, Fail: 4, Skip: 5, Error: 6, Replaced: 11}); c != want {
		t.Errorf("%+v", c)
	}
}

func TestWordsOfValues(t *testing.T) {
	f := campaign.Finding{Cause: []string{"LLM01:2025", "SIGSEGV", "AML.T0051.000", "x", "LLM1", "a LLM01:2025", "LLM01:2025 b"}}
	if got := strings.Join(f.Numbers(), " "); got != "LLM01:2025 AML.T0051.000" || len(f.Cause) != 7 {
		t.Error(got)
	}
	for want, x := range map[string]campaign.Traits{"": {Roughly: "at least"}, "1 case": {Planned: 1}, "at most 6 cases": {Planned: 6, Roughly: "at most"}} {
		if x.Cases() != want {
			t.Errorf("%q, want %q", x.Cases(), want)
		}
	}
	if campaign.Verdict(9).String() != "invalid" || campaign.Verdict(4).String() != "invalid" || campaign.Severity(5).String() != "invalid" || campaign.SeverityNote.String() != "note" {
		t.Error("names beyond the last")
	}
	v, s := campaign.VerdictPass, campaign.SeverityHigh
	if v.UnmarshalText([]byte("other")) != nil || v != campaign.VerdictError || s.UnmarshalText([]byte("other")) != nil || s != campaign.SeverityHigh {
		t.Errorf("%v %v", v, s)
	}
	set := campaign.Settings{Self: "/bin/thresh", Options: map[string][]string{"a": {"1", "2"}, "b": {}}}
	if got := set.Programs([]string{"{thresh}", "x={thresh}!"}); got[0] != "/bin/thresh" || got[1] != "x=/bin/thresh!" || (campaign.Settings{}).Program("{thresh}") != "{thresh}" {
		t.Error(got)
	}
	if !set.Has("a") || set.Has("b") || set.Has("c") || set.Get("a", "3") != "2" || set.Get("b", "3") != "3" {
		t.Error("options")
	}
	for text, want := range map[string]string{"": "<nil>", "-7": "-7", "x": `--seed must be a 64-bit integer, got "x"`} {
		n, err := campaign.ParseSeed(text)
		got := fmt.Sprint(n)
		switch {
		case err != nil:
			got = err.Error()
		case n != nil:
			got = fmt.Sprint(*n)
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for verdict, code := range map[string]string{"pass": "<nil>", "fail": "exit 1", "error": "exit 3"} {
		if got := fmt.Sprint((&campaign.Record{Verdict: verdict}).Exit()); got != code {
			t.Errorf("%s: %s", verdict, got)
		}
	}
}

func TestFactsThatAreNone(t *testing.T) {
	o := campaign.Outcome{Verdict: campaign.VerdictError, Severity: campaign.SeverityCritical, Title: "t", Cause: []string{"c"}}
	for _, b := range [][]byte{nil, {4}, {0x50}, {0, 9}, {0, 0, 0, 0, 0, 9}, {0, 0, 0, 0, 0, 0, 0, 7}, {0, 0x80}} {
		if got, ok := campaign.DecodeFacts(b); ok {
			t.Errorf("%x: %+v", b, got)
		}
	}
	if got, ok := campaign.DecodeFacts(o.AppendFacts(nil)); !ok || got.Severity != o.Severity || got.Verdict != o.Verdict {
		t.Errorf("%+v %t", got, ok)
	}
	if n := len((&campaign.Outcome{Verdict: campaign.VerdictSkip}).AppendFacts(nil)); n != 1 {
		t.Errorf("a case without facts takes %d bytes", n)
	}
}

// What waits stays until the receiver wants it.
func TestSequenceStops(t *testing.T) {
	s, got := campaign.NewSequence(0), []int64(nil)
	take := func(i int64, _ campaign.Outcome) bool { got = append(got, i); return i != 1 }
	s.Add(2, campaign.Outcome{}, take)
	s.Add(1, campaign.Outcome{}, take)
	s.Add(0, campaign.Outcome{}, take)
	if !slices.Equal(got, []int64{0, 1}) || s.Next() != 2 {
		t.Errorf("%v, next %d", got, s.Next())
	}
}

// doing is a campaign and all that belongs to it; it counts what is closed.
type doing struct {
	campaign.Campaign[int]
	fails  bool
	closed *[]string
}

func (d doing) Open(*campaign.Cache) campaign.Session[int] { return d }
func (d doing) Identity() campaign.Identity                { return campaign.Identity{Contract: "doing"} }
func (d doing) Executor(context.Context, campaign.Lane) (campaign.Executor[int], error) {
	if d.fails {
		return nil, errors.New("no lane")
	}
	return lane{d.closed}, nil
}
func (d doing) Close() error { *d.closed = append(*d.closed, "session"); return errors.New("session") }

type lane struct{ closed *[]string }

func (l lane) Execute(_ context.Context, state int, c campaign.Case) (campaign.Outcome, error) {
	return campaign.Outcome{Kind: fmt.Sprint(state, c.Index)}, nil
}
func (l lane) Close() error { *l.closed = append(*l.closed, "lane"); return io.EOF }

func TestSolo(t *testing.T) {
	var closed []string
	c := campaign.Erase[int](doing{closed: &closed})
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := x.Execute(t.Context(), 7, campaign.Case{Index: 3}); err != nil || o.Kind != "7 3" {
		t.Errorf("%+v, %v", o, err)
	}
	if l, ok := campaign.As[lane](x); !ok || l.closed != &closed {
		t.Error("the executor is hidden")
	}
	if err := x.Close(); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "session") || !slices.Equal(closed, []string{"lane", "session"}) {
		t.Errorf("%v, closed %v", err, closed)
	}
	closed = nil
	if _, err := campaign.Solo(t.Context(), campaign.Erase[int](doing{fails: true, closed: &closed}), campaign.Lane{}); err == nil || !strings.Contains(err.Error(), "no lane") || len(closed) != 1 {
		t.Errorf("%v, closed %v", err, closed)
	}
	_, err = c.(campaign.Materializer[any]).Materialize(t.Context(), 7, campaign.Case{})
	if campaign.NamesOf(c, 7) != nil || err == nil || err.Error() != "doing cases cannot be written out as files" {
		t.Errorf("what the campaign does not implement: %v", err)
	}
	if in := c.(campaign.Inputter[any]).Input(t.Context(), 7, campaign.Case{Payload: []byte("p")}); string(in) != "p" {
		t.Errorf("%q", in)
	}
	if campaign.TraitsOf(c).Once(campaign.Case{}, nil) != "" {
		t.Error("a case may not be executed twice")
	}
}

// What a test of a finding may do is said of those that did not show each time.
func TestAboutAFinding(t *testing.T) {
	for _, x := range []struct {
		f    campaign.Finding
		want string
	}{
		{campaign.Finding{Rerun: campaign.Rerun{Tried: 2, Same: 2}}, ""},
		{campaign.Finding{Flaky: true, Rerun: campaign.Rerun{Tried: 3, Same: 1}}, " It failed the same way in 1 of 3 re-runs, so the test may pass although the bug is there."},
		{campaign.Finding{Flaky: true, Rerun: campaign.Rerun{Errors: 2}}, " It was not confirmed, so the test may pass although the bug is there."},
		{campaign.Finding{Unconfirmed: "it sends mail"}, " It was not confirmed, so the test may pass although the bug is there."},
	} {
		x.f.ID, x.f.Title = "F-1", "it broke"
		if got, want := x.f.About("One case."), "Regression test for F-1: it broke. One case."+x.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestKindsOfErrors(t *testing.T) {
	inner := errors.New("why")
	for i, x := range []struct {
		err                    error
		fatal, transient, redo bool
		text                   string
	}{
		{campaign.Fatal("a: %w", inner), true, false, false, "a: why"},
		{campaign.Transient("b: %w", inner), false, true, false, "b: why"},
		{&campaign.RedoError{Reason: "slow"}, false, false, true, "campaign must be run again cold: slow"},
		{&campaign.GoneError{Err: inner}, false, false, false, "why"},
	} {
		err := fmt.Errorf("%w", x.err)
		reason, redo := campaign.IsRedo(err)
		if campaign.IsFatal(err) != x.fatal || campaign.IsTransient(err) != x.transient || redo != x.redo || err.Error() != x.text || (reason == "slow") != redo {
			t.Errorf("%d: %v", i, err)
		}
		if !redo && !errors.Is(err, inner) {
			t.Errorf("%v hides its cause", err)
		}
	}
}
