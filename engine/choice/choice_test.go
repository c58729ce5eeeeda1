package choice_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/choice"
)

// draw takes some of every kind of decision.
func draw(s *choice.Source) []uint64 {
	var got []uint64
	s.Begin()
	for i := 0; s.More(i, 6); i++ {
		s.Begin()
		got = append(got, s.Draw(10), s.Draw(0), uint64(s.Weighted([]float64{0, 3, 0, 1})))
		s.End()
	}
	s.End()
	return got
}

func TestTapeRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := random(rapid.Uint64().Draw(t, "key"))
		first := draw(s)
		tape := slices.Clone(s.Tape().Values)
		s.Follow(tape)
		if again := draw(s); !slices.Equal(first, again) {
			t.Fatalf("%v, again %v", first, again)
		}
		back, err := choice.Decode(choice.Encode(tape))
		if err != nil {
			t.Fatal(err)
		}
		s.Follow(back)
		if again := draw(s); !slices.Equal(first, again) {
			t.Fatalf("%v, decoded %v", first, again)
		}
	})
}

// Whatever stands on a tape, decisions stay within their bounds, and what was
// decided is a tape that leads to the same.
func TestAnyTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &choice.Source{}
		s.Follow(rapid.SliceOf(rapid.Uint64()).Draw(t, "tape"))
		first := draw(s)
		for i := 0; i < len(first); i += 3 {
			if first[i] > 9 || first[i+2] != 1 && first[i+2] != 3 {
				t.Fatalf("out of bounds: %v", first[i:i+3])
			}
		}
		for _, x := range s.Tape().Spans {
			if x.From >= x.To {
				t.Fatalf("empty span %v", x)
			}
		}
		s.Follow(slices.Clone(s.Tape().Values))
		if again := draw(s); !slices.Equal(first, again) {
			t.Fatalf("%v, again %v", first, again)
		}
	})
}

func TestDecisionsAreFair(t *testing.T) {
	s := random(1)
	counts := map[int]int{}
	const n = 12000
	for range n {
		c := 2
		for s.More(c, 7) {
			c++
		}
		counts[c]++
		s.Reset(choice.Key(uint64(len(counts)), s.Draw(0)))
	}
	for c := 2; c <= 7; c++ {
		if got := counts[c]; got < n/6*9/10 || got > n/6*11/10 {
			t.Errorf("count %d drawn %d times of %d", c, got, n)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := choice.Decode([]byte{0x80}); err == nil {
		t.Error("half a number was read")
	}
}

func TestExtend(t *testing.T) {
	s := random(3)
	whole := make([]uint64, 0, 20)
	for range 20 {
		whole = append(whole, s.Draw(1000))
	}
	s.Extend(whole[:10], 4)
	for i := range 20 {
		if v := s.Draw(1000); (i < 10) != (v == whole[i]) {
			t.Errorf("decision %d is %d, on the tape %d", i, v, whole[i])
		}
	}
	extended := slices.Clone(s.Tape().Values)
	s.Resume(whole[:10], 4)
	for range 10 {
		s.Draw(1000)
	}
	if tape := s.Tape(); !slices.Equal(tape.Values, extended) || len(tape.Marks) != 20 {
		t.Errorf("resumed: %v with %d marks, extended: %v", tape.Values, len(tape.Marks), extended)
	}
}

// What is tried goes through all that can be decided, with what is preferred as
// it is.
func TestTry(t *testing.T) {
	s := random(1)
	s.Draw(5)
	s.Resume([]uint64{4}, 0)
	s.Try([]uint64{2})
	if got := []uint64{s.Draw(3), s.Prefer(7, 9), s.Draw(0), uint64(s.Weighted([]float64{0, 1, 1}))}; !slices.Equal(got, []uint64{2, 7, 0, 1}) {
		t.Errorf("tried: %v", got)
	}
	if got := s.Tape().Values; !slices.Equal(got, []uint64{4, 2, 7, 0, 1}) {
		t.Errorf("the tape is %v", got)
	}
}

// random is a source that makes decisions by a key.
func random(key uint64) *choice.Source {
	s := new(choice.Source)
	s.Reset(key)
	return s
}

// Whoever is asked decides, and learns what the decision is about.
func TestAsk(t *testing.T) {
	var s choice.Source
	var topics, limits []uint64
	s.Ask(func(limit uint64) uint64 {
		topics, limits = append(topics, s.Topic), append(limits, limit)
		return 5
	})
	for topic, decide := range []func() uint64{
		func() uint64 { return s.Draw(10) }, func() uint64 { return s.Prefer(1, 3) },
		func() uint64 { return uint64(s.Weighted([]float64{1, 1, 0})) }, func() uint64 { return s.Skewed(0) },
	} {
		s.Topic = uint64(topic)
		if got, want := decide(), []uint64{5, 2, 0, 5}[topic]; got != want {
			t.Errorf("decision %d is %d, want %d", topic, got, want)
		}
	}
	if !slices.Equal(topics, []uint64{0, 1, 2, 3}) || !slices.Equal(limits, []uint64{10, 3, 3, 0}) {
		t.Error(topics, limits)
	}
	if s.Follow([]uint64{7}); s.Draw(10) != 7 {
		t.Error("it is still asked")
	}
}
