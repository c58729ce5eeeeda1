package secret

import (
	"bytes"
	"slices"
	"testing"
)

// Long texts are searched in pieces, without a copy, and what stands where two pieces meet
// is found.
func TestScanLong(t *testing.T) {
	quiet := bytes.Repeat([]byte("nothing to see on this line\n"), 200_000)
	released := 0
	if allocs := testing.AllocsPerRun(1, func() { ScanLong(quiet, func() { released++ }) }); allocs > 0 || released < 2*5 {
		t.Errorf("a text of %d bytes: %v allocations, memory given back %d times", len(quiet), allocs, released)
	}
	declares := []byte("\npassword: ${SESAME}\n")
	for _, at := range []int{0, 4<<10 - 10, 1<<20 - 30, 1<<20 - 10, 1<<20 - 3, 1 << 20, 1<<20 + 8<<10 - 9, len(quiet) - len(declares)} {
		text := slices.Clone(quiet)
		copy(text[at:], declares)
		if d := Scan(text); !slices.Equal(d.Variables, []string{"SESAME"}) {
			t.Errorf("at %d: %v", at, d.Variables)
		}
	}
	for _, line := range []string{"PASSWD: x", "x-api-Key: y", "https://a:b@c", `https:\/\/a:b@c`, "?sig=1", "Cookie: a=b", `{\"bearer\" : 1`, "AUTH=1", "client_secret'\n :"} {
		if len(near(line)) == 0 {
			t.Errorf("nothing is looked for in %q", line)
		}
	}
	for _, line := range []string{"the key is under the mat", `["secret-12", "token"]`, "# passwords", "cookies, please", "http://c/d"} {
		if list := near(line); len(list) > 0 {
			t.Errorf("%q declares nothing, and %v of it is searched", line, list)
		}
	}
}
