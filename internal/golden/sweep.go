package golden

import (
	"fmt"
	"hash/fnv"
	"iter"
	"path/filepath"
	"strings"
	"testing"
)

// shown is the number of texts that a failing test shows.
const shown = 3

// Changed yields each text and then the results of all small changes: its prefixes and, at every
// position, the text with a byte removed, with a byte of put in its place, or with a byte of put
// inserted before it.
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

// Sweep pins the results of a reader for very many texts: testdata/sweep/NAME holds a checksum of
// each result, so that a failing test names the texts whose results changed.
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

// table writes twelve checksums per line.
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
