package aflserver

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// adopting makes this process the reaper of orphans, so that the place's server
// takes processes over.
func (p *place) adopting() {
	p.t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		p.t.Fatal(err)
	}
	p.cfg.Reaper = true
}

// What comes of cases does not depend on whether their process was taken over
// from its server, or how often it was.
func TestAdoptedProcessesTellTheSame(t *testing.T) {
	path := build(t, "afl-clang-fast", "target.c", "-DSHARED", "-DPERSISTENT", "-DROUNDS=700", "-DSTEADY")
	plain, adopting := newPlace(t, path), newPlace(t, path)
	adopting.adopting()
	changes := 0
	adopting.cfg.Changed = func() { changes++ }
	plain.start()
	adopting.start()
	adopted := 0
	for i := range 2500 {
		adopting.took = 0 // else it depends on the machine whether it is worth it
		input, limit := fmt.Sprint("x", i%50), plenty
		switch {
		case i == 900, i == 901:
			input = "a"
		case i == 1200:
			input = "3"
		case i%3 == 0:
			input = "l"
		case i == 1900:
			input, limit = "h", 300*time.Millisecond
		}
		want, wantEdges := plain.run(input, limit)
		got, edges := adopting.run(input, limit)
		if got != want || !reflect.DeepEqual(edges, wantEdges) {
			t.Fatalf("case %d (%s): %s, %d edges; by the server %s, %d edges", i, input, got, len(edges), want, len(wantEdges))
		}
		if adopting.adopted {
			adopted++
		}
	}
	if adopted < 500 || changes < 3 {
		t.Errorf("%d cases of adopted processes, %d changes", adopted, changes)
	}
}
