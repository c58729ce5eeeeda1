package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// records are of all shapes that matter to how they are written.
func records() []campaign.Record {
	odd := campaign.Record{RunID: `"campaigns":null`, Stopped: `<"findings":null>`, Warnings: []string{`{"findings":null}`}}
	many := campaign.Record{RunID: "r1", Environment: campaign.Environment{Progress: []campaign.ProgressPoint{{Findings: 3}}, Extra: json.RawMessage(`{"campaigns":null,"findings":null}`)}}
	for i := range 3 * fewParts {
		name := strings.Repeat("é<&>\u2028", i)
		many.Campaigns = append(many.Campaigns, campaign.CampaignRecord{Name: name, Exhibits: []campaign.Exhibit{campaign.TextExhibit(name, "x\ny")}})
		many.Findings = append(many.Findings, campaign.Finding{ID: name, Minimized: &campaign.Minimal{Blob: strings.Repeat("0f", 32)}, Evidence: []campaign.Exhibit{campaign.TextExhibit("t", name)}})
	}
	return []campaign.Record{{}, odd, many, {Campaigns: many.Campaigns[:1], Findings: many.Findings[:1]}}
}

// A record that is written in pieces is the same text as one that is encoded
// as a whole, so that its blob has one name.
func TestRecordInPieces(t *testing.T) {
	for _, rec := range records() {
		want, err := json.Marshal(rec)
		must(t, err)
		var got bytes.Buffer
		must(t, writeRecord(&got, &rec))
		if got.String() != string(want) {
			t.Errorf("%.300s\nis written as\n%.300s", want, got.Bytes())
		}
	}
}

// What ends a journal is read back, long or short, and the names in it are found.
func TestRecordAtTheEnd(t *testing.T) {
	s := openStore(t, t.TempDir())
	for _, rec := range records()[2:] {
		w, err := s.Begin(manifest("demo"))
		must(t, err)
		rec.RunID = w.RunID()
		plain, err := json.Marshal(rec)
		must(t, err)
		must(t, w.Finish(rec, "done", time.Second))
		must(t, w.Close())
		j, err := s.OpenJournal(rec.RunID)
		must(t, err)
		ends := 0
		for e, err := range j.Entries() {
			must(t, err)
			if e.Kind != KindEnd {
				continue
			}
			ends++
			if rec.Findings != nil && !bytes.Contains(e.Data, []byte(rec.Findings[0].Minimized.Blob)) {
				t.Errorf("the names of blobs do not stand in the journal as they are")
			}
			for _, data := range [][]byte{e.Data, plain} {
				var got campaign.Record
				must(t, readRecord(data, &got))
				if back, _ := json.Marshal(got); string(back) != string(plain) {
					t.Errorf("%.300s\nis read as\n%.300s", plain, back)
				}
			}
		}
		j.Close()
		if ends != 1 {
			t.Errorf("%d entries end the journal", ends)
		}
		before, err := s.Record(rec.RunID)
		must(t, err)
		outline, err := s.Outline(rec.RunID)
		must(t, err)
		_, err = s.rebuild(rec.RunID)
		must(t, err)
		after, err := s.Record(rec.RunID)
		must(t, err)
		if !reflect.DeepEqual(before, after) || len(outline.Campaigns) != len(rec.Campaigns) || len(outline.Findings) > 0 {
			t.Errorf("run %s is not what it was once the index is made again", rec.RunID)
		}
	}
}
