package config

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for _, tc := range []struct {
		line string
		want []string
		ok   bool
	}{
		{"", nil, true},
		{"  python3  agent.py\n", []string{"python3", "agent.py"}, true},
		{`python3 -c "print('a b')" 'x "y"' a\ b ""`, []string{"python3", "-c", "print('a b')", `x "y"`, "a b", ""}, true},
		{`"C:\x" "\"\\"`, []string{`C:\x`, `"\`}, true},
		{`run "open`, []string{"run", "open"}, false},
		{`run \`, []string{"run", ""}, false},
	} {
		got, ok := words(tc.line)
		if !slices.Equal(got, tc.want) || ok != tc.ok {
			t.Errorf("%q: %q %t, want %q %t", tc.line, got, ok, tc.want, tc.ok)
		}
	}
}
