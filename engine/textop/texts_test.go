package textop_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/golden"
)

// A document draws tomorrow what it draws today: every operator makes the texts it
// always made, and leaves the generator where it left it. The file has a digest over
// the texts of each operator; -update writes it, which breaks recorded runs.
func TestTextsStay(t *testing.T) {
	const file = "testdata/texts.txt"
	ops := slices.Concat(textop.Builtins(), textop.Extended(), textop.Third())
	var lines []string
	total := 0
	for _, op := range ops {
		m := op.Meta()
		sum, made := sha256.New(), 0
		for i, text := range texts[:7] {
			for strength := m.Strength.Min; strength <= m.Strength.Max; strength++ {
				r := rng(uint64(100*i + strength))
				out := textop.Run(op, text, &textop.Context{Surface: m.Surfaces[i%len(m.Surfaces)], Strength: strength, Partner: texts[(i+1)%7]}, r)
				fmt.Fprintf(sum, "%s %q %v\n", out.Status, out.Child, r.Float64())
				if total++; out.Status == textop.OK {
					made++
				}
			}
		}
		lines = append(lines, fmt.Sprintf("%s %d %x", m.ID, made, sum.Sum(nil)[:8]))
	}
	want := golden.Read(t, file, strings.Join(lines, "\n")+"\n")
	pinned := strings.Split(strings.TrimSpace(want), "\n")
	for _, line := range lines {
		if !slices.Contains(pinned, line) {
			t.Errorf("other texts than before: %s", line)
		}
	}
	if len(pinned) != len(lines) || total < 2640 {
		t.Errorf("%d operators of %d in the file, %d texts", len(lines), len(pinned), total)
	}
}
