package command

import "testing"

// An operand of the path of a case's input differs from run to run, and is no word of the program.
func TestPartOfPath(t *testing.T) {
	const path = "/dev/shm/thresh-7-0a1b/0/run/input/original.txt"
	for operand, want := range map[string]bool{
		path[:31]: true, "a1b/0/run/inp": true, "--in=/dev/shm/thresh-7-0": true, "/dev/shm/thresh-7\x00tail": true,
		"original.txt": false, "input": false, "text/html": false, "/": true, "</a>": false, "a/\x00b": false, "": false,
	} {
		if got := partOfPath([]byte(operand), []byte(path)); got != want {
			t.Errorf("%q: %v", operand, got)
		}
	}
}
