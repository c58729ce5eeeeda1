package store

import (
	"os"
	"strings"
	"testing"
)

// A run's number is free and follows one that is taken, wherever runs were removed.
func TestBeginNumbers(t *testing.T) {
	for _, c := range []struct {
		name  string
		taken []string
		want  string
	}{
		{"first", nil, "1"},
		{"second", []string{"1"}, "2"},
		{"seventh", []string{"1", "2", "3", "4", "5", "6"}, "7"},
		{"ninth", []string{"1", "2", "3", "4", "5", "6", "7", "8"}, "9"},
		{"a gap at a look", []string{"1", "2", "3", "5", "6"}, "4"},
		{"the first removed", []string{"2", "3"}, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			prefix := runPrefix(manifest("demo").Identities)
			for _, n := range c.taken {
				if err := os.MkdirAll(s.path(runsDir, prefix+n), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			w, err := s.Begin(manifest("demo"))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if got := strings.TrimPrefix(w.RunID(), prefix); got != c.want {
				t.Errorf("number %s, want %s", got, c.want)
			}
		})
	}
}
