package pyrand_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
)

// A generator goes on from a state as the one that it was taken from.
func TestState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := pyrandtest.New(rapid.Int64().Draw(t, "seed"))
		for range rapid.IntRange(0, 1300).Draw(t, "words") {
			a.Uint32()
		}
		if rapid.Bool().Draw(t, "pending") {
			a.Gauss(0, 1)
		}
		var b pyrand.Rand
		state := a.AppendState(nil)
		if err := b.SetState(state); err != nil {
			t.Fatal(err)
		}
		if string(b.AppendState(nil)) != string(state) {
			t.Fatal("the state changed on its way")
		}
		if x, y := a.Gauss(0, 1), b.Gauss(0, 1); x != y {
			t.Fatalf("gauss: %v, %v", x, y)
		}
		for range 1300 {
			if x, y := a.Uint32(), b.Uint32(); x != y {
				t.Fatalf("%d, %d", x, y)
			}
		}
	})
}

// The state is that of CPython: random.Random(1) after one random().
func TestStateOfPython(t *testing.T) {
	r := pyrandtest.New(1)
	fresh := r.AppendState(nil)
	if at := fresh[4*624:]; at[0] != 0x70 || at[1] != 2 || len(fresh) != 2500 { // 624
		t.Errorf("fresh state ends in %x", at)
	}
	r.Float64()
	sum := sha256.Sum256(r.AppendState(nil))
	if got := hex.EncodeToString(sum[:]); got != "790689fe405428b2ea1bc26d09e619f52375ee44d6aff5bfded8309e441dfb47" {
		t.Errorf("state after two words has digest %s", got)
	}
	for _, bad := range [][]byte{nil, fresh[1:], append(fresh[:4*624:4*624], 0x71, 2, 0, 0)} {
		if err := r.SetState(bad); err == nil {
			t.Errorf("a state of %d bytes is accepted", len(bad))
		}
	}
}
