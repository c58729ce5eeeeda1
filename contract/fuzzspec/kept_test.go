package fuzzspec

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
)

// The folder of each case that is kept has the case's own input and mutations, also of one
// that ran with others at once.
func TestKeptCasesOfBatches(t *testing.T) {
	for keep, all := range map[string]bool{"failures": false, "all": true} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/seed", []byte("quiet seed, A X"), 0o644); err != nil {
			t.Fatal(err)
		}
		list, said := New(func(_ context.Context, plan process.Plan, _, _ int, cold bool) (process.Runner, error) {
			return batches{&toy{plan: plan, runs: new(int), cold: cold}}, nil
		}).Compile(t.Context(), campaign.Spec{Path: "spec.json", Data: []byte(toyDocument(dir))}, campaign.Settings{
			Stored: true, Read: os.ReadFile, Digest: func(string) (string, error) { return "0", nil },
			Options: map[string][]string{"campaign-id": {"toy"}, "keep": {keep}, "guided": {"true"}},
		})
		if said.HasErrors() {
			t.Fatal(said)
		}
		c, _ := campaign.As[*Campaign](list[0])
		facts, err := c.Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := c.Start(facts)
		x, err := c.openLane(t.Context(), campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		var cases []campaign.Case
		for i := range int64(40) {
			cases = append(cases, campaign.Case{Index: i})
		}
		kept, failed := 0, 0
		lane := c.maker.lane()
		note := func(at campaign.Case, o campaign.Outcome) error {
			if o.Verdict == campaign.VerdictFail {
				failed++
			}
			folder := filepath.Join(dir, "runs", CaseRunID("toy", at.Index))
			log, err := os.ReadFile(filepath.Join(folder, fileMutations))
			_, _, aside := decodeAside(o.Data)
			if (err == nil) != (all && !aside || o.Verdict == campaign.VerdictFail) {
				t.Errorf("keep %s: case %d, %s: %v", keep, at.Index, o.Verdict, err)
			}
			if err != nil {
				return nil
			}
			kept++
			input := lane.input(c.pool(s), at.Index)
			if exec, err := os.ReadFile(filepath.Join(folder, "exec", "exec.json")); err != nil || !bytes.Contains(exec, []byte(strconv.Quote(c.exe.Path))) {
				t.Errorf("keep %s: case %d does not name the program %s: %s %v", keep, at.Index, c.exe.Path, exec, err)
			}
			if got, err := os.ReadFile(filepath.Join(folder, "input", c.inputName())); err != nil || !bytes.Equal(got, input) || !bytes.Equal(log, lane.log()) {
				t.Errorf("keep %s: case %d is kept with %q (%v), which %s made of it; want %q, %s", keep, at.Index, got, err, log, input, lane.log())
			}
			return nil
		}
		if together, ok := x.(campaign.Batcher); ok {
			_, err = together.ExecuteBatch(t.Context(), s, cases, note)
		} else {
			for _, at := range cases {
				var o campaign.Outcome
				if o, err = x.Execute(t.Context(), s, at); err == nil {
					err = note(at, o)
				}
				if err != nil {
					break
				}
			}
		}
		if err != nil || failed < 3 || failed == len(cases) || kept < failed {
			t.Errorf("keep %s: %d failed, %d are kept, %v", keep, failed, kept, err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
