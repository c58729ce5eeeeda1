package triage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// answers executes one outcome after the other, and fails after the last.
func answers(list ...campaign.Outcome) Execute {
	i := 0
	return func(context.Context, campaign.Case) (campaign.Outcome, error) {
		if i++; i > len(list) {
			return campaign.Outcome{}, errors.New("gone")
		}
		return list[i-1], nil
	}
}

// What a confirmation keeps, what it met instead, and what it brings back when
// the target is gone.
func TestConfirmationKeepsWhatItMet(t *testing.T) {
	one, two, pass := failing("one"), failing("two"), campaign.Outcome{Title: "well"}
	one.Elapsed, two.Elapsed = 2, 7
	print := Fingerprint("c", &one)
	for name, x := range map[string]struct {
		outcomes []campaign.Outcome
		observed []string
		title    string
		elapsed  int64
		failed   bool
	}{
		"the same each time":    {[]campaign.Outcome{one, one, one}, nil, one.Title, 2, false},
		"another once":          {[]campaign.Outcome{one, two, one}, []string{Fingerprint("c", &two)}, one.Title, 7, false},
		"another first":         {[]campaign.Outcome{two, two, one}, []string{Fingerprint("c", &two), Fingerprint("c", &two)}, one.Title, 7, false},
		"it held":               {[]campaign.Outcome{pass, pass, pass}, nil, "well", 0, false},
		"it held after showing": {[]campaign.Outcome{one, pass, pass}, nil, one.Title, 2, false},
		"the target is gone":    {[]campaign.Outcome{one, two}, []string{Fingerprint("c", &two)}, one.Title, 7, true},
	} {
		conf, err := Confirm(t.Context(), answers(x.outcomes...), "c", campaign.Case{}, print, 3)
		if (err != nil) != x.failed || !slices.Equal(conf.Observed, x.observed) || conf.Outcome.Title != x.title || int64(conf.Slowest) != x.elapsed {
			t.Errorf("%s: %+v %v", name, conf, err)
		}
	}
	if conf, err := Confirm(t.Context(), answers(one), "c", campaign.Case{}, Nondeterminism("c"), 2); err == nil || conf.Outcome.Kind != one.Kind {
		t.Errorf("a disagreement that cannot be tried again: %+v %v", conf, err)
	}
	if _, err := Confirm(t.Context(), answers(), "c", campaign.Case{}, Nondeterminism("c"), 2); err == nil {
		t.Error("a disagreement that cannot be tried at all has no error")
	}
}

// Each layer tells findings apart, and so does the contract.
func TestFingerprintsDiffer(t *testing.T) {
	o := failing("one")
	other := o
	other.Kind = "timeout"
	prints := []string{Fingerprint("a", &o), Fingerprint("b", &o), Fingerprint("a", &other), Nondeterminism("a"), Nondeterminism("b"), ""}
	if slices.Sort(prints); len(slices.Compact(prints)) != 6 {
		t.Errorf("two of the fingerprints are equal: %q", prints)
	}
	id := campaign.Identity{Contract: "a", Name: "n", Digest: "d"}
	moved := id
	moved.Digest = "e"
	renamed, elsewhere := id, id
	renamed.Name, elsewhere.Contract = "m", "b"
	if FindingID(id, "p") != FindingID(moved, "p") || len(FindingID(id, "p")) != 12 {
		t.Errorf("the id of a finding depends on more than its place: %s", FindingID(id, "p"))
	}
	for _, x := range []string{FindingID(renamed, "p"), FindingID(elsewhere, "p"), FindingID(id, "q")} {
		if x == FindingID(id, "p") {
			t.Errorf("%s is of two findings", x)
		}
	}
	shown := failing("one")
	held := shown
	held.Verdict = campaign.VerdictPass
	for name, x := range map[string]struct {
		print string
		o     campaign.Outcome
		want  bool
	}{
		"the same": {Fingerprint("a", &shown), shown, true}, "it held": {Fingerprint("a", &shown), held, false}, "another": {"x", shown, false},
		"one of many": {Overflow, shown, true}, "one of many that held": {Overflow, held, false},
	} {
		if got := Shows("a", x.print, &x.o); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What a group remembers of its cases: the gravest severity, distinct inputs,
// and no cause of those that are not told apart.
func TestGroupsTellWhatTheyKeep(t *testing.T) {
	g := NewGroups("c", 0)
	o := failing("one")
	o.Severity, o.Input, o.Evidence = campaign.SeverityLow, "i", []campaign.Attachment{{Name: "stderr"}}
	first, sampled := g.Add(campaign.Case{Index: 1}, &o)
	if !sampled || first.Outcome.Evidence != nil || first.Outcome.Title != o.Title {
		t.Errorf("the first case: %+v, kept %t", first, sampled)
	}
	o.Severity = campaign.SeverityHigh
	if again, sampled := g.Add(campaign.Case{Index: 2}, &o); sampled || again != first || again.Cases != 2 || again.Outcome.Severity != campaign.SeverityHigh {
		t.Errorf("an equal input: %+v, kept %t", again, sampled)
	}
	for i := range MaxSamples {
		o.Input = ""
		if group, sampled := g.Add(campaign.Case{Index: int64(3 + i)}, &o); group != first || sampled != (i < MaxSamples-1) {
			t.Errorf("case %d without input: kept %t", i, sampled)
		}
	}
	full := NewGroups("c", MaxGroups+7)
	for i := range 2 {
		o := failing(fmt.Sprint("cause", i))
		o.Signature = "s"
		group, _ := full.Add(campaign.Case{}, &o)
		if group.Fingerprint != Overflow || group.Outcome.Cause != nil || group.Outcome.Signature != "" || group.Outcome.Title != "further failures, not distinguished" {
			t.Errorf("beyond the bound: %+v", group)
		}
	}
	if full.Len() != 1 || full.All()[0].Cases != 2 {
		t.Errorf("%d groups", full.Len())
	}
}

// A target that is gone ends the shrinking with its error, however the reducer
// takes it; one without results ends it with what there is.
func TestReduceWithoutTarget(t *testing.T) {
	fail := failing("one")
	c := campaign.Case{Payload: []byte("xxxx")}
	if red, err := Reduce(t.Context(), halver{}, answers(fail), "c", Fingerprint("c", &fail), c, Budget{Tries: 100}); err == nil || string(red.Payload) != "xx" || red.Verified {
		t.Errorf("%+v %v", red, err)
	}
	if red, err := Reduce(t.Context(), halver{}, answers(fail, fail), "c", Fingerprint("c", &fail), c, Budget{}); err != nil || string(red.Payload) != "xxxx" || !red.Verified || red.Tries != verifications {
		t.Errorf("without a budget: %+v %v", red, err)
	}
	if _, err := Reduce(t.Context(), halver{}, answers(), "c", "p", c, Budget{}); err == nil {
		t.Error("a verification that cannot be made has no error")
	}
}

// greedy asks for smaller and smaller payloads until Shrink stops.
type greedy struct{ t *testing.T }

func (g greedy) Reduce(_ context.Context, payload []byte, test func([]byte) (bool, error)) ([]byte, string) {
	for range 1000 {
		held, err := test(payload)
		if err != nil {
			if held {
				g.t.Error("a payload holds that was not tried")
			}
			break
		}
	}
	return payload, ""
}

// How often a finding is tried to be made smaller: as often as the budget says,
// less often if a case takes whole seconds, and not once it has no result.
func TestReduceBudget(t *testing.T) {
	fail := failing("one")
	none := campaign.Outcome{Verdict: campaign.VerdictError}
	for _, x := range []struct {
		budget int
		slow   time.Duration
		errors bool
		want   int
	}{{7, 0, false, 7}, {1, 0, false, 1}, {0, 0, false, 0}, {500, time.Second, false, 30}, {500, 999 * time.Millisecond, false, 500}, {500, 9 * time.Second, false, 6}, {500, 0, true, maxErrors}} {
		exec := func(context.Context, campaign.Case) (campaign.Outcome, error) {
			if x.errors {
				return none, nil
			}
			return fail, nil
		}
		red, err := Reduce(t.Context(), greedy{t}, exec, "c", Fingerprint("c", &fail), campaign.Case{Payload: []byte("x")}, Budget{Tries: x.budget, Slowest: x.slow})
		if err != nil || red.Tries != x.want+verifications || red.Verified == x.errors {
			t.Errorf("a budget of %d with cases of %s: %d tries, %v", x.budget, x.slow, red.Tries, err)
		}
	}
	if _, err := Reduce(t.Context(), greedy{t}, answers(fail), "c", "p", campaign.Case{Payload: []byte("x")}, Budget{Tries: 9}); err == nil {
		t.Error("a target that is gone has no error")
	}
}

// Findings keep their ids from version to version: users and baselines name them.
func TestIdsStayWhatTheyAre(t *testing.T) {
	o := campaign.Outcome{Kind: "crash", Signature: "s", Cause: []string{"signal", "SIGSEGV"}}
	print := Fingerprint("fuzzspec", &o)
	id := FindingID(campaign.Identity{Contract: "fuzzspec", Name: "demo"}, print)
	if print != "0ea6108b58484f1f" || id != "F-76a041311c" {
		t.Errorf("%s %s", print, id)
	}
}
