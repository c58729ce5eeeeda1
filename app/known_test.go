package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// An accepted finding stays so when lines above its place change its id, and another
// finding that now has the old id is not accepted in its place.
func TestKnownFindingMoves(t *testing.T) {
	dir := t.TempDir()
	found := func(id, message, line string) campaign.Finding {
		return campaign.Finding{
			ID: id, Contract: "c", Campaign: "n", Kind: "crash", Title: "ValueError in a.py:rate line " + line + ": " + message,
			Cause: []string{"exception", "ValueError", "rate at a.py:" + line},
		}
	}
	// Two failures of one function, of which one has another message.
	first, other := found("F-0000000001", "empty", "3"), found("F-0000000002", "too long", "4")
	plain := campaign.Finding{ID: "F-0000000003", Contract: "c", Campaign: "n", Kind: "crash", Title: "signal"}
	var entries []string
	for _, f := range []campaign.Finding{first, plain} {
		entry := strings.NewReplacer("WHO", "ana", "WHY", f.Title[:6], "YYYY-MM-DD", "2999-12-31").Replace(KnownEntry(&f))
		if strings.Contains(entry, "place:") != (f.ID == first.ID) {
			t.Errorf("the entry of %s:\n%s", f.ID, entry)
		}
		entries = append(entries, strings.TrimPrefix(entry, "schema: thresh.known.v1\nfindings:\n"))
	}
	text := "schema: thresh.known.v1\nfindings:\n" + strings.Join(entries, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, KnownFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		findings []campaign.Finding
		want     string
	}{
		"as they were": {[]campaign.Finding{first, other, plain}, "F-0000000001 F-0000000003"},
		"a line more":  {[]campaign.Finding{found("F-0000000011", "empty", "4"), other}, "F-0000000011"},
		"another has the old id": {
			[]campaign.Finding{found("F-0000000001", "too long", "3"), found("F-0000000011", "empty", "9")}, "F-0000000011",
		},
		"one of two at that place": {[]campaign.Finding{found("F-0000000012", "empty", "7"), first}, "F-0000000001"},
		"others":                   {[]campaign.Finding{other}, ""},
	} {
		rec := campaign.Record{Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Source: filepath.Join(dir, "doc")}}, Findings: x.findings}
		known, err := New().known(&rec)
		var got []string
		for _, f := range x.findings {
			if _, is := known[f.ID]; is {
				got = append(got, f.ID)
			}
		}
		if g := strings.Join(got, " "); g != x.want || err != nil {
			t.Errorf("%s: %q are known, want %q: %v", name, g, x.want, err)
		}
	}
}
