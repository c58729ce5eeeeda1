package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
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
		"two at that place":        {[]campaign.Finding{found("F-0000000012", "empty", "7"), found("F-0000000013", "empty", "8")}, "F-0000000012"},
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

// Two accepted findings of one place stay so when both move.
func TestKnownFindingsOfOnePlaceMove(t *testing.T) {
	dir := t.TempDir()
	found := func(id, line string) campaign.Finding {
		return campaign.Finding{ID: id, Contract: "c", Campaign: "n", Title: "ValueError in a.py:rate line " + line, Cause: []string{"exception", "ValueError", "rate at a.py:" + line}}
	}
	one := found("F-0000000001", "3")
	text := fmt.Sprintf("schema: thresh.known.v1\nfindings:\n  - {id: F-0000000001, place: %[1]s, owner: o, note: n, until: 2999-12-31}\n  - {id: F-0000000002, place: %[1]s, owner: o, note: n, until: 2999-12-31}\n", store.Place(&one))
	if err := os.WriteFile(filepath.Join(dir, KnownFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rec := campaign.Record{
		Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Source: filepath.Join(dir, "doc")}},
		Findings:  []campaign.Finding{found("F-0000000011", "4"), found("F-0000000012", "9"), found("F-0000000013", "12")},
	}
	known, err := New().known(&rec)
	if _, third := known["F-0000000013"]; len(known) != 2 || third || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}

// All that is wrong with a list is said at once, each with its place, and nothing is known
// then.
func TestListsOfKnownFindings(t *testing.T) {
	for text, want := range map[string]string{
		"schema: thresh.known.v1\nfindings:\n  - {id: F-0123456789, owner: a, note: b, until: 2026-12-31}\n": "",
		"a: [": "1:1: error: did not find expected node content",
		"schema: thresh.known.v2\nfindings:\n  - {id: F-123, owner: a, note: b, until: 2026-12-31, place: P-xyz, who: c}\n  - {id: F-0123456789, owner: '', until: soon}\n  - {id: F-0123456789, owner: a, note: b, until: '2026-02-30'}\n  - {id: F-0123456789, owner: a, note: b, until: 2026-02-28, place: P-0123456789}": `1:9: error: schema: must be thresh.known.v1, got "thresh.known.v2" (did you mean thresh.known.v1?)
3:10: error: findings[0].id: must be a finding's id, such as F-3fa9c1d2e0
3:62: error: findings[0].place: must be a finding's place, such as P-3fa9c1d2e0
3:69: error: findings[0].who: is not a known key (known keys: id, place, owner, note, until)
4:5: error: findings[1].note: must be given
4:31: error: findings[1].owner: must not be empty
4:42: error: findings[1].until: must be a day, such as 2026-12-31
5:10: error: findings[2].id: F-0123456789 is listed twice
5:50: error: findings[2].until: must be a day, such as 2026-12-31
6:10: error: findings[3].id: F-0123456789 is listed twice`,
	} {
		_, err := readKnown("k.yaml", []byte(text))
		list, _ := err.(diag.List)
		var got []string
		for _, d := range list {
			got = append(got, strings.TrimPrefix(d.String(), "k.yaml:"))
		}
		if g := strings.Join(got, "\n"); g != want || len(list) == 0 && err != nil {
			t.Errorf("%s\ngot\n%s\n%v", text, g, err)
		}
	}
}

// What was accepted until yesterday counts again, and is said to.
func TestKnownFindingExpires(t *testing.T) {
	dir := t.TempDir()
	text := "schema: thresh.known.v1\nfindings:\n  - {id: F-0000000001, owner: o, note: n, until: 2026-05-05}\n"
	if err := os.WriteFile(filepath.Join(dir, KnownFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for day, want := range map[int]bool{4: true, 5: true, 6: false} {
		said := ""
		a := &App{Warn: func(list diag.List) { said += list[0].String() }}
		rec := campaign.Record{
			Campaigns:   []campaign.CampaignRecord{{Contract: "c", Name: "n", Source: filepath.Join(dir, "doc")}},
			Findings:    []campaign.Finding{{ID: "F-0000000001", Contract: "c", Campaign: "n"}},
			Environment: campaign.Environment{Started: time.Date(2026, 5, day, 23, 0, 0, 0, time.UTC)},
		}
		known, err := a.known(&rec)
		k, is := known["F-0000000001"]
		if is != want || err != nil || is && k != (report.Known{Owner: "o", Note: "n", Until: "2026-05-05", File: filepath.Join(dir, KnownFile)}) ||
			strings.Contains(said, "F-0000000001 was accepted until 2026-05-05 and counts again") == want {
			t.Errorf("%d: %+v, %v, %s", day, known, err, said)
		}
	}
}
