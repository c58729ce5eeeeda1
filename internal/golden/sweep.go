package golden

import (
	"fmt"
	"hash/fnv"
	"iter"
	"path/filepath"
	"strings"
	"testing"
)

// shown is how many texts a failing test shows.
const shown = 3

// Changed yields each text, then all that one small change makes of it: its beginnings, and
// in every place a byte less, another one of put in its place, or one of them before it.
func Changed(put string, texts ...string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range texts {
			if !changed(text, put, yield) {
				return
			}
		}
	}
}

func changed(text, put string, yield func(string) bool) bool {
	if !yield(text) {
		return false
	}
	for i := range text {
		if !yield(text[:i]) || !yield(text[:i]+text[i+1:]) {
			return false
		}
		for k := range put {
			if !yield(text[:i]+put[k:k+1]+text[i+1:]) || !yield(text[:i]+put[k:k+1]+text[i:]) {
				return false
			}
		}
	}
	return true
}

// Sweep pins what a reader of texts makes of very many of them: testdata/sweep/NAME has a
// sum of what is said of each, so that a test that fails names those of which something
// else is said.
func Sweep(t *testing.T, name string, texts iter.Seq[string], say func(text string) string) {
	t.Helper()
	var sums, said []string
	for text := range texts {
		s := say(text)
		sum := fnv.New32a()
		sum.Write([]byte(s))
		sums = append(sums, fmt.Sprintf("%08x", sum.Sum32()))
		said = append(said, fmt.Sprintf("of %q:\n%s", text, s))
	}
	want := strings.Fields(Read(t, filepath.Join("testdata", "sweep", name), table(sums)))
	if len(want) != len(sums) {
		t.Fatalf("testdata/sweep/%s knows %d texts, here are %d; -update writes it", name, len(want), len(sums))
	}
	others := 0
	for i, sum := range sums {
		if sum == want[i] {
			continue
		}
		if others++; others <= shown {
			t.Errorf("something else than before is said %s", said[i])
		}
	}
	if others > shown {
		t.Errorf("and of %d more of %d texts", others-shown, len(sums))
	}
}

// table has a dozen sums a line.
func table(sums []string) string {
	var b strings.Builder
	for i, sum := range sums {
		b.WriteString(sum)
		if (i+1)%12 == 0 || i == len(sums)-1 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
