package store

import (
	"os"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

func passing(i int64) Entry {
	return Entry{
		Kind: KindOutcome, Case: campaign.Case{Index: i}, At: time.Duration(i) * 50 * time.Microsecond,
		Outcome: campaign.Outcome{Elapsed: time.Duration(900+i%500) * time.Microsecond},
	}
}

// passingRun is the name of a run of n passing cases.
func passingRun(t testing.TB, s *Store, n int64) string {
	t.Helper()
	w, err := s.Begin(manifest("bench"))
	must(t, err)
	for i := range n {
		must(t, w.Append(passing(i)))
	}
	must(t, w.Close())
	return w.RunID()
}

// A passing case costs at most 16 bytes on the disk.
func TestSizeOfAPassingCase(t *testing.T) {
	s := openStore(t, t.TempDir())
	const n = 100_000
	fi, err := os.Stat(s.runPath(passingRun(t, s, n), journalFile))
	must(t, err)
	if each := float64(fi.Size()) / n; each > 16 {
		t.Errorf("%.1f bytes a case", each)
	}
}

func TestPassingCasesAllocateNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("bench"))
	must(t, err)
	i := int64(0)
	// The background writer has its own few allocations now and then.
	if got := testing.AllocsPerRun(20_000, func() {
		if err := w.Append(passing(i)); err != nil {
			t.Error(err)
		}
		i++
	}); got != 0 {
		t.Errorf("%v allocations for appending", got)
	}
	must(t, w.Close())
	j, err := s.OpenJournal(w.RunID())
	must(t, err)
	defer j.Close()
	read := 0
	perRead := testing.AllocsPerRun(1, func() {
		read = 0
		for _, err := range j.Entries() {
			if err != nil {
				t.Error(err)
			}
			read++
		}
	})
	if perRead > 20 || read < 20_000 {
		t.Errorf("%v allocations for reading %d entries", perRead, read)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := openStore(b, b.TempDir())
	w, err := s.Begin(manifest("bench"))
	must(b, err)
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		if err := w.Append(passing(i)); err != nil {
			b.Fatal(err)
		}
		i++
	}
	must(b, w.Close())
	fi, err := os.Stat(s.runPath(w.RunID(), journalFile))
	must(b, err)
	b.ReportMetric(float64(fi.Size())/float64(i), "disk-B/op")
}

// BenchmarkEntries reads a million outcomes back.
func BenchmarkEntries(b *testing.B) {
	s := openStore(b, b.TempDir())
	const n = 1_000_000
	id := passingRun(b, s, n)
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			j, err := s.OpenJournal(id)
			must(b, err)
			must(b, j.Close())
		}
	})
	b.Run("range", func(b *testing.B) {
		j, err := s.OpenJournal(id)
		must(b, err)
		defer j.Close()
		b.ReportAllocs()
		for b.Loop() {
			read := 0
			for _, err := range j.Entries() {
				must(b, err)
				read++
			}
			if read != n+1 {
				b.Fatalf("%d entries", read)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := openStore(b, dir)
	for range 200 {
		writeRun(b, s, manifest("bench"), 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(dir)
		must(b, err)
		must(b, s.Close())
	}
}
