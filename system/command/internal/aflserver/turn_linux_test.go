package aflserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/system/coverage"
)

// turning is a program that our compiler built, so that its process takes cases from us.
func turning(t *testing.T) *place {
	t.Helper()
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	args := []string{"-O1", "-w", "-o", path, "testdata/target.c", "-DSHARED", "-DPERSISTENT"}
	if code, err := coverage.Compile(context.Background(), false, args, nil, os.Stdout, os.Stderr); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	return newPlace(t, path)
}

// What comes of cases does not depend on whether their process takes them from us or
// from its server.
func TestTurnsTellTheSame(t *testing.T) {
	served, own := turning(t), turning(t)
	served.cfg.Features.Counted = false // without it a program cannot be asked
	served.start()
	own.start()
	if served.turns || !own.turns {
		t.Fatalf("turns are taken: %v and %v", served.turns, own.turns)
	}
	for i := range 400 {
		input, limit := fmt.Sprint("x", i%50), plenty
		switch {
		case i == 100, i == 101, i == 300:
			input = "a"
		case i%3 == 0:
			input = "l"
		case i == 200:
			input, limit = "h", 300*time.Millisecond
		case i == 250:
			input, limit = "f", 300*time.Millisecond
		}
		want, wantEdges := served.run(input, limit)
		got, edges := own.run(input, limit)
		if got != want || !reflect.DeepEqual(edges, wantEdges) {
			t.Fatalf("case %d (%s): %s, %d edges; by the server %s, %d edges", i, input, got, len(edges), want, len(wantEdges))
		}
	}
}

func TestTurnsWithoutServer(t *testing.T) {
	p := turning(t).start()
	p.run("x", plenty)
	if _, _, err := p.Run([]byte("k"), 300*time.Millisecond); !errors.Is(err, ErrServerDied) {
		t.Errorf("a case that kills its server: %v", err)
	}
}
