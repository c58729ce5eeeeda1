package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// Which outcomes of a journal count, and in which order they come: p passed, f
// failed, e has no result. A record is attempt.campaign.case, + begins the next
// attempt at campaign 0, ! are damaged bytes. 2/8p closes the campaign after two cases.
func TestWhichOutcomesCount(t *testing.T) {
	for name, x := range map[string]struct{ journal, outcomes, cases string }{
		"in order":                         {"0p 1f 2p", "0p 1f 2p", "0p 1f 2p"},
		"as workers bring them":            {"2p 0p 1f", "0p 1f 2p", "0p 1f 2p"},
		"with a gap":                       {"4p 0p 2f 3p", "0p", "0p 2f 3p 4p"},
		"nothing at the beginning":         {"1p 2p", "", "1p 2p"},
		"an error that is made good":       {"0e 1p 0p", "0p 1p", "0p 1p"},
		"an error that stays":              {"0e 1p", "0e 1p", "0e 1p"},
		"an error twice":                   {"0p 1e 2p 1e", "0p 1e 2p", "0p 1e 2p"},
		"an error twice, then a result":    {"0e 1p 0e 0f", "0f 1p", "0f 1p"},
		"of another campaign":              {"0p 1:1f 1p", "0p 1p", "0p 1p"},
		"an error of another campaign":     {"1:0e 0p", "0p", "0p"},
		"of an attempt that is given up":   {"0f 1f + 0p", "0p", "0p"},
		"an error of one that is given up": {"0e + 0p 1p", "0p 1p", "0p 1p"},
		"before damage":                    {"0p 1p ! 2p", "0p 1p", "0p 1p"},
		"an error before damage":           {"0e 1p ! 0p", "0e 1p", "0e 1p"},
		"nothing":                          {"", "", ""},
		"closed":                           {"0p 1p 2/9p 2/8f", "0p 1p 8f 9p", "0p 1p 8f 9p"},
		"closed, and gone on with":         {"0p 1p 2/8f 2p 3p", "0p 1p 2p 3p", "0p 1p 2p 3p"},
		"closed, an error made good":       {"0p 1e 2/8f 2/9f 1p 2/8p", "0p 1p 8p", "0p 1p 8p"},
		"closed with an error":             {"0p 1/8e 1/9p 1/8f", "0p 8f 9p", "0p 8f 9p"},
		"closed behind a gap":              {"0p 2p 1/8p", "0p 8p", "0p 2p 8p"},
		"closed after other cases":         {"0p 1p 1/8p", "0p 1p", "0p 1p"},
		"closed, in an earlier attempt":    {"0p 1/8p + 0p", "0p", "0p"},
	} {
		st, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		w, err := st.Begin(store.Manifest{Identities: []campaign.Identity{{Contract: "c", Name: "a", Digest: "1"}, {Contract: "c", Name: "b", Digest: "2"}}})
		if err != nil {
			t.Fatal(err)
		}
		cut, attempt := int64(0), 0
		path := filepath.Join(st.Dir(), "runs", w.RunID(), "journal")
		for _, word := range strings.Fields(x.journal) {
			e := store.Entry{Kind: store.KindOutcome, Attempt: attempt}
			switch word {
			case "+":
				attempt++
				e = store.Entry{Kind: store.KindRedo, Data: []byte(`{"Reason":"x"}`)}
			case "!":
				if err := w.Sync(); err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				cut = info.Size()
				e = store.Entry{Kind: store.KindProgress, Data: []byte("{}")}
			default:
				verdict := word[len(word)-1]
				e.Outcome.Verdict = map[byte]campaign.Verdict{'p': campaign.VerdictPass, 'f': campaign.VerdictFail, 'e': campaign.VerdictError}[verdict]
				place := word[:len(word)-1]
				if n, i, ok := strings.Cut(place, "/"); ok {
					fmt.Sscan(n, &e.After)
					e.Kind, place = store.KindClosing, i
				}
				if k, i, ok := strings.Cut(place, ":"); ok {
					fmt.Sscan(k, &e.Campaign)
					place, e.Attempt = i, 0
				}
				fmt.Sscan(place, &e.Case.Index)
			}
			if err := w.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		id := w.RunID()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if cut > 0 {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file[cut+3] ^= 0x55
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j, err := st.OpenJournal(id)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := func(e store.Entry) string { return fmt.Sprintf("%d%c", e.Case.Index, e.Outcome.Verdict.String()[0]) }
		var outcomes, cases, first []string
		for e := range run.Outcomes(j, 0) {
			outcomes = append(outcomes, text(e))
		}
		for e := range run.Cases(j, 0) {
			cases = append(cases, text(e))
		}
		for e := range run.Cases(j, 0) { // whoever has seen enough gets no more
			first = append(first, text(e))
			break
		}
		if got := strings.Join(outcomes, " "); got != x.outcomes {
			t.Errorf("%s: outcomes %q, want %q", name, got, x.outcomes)
		}
		if got := strings.Join(cases, " "); got != x.cases || len(first) != min(len(cases), 1) {
			t.Errorf("%s: cases %q, want %q; the first is %q", name, got, x.cases, first)
		}
		j.Close()
		st.Close()
	}
}
