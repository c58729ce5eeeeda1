package triage

import (
	"context"
	"errors"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A re-run without a result says nothing of the finding: it neither makes it
// flaky nor confirms it.
func TestConfirmCountsReRunsWithoutResult(t *testing.T) {
	fail, pass := failing("one"), campaign.Outcome{}
	none := campaign.Outcome{Verdict: campaign.VerdictError, Title: "the disk was full"}
	for name, give := range map[string]struct {
		outcomes []campaign.Outcome
		want     campaign.Rerun
		flaky    bool
		verdict  campaign.Verdict // of the outcome that is kept
	}{
		"all fail":           {[]campaign.Outcome{fail, fail, fail}, campaign.Rerun{Tried: 3, Same: 3}, false, campaign.VerdictFail},
		"one without result": {[]campaign.Outcome{fail, none, fail}, campaign.Rerun{Tried: 2, Same: 2, Errors: 1}, false, campaign.VerdictFail},
		"the first without":  {[]campaign.Outcome{none, fail, fail}, campaign.Rerun{Tried: 2, Same: 2, Errors: 1}, false, campaign.VerdictFail},
		"one holds":          {[]campaign.Outcome{fail, none, pass}, campaign.Rerun{Tried: 2, Same: 1, Errors: 1}, true, campaign.VerdictFail},
		"none has a result":  {[]campaign.Outcome{none, none, none}, campaign.Rerun{Errors: 3}, true, campaign.VerdictError},
		"holds, then none":   {[]campaign.Outcome{pass, none, none}, campaign.Rerun{Tried: 1, Errors: 2}, true, campaign.VerdictPass},
	} {
		i := 0
		exec := func(context.Context, campaign.Case) (campaign.Outcome, error) {
			i++
			return give.outcomes[i-1], nil
		}
		conf, err := Confirm(t.Context(), exec, "c", campaign.Case{}, Fingerprint("c", &fail), 3)
		if err != nil || conf.Rerun != give.want || conf.Flaky() != give.flaky || conf.Outcome.Verdict != give.verdict {
			t.Errorf("%s: %v %+v flaky %t, outcome %s", name, err, conf.Rerun, conf.Flaky(), conf.Outcome.Verdict)
		}
	}
}

// For a finding of nondeterminism a missing answer is no other answer.
func TestDisagreeCountsReRunsWithoutResult(t *testing.T) {
	none := campaign.Outcome{Verdict: campaign.VerdictError}
	a, b := campaign.Outcome{Data: []byte("a")}, campaign.Outcome{Data: []byte("b")}
	for name, give := range map[string]struct {
		outcomes []campaign.Outcome
		want     campaign.Rerun
	}{
		"differs":          {[]campaign.Outcome{a, b, a}, campaign.Rerun{Tried: 2, Same: 1}},
		"one is missing":   {[]campaign.Outcome{a, none, b}, campaign.Rerun{Tried: 1, Same: 1, Errors: 1}},
		"first is missing": {[]campaign.Outcome{none, a, b}, campaign.Rerun{Errors: 1}},
	} {
		i := 0
		exec := func(context.Context, campaign.Case) (campaign.Outcome, error) {
			i++
			return give.outcomes[i-1], nil
		}
		if conf, err := Confirm(t.Context(), exec, "c", campaign.Case{}, Nondeterminism("c"), 2); err != nil || conf.Rerun != give.want {
			t.Errorf("%s: %v %+v, want %+v", name, err, conf.Rerun, give.want)
		}
	}
}

// A target that cannot be run any more ends the shrinking, not the run.
func TestReduceStopsWhereNothingHasAResult(t *testing.T) {
	fail := failing("one")
	for _, broken := range []error{nil, errors.New("gone")} {
		calls := 0
		exec := func(context.Context, campaign.Case) (campaign.Outcome, error) {
			if calls++; calls < 5 {
				return fail, nil
			}
			return campaign.Outcome{Verdict: campaign.VerdictError}, broken
		}
		red, err := Reduce(t.Context(), nibbler{}, exec, "c", Fingerprint("c", &fail), campaign.Case{Payload: make([]byte, 64)}, Budget{Tries: 1000})
		if broken != nil {
			if !errors.Is(err, broken) {
				t.Errorf("%v, want %v", err, broken)
			}
			continue
		}
		if err != nil || red.Verified || !red.NoResult || calls != 4+maxErrors+verifications || len(red.Payload) != 60 {
			t.Errorf("%v %d calls, %d bytes, verified %t", err, calls, len(red.Payload), red.Verified)
		}
	}
}

// nibbler takes a byte away as long as that holds, and tries on a few times.
type nibbler struct{}

func (nibbler) Reduce(_ context.Context, payload []byte, test func([]byte) (bool, error)) ([]byte, string) {
	for range 20 {
		held, err := test(payload[1:])
		if err != nil {
			break
		}
		if held {
			payload = payload[1:]
		}
	}
	return payload, ""
}
