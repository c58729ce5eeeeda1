package shrink

import (
	"bytes"
	"context"
	"testing"
)

// A cause in a large input must not cost tests by the size of the input.
func TestBytesOfLargeInputs(t *testing.T) {
	const size, most = 1 << 16, 250
	repeat := func(s string) []byte { return bytes.Repeat([]byte(s), size/len(s)) }
	for name, input := range map[string][]byte{
		"noise":    noise(size),
		"prose":    prose(size),
		"one line": repeat("ab cd "),
		"brackets": repeat("[]"),
		"unclosed": repeat("([<"),
		"nested":   append(bytes.Repeat([]byte("["), size/2), bytes.Repeat([]byte("]"), size/2)...),
		"quotes":   repeat(`\'"`),
		"tags":     repeat(`<a b="c"><d/></a>`),
		"numbers":  repeat("12345,"),
	} {
		t.Run(name, func(t *testing.T) {
			input := with(input, map[int]string{100: "X", 600: "Y", 900: "Z"})
			got, stats := Bytes(context.Background(), input, func(b []byte) (bool, error) { return has("X", "Y", "Z")(b), nil })
			if string(got) != "XYZ" || stats.Err != nil || stats.Tests > most {
				t.Errorf("%q with %d tests: %v", got, stats.Tests, stats.Err)
			}
			t.Logf("%d -> %d bytes: %d tests", len(input), len(got), stats.Tests)
		})
	}
}
