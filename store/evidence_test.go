package store

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// seenIn is what was seen in a case: much, of every ninth.
func seenIn(i int64) []campaign.Attachment {
	text := fmt.Sprintf("case %d", i)
	if i%9 == 0 {
		text = strings.Repeat(text, 4000)
	}
	return []campaign.Attachment{{Name: "cell.json", Data: []byte(text)}, {Name: "none", Data: []byte{}}}
}

func sameEvidence(t *testing.T, i int64, got []campaign.Attachment) {
	t.Helper()
	want := seenIn(i)
	if len(got) != len(want) || got[0].Name != want[0].Name || !bytes.Equal(got[0].Data, want[0].Data) || got[1].Name != "none" || len(got[1].Data) != 0 {
		t.Fatalf("case %d: %.80q", i, got)
	}
}

// Wherever a journal is cut, an outcome that is left has its evidence.
func TestEvidenceStandsBeforeOutcomes(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	id := w.RunID()
	for i := range int64(40) {
		must(t, w.Append(outcome(i), seenIn(i)...))
		if i%10 == 9 {
			must(t, w.Sync())
		}
	}
	must(t, w.Close())
	path := s.runPath(id, journalFile)
	file, err := os.ReadFile(path)
	must(t, err)
	for size := len(file); size > 600; size -= 37 {
		must(t, os.WriteFile(path, file[:size], 0o666))
		j, err := s.OpenJournal(id)
		must(t, err)
		n := int64(0)
		for e, err := range j.Evidenced() {
			must(t, err)
			if e.Kind == KindOutcome {
				sameEvidence(t, e.Case.Index, e.Outcome.Evidence)
				n++
			}
		}
		j.Close()
		if size == len(file) && n != 40 {
			t.Errorf("%d outcomes of 40", n)
		}
	}
	// Going on behind a torn tail, and a second attempt, of which CaseOf tells.
	must(t, os.WriteFile(path, file[:len(file)-3], 0o666))
	w, j, err := s.Resume(id)
	must(t, err)
	j.Close()
	again := outcome(5)
	again.Attempt = 1
	must(t, w.Append(again, seenIn(18)...))
	must(t, w.Append(outcome(41)))
	must(t, w.Close())
	of := manifest("demo").Identities[0]
	for at, want := range map[int64]int64{3: 3, 27: 27, 5: 18} {
		_, o, err := s.CaseOf(id, of.Contract, of.Name, at)
		must(t, err)
		sameEvidence(t, want, o.Evidence)
	}
	if _, o, err := s.CaseOf(id, of.Contract, of.Name, 41); err != nil || len(o.Evidence) != 0 {
		t.Errorf("%v, %v", o.Evidence, err)
	}
}
