package spectest

import (
	"strings"
	"testing"
)

// A block that is run is seen wherever it opens, in a long text as well.
func TestShowsRuns(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{"```console run", true}, {"  ~~~sh  run once", true}, {"```console run=1", true}, {"```console runs", false},
		{"`` console run", false}, {"run ```console run", false}, {"```console\trun", true}, {"``` run", false},
	} {
		for before := pieceSize - 25; before < pieceSize+3; before++ {
			text := strings.Repeat("nothing\n", before/8+1)[:before]
			text = text[:before-1] + "\n"
			if got := showsRuns([]byte(text+c.line), func() {}); got != c.want {
				t.Errorf("%q behind %d bytes: %v", c.line, before, got)
			}
			if got := showsRuns([]byte(text+c.line+"\nx\n"), func() {}); got != c.want {
				t.Errorf("%q and a line behind %d bytes: %v", c.line, before, got)
			}
		}
	}
}
