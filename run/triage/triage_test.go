package triage

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

func failing(cause ...string) campaign.Outcome {
	return campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Cause: cause}
}

func TestFingerprintLayers(t *testing.T) {
	base := failing("signal", "SIGSEGV")
	same := failing("signal", "SIGSEGV")
	same.Title, same.Data, same.Input = "other words", []byte("other facts"), "other input"
	if Fingerprint("c", &base) != Fingerprint("c", &same) {
		t.Error("what is no layer splits a group")
	}
	for i, o := range []campaign.Outcome{
		failing("signal", "SIGABRT"), failing("signal"), failing("signalSIGSEGV"), {Kind: "timeout"}, {Kind: "crash", Signature: "s", Cause: base.Cause},
	} {
		if Fingerprint("c", &base) == Fingerprint("c", &o) {
			t.Errorf("outcome %d has no group of its own", i)
		}
	}
}

func TestGroupsKeepDistinctInputsAndAreBounded(t *testing.T) {
	g := NewGroups("c", 0)
	for i := range int64(100) {
		o := failing("one")
		o.Input = fmt.Sprint(i / 10)
		g.Add(campaign.Case{Index: i}, &o)
	}
	if g.Len() != 1 || g.All()[0].Cases != 100 || len(g.All()[0].Samples) != MaxSamples || g.All()[0].Samples[1].Case.Index != 10 {
		t.Errorf("%+v", g.All()[0])
	}
	for i := range MaxGroups + 500 {
		o := failing(fmt.Sprint("cause", i))
		g.Add(campaign.Case{Index: int64(i)}, &o)
	}
	last := g.All()[g.Len()-1]
	if g.Len() != MaxGroups+1 || last.Fingerprint != Overflow || last.Cases != 501 {
		t.Errorf("%d groups, the last %s with %d cases", g.Len(), last.Fingerprint, last.Cases)
	}
}

// Earlier campaigns of a run use up what it tells apart.
func TestGroupsOfARun(t *testing.T) {
	g := NewGroups("c", MaxGroups-1)
	for i := range 5 {
		o := failing(fmt.Sprint("cause", i))
		g.Add(campaign.Case{Index: int64(i)}, &o)
	}
	if all := g.All(); len(all) != 2 || all[1].Fingerprint != Overflow || all[1].Cases != 4 {
		t.Errorf("%d groups, %+v", len(all), all[len(all)-1])
	}
}

func TestSteady(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"pid 123: boom", "pid 4567: boom", "pid <varies>: boom"},
		{"==1==ERROR at 0xdeadbeef", "==22==ERROR at 0xfeedface", "==<varies>==ERROR at <varies>"},
		{"same", "same", "same"},
		{"short", "short and more", "short"},
		{"a b", "a  b", "a b"},
	} {
		got := mergeStable([]campaign.Attachment{{Name: "stderr", Data: []byte(c.a)}}, []campaign.Attachment{{Name: "stderr", Data: []byte(c.b)}})
		if string(got[0].Data) != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got[0].Data, c.want)
		}
	}
	recorded := []campaign.Attachment{{Name: campaign.RecordedAttachment, Data: []byte(`{"at": 1}`)}}
	if got := mergeStable(recorded, []campaign.Attachment{{Name: campaign.RecordedAttachment, Data: []byte(`{"at": 2}`)}}); string(got[0].Data) != `{"at": 1}` {
		t.Errorf("what is to be replayed became %s", got[0].Data)
	}
}

// halver halves a payload for as long as that holds.
type halver struct{}

func (halver) Reduce(_ context.Context, p []byte, test func([]byte) (bool, error)) ([]byte, string) {
	for len(p) > 0 {
		if held, err := test(p[:len(p)/2]); err != nil || !held {
			break
		}
		p = p[:len(p)/2]
	}
	return p, ""
}

func TestReduce(t *testing.T) {
	runs := 0
	exec := func(_ context.Context, c campaign.Case) (campaign.Outcome, error) {
		runs++
		if c.Payload == nil {
			t.Fatal("a candidate without payload would run the case's own input")
		}
		if bytes.HasPrefix(c.Payload, []byte("xx")) {
			return failing("one"), nil
		}
		return failing("another"), nil // a different failure must not count
	}
	o := failing("one")
	c := campaign.Case{Payload: []byte("xxxxxxxxxxxxxxxx")}
	red, err := Reduce(t.Context(), halver{}, exec, "c", Fingerprint("c", &o), c, Budget{Tries: 100})
	if err != nil || string(red.Payload) != "xx" || !red.Verified || red.Tries != runs {
		t.Errorf("%+v %v after %d runs", red, err, runs)
	}
	red, err = Reduce(t.Context(), halver{}, exec, "c", Fingerprint("c", &o), c, Budget{Tries: 2})
	if err != nil || len(red.Payload) != 4 || red.Tries != 2+verifications {
		t.Errorf("with a budget of 2: %d bytes in %d tries, %v", len(red.Payload), red.Tries, err)
	}
	if red, _ = Reduce(t.Context(), halver{}, exec, "c", Fingerprint("c", &o), c, Budget{Tries: 1000, Slowest: 29 * time.Second}); red.Tries > 2+verifications {
		t.Errorf("a finding that takes 29 s a case was tried %d times", red.Tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Reduce(ctx, halver{}, exec, "c", Fingerprint("c", &o), c, Budget{Tries: 100}); err == nil {
		t.Error("a cancelled reduction has no error")
	}
}

// That equal cases have different outcomes shows in several executions alone.
func TestConfirmNondeterminism(t *testing.T) {
	for _, x := range []struct {
		answers string // the verdicts, one after the other
		same    int
	}{{"pppp", 0}, {"ffff", 0}, {"pppf", 1}, {"fppp", 3}, {"pfpf", 2}} {
		next := 0
		exec := func(context.Context, campaign.Case) (campaign.Outcome, error) {
			o := campaign.Outcome{Verdict: campaign.VerdictPass}
			if x.answers[next] == 'f' {
				o = campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Title: "SIGSEGV"}
			}
			next++
			return o, nil
		}
		conf, err := Confirm(t.Context(), exec, "x", campaign.Case{}, Nondeterminism("x"), 3)
		if err != nil || conf.Rerun != (campaign.Rerun{Tried: 3, Same: x.same}) {
			t.Errorf("%s: %+v, %v", x.answers, conf.Rerun, err)
		}
	}
}
