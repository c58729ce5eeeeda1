package campaign_test

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/campaign"
)

func outcomes() *rapid.Generator[campaign.Outcome] {
	return rapid.Custom(func(t *rapid.T) campaign.Outcome {
		o := campaign.Outcome{
			Verdict: campaign.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict")), Severity: campaign.Severity(rapid.IntRange(0, 4).Draw(t, "severity")),
			Kind: rapid.String().Draw(t, "kind"), Title: rapid.String().Draw(t, "title"), Signature: rapid.String().Draw(t, "signature"),
			Input: rapid.String().Draw(t, "input"),
		}
		if c := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "cause"); len(c) > 0 {
			o.Cause = c
		}
		if d := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "data"); len(d) > 0 {
			o.Data = d
		}
		return o
	})
}

func TestFactsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := outcomes().Draw(t, "outcome")
		b := o.AppendFacts(nil)
		got, ok := campaign.DecodeFacts(b)
		if !ok || !reflect.DeepEqual(got, o) {
			t.Fatalf("%+v became %+v (%t)", o, got, ok)
		}
		for cut := range len(b) {
			if part, ok := campaign.DecodeFacts(b[:cut]); ok && reflect.DeepEqual(part, o) {
				t.Fatalf("%d of %d bytes gave the whole outcome", cut, len(b))
			}
		}
	})
}

func FuzzDecodeFacts(f *testing.F) {
	o := campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Cause: []string{"a", "b"}, Data: []byte{1}}
	f.Add(o.AppendFacts(nil))
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, ok := campaign.DecodeFacts(b)
		if !ok {
			return
		}
		if again, ok := campaign.DecodeFacts(o.AppendFacts(nil)); !ok || !reflect.DeepEqual(again, o) {
			t.Errorf("%x is not steady: %+v, %+v", b, o, again)
		}
	})
}

// Whatever the order in which results come, and however often, each is
// released once, in order.
func TestSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(0, 1000).Draw(t, "first")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		order := make([]int64, n)
		for i := range order {
			order[i] = first + int64(i)
		}
		order = rapid.Permutation(order).Draw(t, "order")
		order = append(order, order[:n/2]...) // some come twice
		s := campaign.NewSequence(first)
		var got []int64
		for _, i := range order {
			s.Add(i, campaign.Outcome{Kind: "k"}, func(index int64, _ campaign.Outcome) bool {
				got = append(got, index)
				return true
			})
		}
		if len(got) != n || !slices.IsSorted(got) || got[0] != first || s.Next() != first+int64(n) {
			t.Fatalf("released %v, next %d", got, s.Next())
		}
	})
}

func TestDigestTellsEverythingApart(t *testing.T) {
	sum := func(c campaign.Case, o campaign.Outcome) string {
		d := campaign.NewDigest(sha256.New(), campaign.Identity{Contract: "c", Name: "n"})
		d.Case(c, &o)
		return string(d.Sum())
	}
	base := campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "k", Title: "t", Signature: "s", Cause: []string{"a", "b"}, Input: "i", Data: []byte("d")}
	seen := map[string]bool{sum(campaign.Case{}, base): true}
	for i, change := range []func(*campaign.Case, *campaign.Outcome){
		func(c *campaign.Case, _ *campaign.Outcome) { c.Index++ },
		func(c *campaign.Case, _ *campaign.Outcome) { c.Round++ },
		func(_ *campaign.Case, o *campaign.Outcome) { o.Verdict = campaign.VerdictPass },
		func(_ *campaign.Case, o *campaign.Outcome) { o.Severity++ },
		func(_ *campaign.Case, o *campaign.Outcome) { o.Kind, o.Title = "kt", "" },
		func(_ *campaign.Case, o *campaign.Outcome) { o.Cause = []string{"ab"} },
		func(_ *campaign.Case, o *campaign.Outcome) { o.Data = nil },
	} {
		c, o := campaign.Case{}, base
		change(&c, &o)
		if s := sum(c, o); seen[s] {
			t.Errorf("change %d does not show in the digest", i)
		} else {
			seen[s] = true
		}
	}
	o := base
	o.Elapsed, o.Evidence = 5, []campaign.Attachment{{Name: "stderr", Data: []byte("pid 7")}}
	if !seen[sum(campaign.Case{}, o)] {
		t.Error("clocks or evidence show in the digest")
	}
}

func TestVerdictText(t *testing.T) {
	for _, v := range []campaign.Verdict{campaign.VerdictPass, campaign.VerdictFail, campaign.VerdictSkip, campaign.VerdictError} {
		b, err := v.MarshalText()
		var back campaign.Verdict
		if err != nil || back.UnmarshalText(b) != nil || back != v {
			t.Errorf("%v became %v", v, back)
		}
	}
	var s campaign.Severity
	if err := s.UnmarshalText([]byte("critical")); err != nil || s != campaign.SeverityCritical {
		t.Errorf("%v %v", s, err)
	}
}

func BenchmarkDigest(b *testing.B) {
	d := campaign.NewDigest(sha256.New(), campaign.Identity{})
	var o campaign.Outcome
	b.ReportAllocs()
	for i := range b.N {
		d.Case(campaign.Case{Index: int64(i)}, &o)
	}
	if bytes.Equal(d.Sum(), nil) {
		b.Fatal("no digest")
	}
}
