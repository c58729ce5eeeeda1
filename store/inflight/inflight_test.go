package inflight_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/store/inflight"
)

func TestMarksAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inflight")
	if n, marks, err := inflight.Read(path); n != 0 || marks != nil || err != nil {
		t.Errorf("no file: %d %v %v", n, marks, err)
	}
	f, err := inflight.Create(path, 4, 77)
	if err != nil {
		t.Fatal(err)
	}
	want := []inflight.Mark{
		{Kind: inflight.Probe, Campaign: 3},
		{Kind: inflight.Case, Campaign: 1<<20 - 1, Index: 1<<40 - 1, Count: 1024},
		{Kind: inflight.Again, Index: 5, Print: 1<<32 - 1},
	}
	f.Begin(0, want[0])
	f.Begin(1, want[1])
	f.Begin(2, inflight.Mark{Kind: inflight.Case, Index: 9})
	f.End(2)
	f.Begin(3, inflight.Mark{Kind: inflight.Case, Index: 9})
	f.Begin(3, want[2])
	f.Begin(4, want[0]) // there is no such slot
	if n, marks, err := inflight.Read(path); n != 77 || !slices.Equal(marks, want) || err != nil {
		t.Errorf("%d %+v %v", n, marks, err)
	}
	f.Begin(0, inflight.Mark{Kind: inflight.Case, Index: 1 << 40}) // cannot be said
	if _, marks, _ := inflight.Read(path); len(marks) != 2 {
		t.Errorf("%+v", marks)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a process that ended in order leaves its file: %v", err)
	}
	if err := os.WriteFile(path, []byte("THRESHF1 torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, marks, err := inflight.Read(path); marks != nil || err != nil {
		t.Errorf("a torn file: %v %v", marks, err)
	}
	var none *inflight.File
	none.Begin(0, want[0])
	none.End(0)
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}

// What was marked last is there after a kill that nothing can prepare for.
func TestMarksSurviveAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inflight")
	if at := os.Getenv("INFLIGHT_AT"); at != "" {
		f, err := inflight.Create(at, 1, 5)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(1001) {
			f.Begin(0, inflight.Mark{Kind: inflight.Case, Index: i})
		}
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Kill()
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestMarksSurviveAKill$")
	cmd.Env = append(os.Environ(), "INFLIGHT_AT="+path)
	if err := cmd.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	if n, marks, err := inflight.Read(path); n != 5 || err != nil || !slices.Equal(marks, []inflight.Mark{{Kind: inflight.Case, Index: 1000}}) {
		t.Errorf("%d %+v %v", n, marks, err)
	}
}

func BenchmarkMark(b *testing.B) {
	f, err := inflight.Create(filepath.Join(b.TempDir(), "inflight"), 1, 5)
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		f.Begin(0, inflight.Mark{Kind: inflight.Case, Index: int64(i)})
		f.End(0)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
