package main

import (
	"testing"

	"github.com/thresh-dev/thresh/system/wasm"
	"github.com/thresh-dev/thresh/tools/modules/queue"
)

// By the median of 101 seeds, Thresh needs no more calls than rapid for any of the twelve faults.
func TestHunts(t *testing.T) {
	g, err := wasm.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	faults := 0
	err = eachHunt(t.Context(), g, 101, func(fault queue.Fault, ours, _, theirs []int) {
		if faults++; ours[50] > theirs[50] {
			t.Errorf("%s: %d calls, %d by rapid", fault, ours[50], theirs[50])
		}
	})
	if err != nil || faults != 12 {
		t.Errorf("%d faults: %v", faults, err)
	}
}
