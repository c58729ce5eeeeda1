package fresnelfir

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// A counter is a map.
func TestCounter(t *testing.T) {
	events := rapid.Custom(func(t *rapid.T) event {
		return event{eventKind(rapid.IntRange(0, 12).Draw(t, "kind")), rapid.IntRange(0, 3).Draw(t, "node"),
			rapid.Uint64Range(0, 3).Draw(t, "state") << rapid.SampledFrom([]int{0, 16, 32, 62}).Draw(t, "shift"), rapid.IntRange(0, 3).Draw(t, "child")}
	})
	rapid.Check(t, func(t *rapid.T) {
		var c counter
		want := map[event]int64{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				e, n := events.Draw(t, "event"), rapid.Int64Range(0, 5).Draw(t, "times")
				if was := c.add(e, n); was != want[e] {
					t.Fatalf("%v was counted %d times, not %d", e, was, want[e])
				}
				if n > 0 {
					want[e] += n
				}
			},
			"clone": func(*rapid.T) {
				was := c
				c = c.clone()
				was.add(event{node: 99}, 1)
			},
			"": func(t *rapid.T) {
				e := events.Draw(t, "event")
				if c.of(e) != want[e] || !maps.Equal(maps.Collect(c.all()), want) {
					t.Fatalf("%v, not %v", maps.Collect(c.all()), want)
				}
			},
		})
	})
}
