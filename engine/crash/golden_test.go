package crash

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// The causes of reports that are cut, lack a line or have a strange character
// stay what they are, byte for byte: findings are grouped and named by them, so
// that another cause for the same output splits what users know in two. Where a
// cause gets better on purpose, -update renews the sums.
func TestDamagedReports(t *testing.T) {
	var sums strings.Builder
	for i, name := range deaths(t) {
		if i%testproc.Times(1, 4) != 0 && !golden.Update() {
			continue
		}
		d, _, _ := readDeath(t, name)
		h := sha256.New()
		try := func(stderr []byte) {
			v := d
			v.Stderr = stderr
			fmt.Fprintf(h, "%s\n%s\n", Analyze(v), Mask(string(stderr)))
		}
		text := string(d.Stderr)
		if len(text) > 1600 {
			text = text[:1600]
		}
		lines := strings.SplitAfter(text, "\n")
		for i := range lines {
			try([]byte(strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")))
			try([]byte(strings.Join(lines[i:], "")))
		}
		for i := 0; i < len(text); i += 1 + len(text)/60 {
			try([]byte(text[:i]))
			for _, c := range []string{"", " ", "(", "7", "x"} {
				try([]byte(text[:i] + c + text[i+1:]))
			}
		}
		fmt.Fprintf(&sums, "%s %s\n", hex.EncodeToString(h.Sum(nil)[:8]), filepath.Base(name))
	}
	const file = "testdata/damaged.txt"
	want := golden.Read(t, file, sums.String())
	known := make(map[string]bool)
	for line := range strings.Lines(want) {
		known[line] = true
	}
	for line := range strings.Lines(sums.String()) {
		if !known[line] {
			t.Errorf("%s: some damaged form of this report has another cause than before", strings.Fields(line)[1])
		}
	}
}
