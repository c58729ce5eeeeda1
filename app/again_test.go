package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// put writes a file below a folder and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// pageOf is a page with a case that must end with 0.
func pageOf(id, path string) string {
	return "```yaml spec-test\nid: " + id + "\ntype: cli.run\nargv: []\nexit_code: 0\nharness: {entrypoint: " + path + "}\n```\n"
}

// A finding that does not reproduce each time is run ten times or more.
func TestFlakyFindingsAreRunOften(t *testing.T) {
	dir, a, st := office(t)
	flip := put(t, dir, "flip.sh", "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 2\nif [ -e on ]; then rm on; exit 0; fi\n: > on\nexit 1\n")
	rec, err := a.Run(t.Context(), Job{Paths: []string{put(t, dir, "flip.spec.md", pageOf("FLIP", flip))}, Store: st.Dir(), Workers: 1})
	if err != nil || len(rec.Findings) != 1 || !rec.Findings[0].Flaky {
		t.Fatalf("%v %+v", err, rec.Findings)
	}
	for times, want := range map[int]int{1: 10, 12: 12} {
		r, err := a.Replay(t.Context(), st, rec.Findings[0].ID, ReplayJob{Times: times})
		if err != nil || r.RunID != rec.RunID || r.Rerun.Tried != want || r.Rerun.Same != want/2 {
			t.Errorf("%d times: %v %+v", times, err, r.Rerun)
		}
	}
}

// Of a run of several documents a case is that of a campaign, which must be named.
func TestCasesOfSeveralDocuments(t *testing.T) {
	dir, a, st := office(t)
	paths := []string{filepath.Join(dir, "page.spec.md"), put(t, dir, "more.spec.md", strings.ReplaceAll(page, "_", "_0"))}
	rec, err := a.Run(t.Context(), Job{Paths: paths, Store: st.Dir(), Workers: 1})
	if err != nil || len(rec.Campaigns) != 2 {
		t.Fatal(err, rec.Campaigns)
	}
	many := "2 run " + rec.RunID + " has 2 campaigns; name a finding"
	if _, _, err := a.RunCase(t.Context(), st, rec.RunID, "", "", 0, ""); said(err) != many {
		t.Error(said(err))
	}
	if _, err := a.Materialize(t.Context(), st, rec.RunID, 0); said(err) != many {
		t.Error(said(err))
	}
	if _, _, err := a.KeptCase(st, rec.RunID, "", "", 0); said(err) != many {
		t.Error(said(err))
	}
	for _, c := range rec.Campaigns {
		o, _, err := a.RunCase(t.Context(), st, rec.RunID, c.Contract, c.Name, 1, "")
		if err != nil || o.Verdict != campaign.VerdictFail || !strings.Contains(o.Title, filepath.Base(c.Name)) {
			t.Errorf("%s: %v %+v", c.Name, err, o)
		}
	}
	for _, f := range rec.Findings {
		if _, err := a.Shrink(t.Context(), st, f.ID, 9); said(err) != "2 spectest findings cannot be made smaller" {
			t.Error(said(err))
		}
		if r, err := a.Replay(t.Context(), st, f.ID, ReplayJob{Times: 2}); err != nil || r.Rerun != (campaign.Rerun{Tried: 2, Same: 2}) || r.Now != "" {
			t.Errorf("%s: %v %+v", f.ID, err, r)
		}
	}
	// One is mended: replaying it shows that.
	put(t, dir, "notes.txt", "one\ntwo\n")
	for _, f := range rec.Findings {
		want := campaign.Rerun{Tried: 1, Same: 1}
		if strings.Contains(f.Title, "MISSED_1") || strings.Contains(f.Title, "MISSED_01") {
			want.Same = 0
		}
		if r, err := a.Replay(t.Context(), st, f.ID, ReplayJob{Times: 1}); err != nil || r.Rerun != want {
			t.Errorf("%s: %v %+v", f.Title, err, r)
		}
	}
}

// A report distinguishes what cannot be verified from what does not hold.
func TestVerifiedInPart(t *testing.T) {
	dir, a, st := office(t)
	begun := ""
	fails := errors.New("no terminal")
	_, err := a.Run(t.Context(), Job{Paths: []string{filepath.Join(dir, "page.spec.md")}, Store: st.Dir(), Begun: func(_ context.Context, b Begun) error {
		if _, err := a.Verify(t.Context(), st, b.RunID, VerifyJob{}); said(err) != "3 run "+b.RunID+" has not ended (wait for it to end, or stop it)" {
			t.Error(said(err))
		}
		begun = b.RunID
		return fails
	}})
	if !errors.Is(err, fails) {
		t.Fatal(err)
	}
	if _, err := a.Verify(t.Context(), st, begun, VerifyJob{}); said(err) != "3 run "+begun+" has no record yet: it has not ended (resume it first: thresh run --resume "+begun+")" {
		t.Error(said(err))
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	mixed := put(t, dir, "mixed.spec.md", "```yaml spec-test\nid: GONE\ntype: api.http\nrequest: {method: GET, url: \""+server.URL+"\"}\nassert: [{target: status, must: [{contain: [\"404\"]}]}]\n```\n\n"+
		pageOf("STAYS", put(t, dir, "stays.sh", "#!/bin/sh\nexit 1\n")))
	rec, err := a.Run(t.Context(), Job{Paths: []string{mixed}, Store: st.Dir(), Workers: 1})
	if err != nil || len(rec.Findings) != 1 {
		t.Fatal(err, rec.Findings)
	}
	see := func(want string) {
		t.Helper()
		v, err := a.Verify(t.Context(), st, rec.RunID, VerifyJob{Sample: 1})
		if got := fmt.Sprint(v.Cases, v.Compared, v.Unknown, " ", strings.Join(v.Problems, "; ")); err != nil || got != want {
			t.Errorf("%v %s, want %s", err, got, want)
		}
	}
	see("2 2 0 ")
	server.Close()
	see("2 1 1 ")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := a.Verify(ctx, st, rec.RunID, VerifyJob{Sample: 1}); !strings.Contains(said(err), "context canceled") {
		t.Errorf("stopped: %v", err)
	}
}

// A run is gone on with if nothing that its document names has changed since the newest one.
func TestEarlierRunsOfChangedFiles(t *testing.T) {
	dir, a, st := office(t)
	doc := put(t, dir, "agent.yaml", "agent: {type: command, command: [echo, '{}']}\ngolden_prompts: [hi]\nphases: [mutation]\nmutations: {count: 1, types: [noise]}\ninvariants: [{type: json_schema, schema: shape.json}]\n")
	any := func(map[string][]string) bool { return true }
	earlier := func(shape string) string {
		put(t, dir, "shape.json", shape)
		docs, _, err := a.Documents([]string{doc}, campaign.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		b := NewBundle()
		c, err := Compile(t.Context(), docs, b.Fill(campaign.Settings{Options: map[string][]string{}}))
		if err != nil {
			t.Fatal(err)
		}
		id, changed, err := a.Earlier(st.Dir(), docs[0], c.Campaigns[0], b, any)
		return fmt.Sprint(id, " ", filepath.Base(changed), " ", err)
	}
	run := func() string {
		rec, err := a.Run(t.Context(), Job{Paths: []string{doc}, Store: st.Dir(), Workers: 1})
		if err != nil || rec.Verdict != "pass" {
			t.Fatal(err, rec.Verdict)
		}
		return rec.RunID
	}
	see := func(shape, want string) {
		t.Helper()
		if got := earlier(shape); got != want {
			t.Errorf("%s: %s, want %s", shape, got, want)
		}
	}
	see(`{"type": "object"}`, " . <nil>")
	first := run()
	see(`{"type": "object"}`, first+" . <nil>")
	if o, shown, err := a.KeptCase(st, first, "", "", 0); err != nil || o.Verdict != campaign.VerdictPass || !strings.HasPrefix(o.Title, "Noise of \"hi\"") || len(shown) == 0 {
		t.Errorf("a case that passed goes by its name: %v %q", err, o.Title)
	}
	see(`{"type": ["object", "null"]}`, " shape.json <nil>")
	second := run()
	see(`{"type": ["object", "null"]}`, second+" . <nil>")
	see(`{"type": "object"}`, " shape.json <nil>")
	if err := os.WriteFile(filepath.Join(st.Dir(), "runs", second, "journal"), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	see(`{"type": "object"}`, first+" . <nil>")
}

// What clients of a server ask wrongly is refused, each for its reason.
func TestDraftsThatAreRefused(t *testing.T) {
	dir, a, st := office(t)
	u := a.Remote(t.Context(), st, st.Dir(), dir, 1)
	text := func(d campaign.Draft) Draft { d.Text = []byte(page); return Draft{Draft: d} }
	for i, x := range []struct {
		draft Draft
		want  string
	}{
		{text(campaign.Draft{}), "done"},
		{text(campaign.Draft{Contract: "spectest", Name: "a.spec.md"}), "done"},
		{text(campaign.Draft{Contract: "fuzzspec"}), "unexpected '#', expected a value"},
		{text(campaign.Draft{Contract: "fuzz"}), "not a document of the format fuzz"},
		{text(campaign.Draft{Name: "a/b.md"}), `2 the name of a document must be a file name, got "a/b.md"`},
		{text(campaign.Draft{Name: ".."}), `2 the name of a document must be a file name, got ".."`},
		{text(campaign.Draft{Options: map[string][]string{"zzz": {"1"}}}), `2 there is no option "zzz"`},
		{text(campaign.Draft{Options: map[string][]string{"system": {"../other"}}}), "2 ../other is outside this server's folder"},
		{text(campaign.Draft{Options: map[string][]string{"system": {"../other"}}, Files: map[string][]byte{"../other": nil}}), "has no effect"},
		{Draft{Path: "page.spec.md"}, "done"},
		{Draft{Path: "page.spec.md", Draft: campaign.Draft{Contract: "operator"}}, "not a document of the format operator"},
		{Draft{Path: "none.md"}, "no such file"},
		{Draft{Path: "../page.spec.md"}, "2 ../page.spec.md is outside this server's folder"},
	} {
		c, err := u.Check(t.Context(), x.draft)
		got := said(err)
		for _, d := range c.Diagnostics {
			got = d.Message
		}
		if got != x.want && (x.want == "done" || !strings.Contains(got, x.want)) {
			t.Errorf("draft %d: %s, want %s", i, got, x.want)
		}
	}
	for limit, want := range map[int64]string{4: "done", 3: "2 notes.txt has more than 3 bytes"} {
		if data, err := u.Read("notes.txt", limit); said(err) != want || err == nil && string(data) != "one\n" {
			t.Errorf("%q %s", data, said(err))
		}
	}
	for finding, want := range map[string]string{"latest#0": `2 must be a finding's id, got "latest#0"`, "F-0000000000": "no finding"} {
		if _, err := u.Replay(t.Context(), finding, ReplayJob{Times: 1}); !strings.Contains(said(err), want) {
			t.Errorf("%s: %s", finding, said(err))
		}
	}
	if _, err := u.Replay(t.Context(), "F-0000000000", ReplayJob{Times: 1, System: "../x"}); !strings.Contains(said(err), "outside") {
		t.Error(said(err))
	}
	nowhere := a.Remote(t.Context(), st, st.Dir(), filepath.Join(dir, "nowhere"), 1)
	if _, err := nowhere.Read("notes.txt", 9); !strings.Contains(said(err), "finding the folder "+filepath.Join(dir, "nowhere")+": ") {
		t.Error(said(err))
	}
}
