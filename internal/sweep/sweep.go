// Package sweep pins what a reader of texts makes of very many of them: given ones, and
// each of those with one small change, in every place. A test keeps a digest of all that
// was said. It is for tests alone and knows nothing of what it calls.
package sweep

import (
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"os"
	"testing"
)

// Each yields a text, then all that one small change makes of it: its beginnings, and in
// every place a byte less, another one of put in its place, or one of them before it.
func Each(text, put string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(text) {
			return
		}
		for i := range text {
			if !yield(text[:i]) || !yield(text[:i]+text[i+1:]) {
				return
			}
			for k := range put {
				if !yield(text[:i]+put[k:k+1]+text[i+1:]) || !yield(text[:i]+put[k:k+1]+text[i:]) {
					return
				}
			}
		}
	}
}

// Check fails the test if what is said of the texts, and of all that one small change makes
// of them, has not the digest want. To see what differs, run the test before and after the
// change with SWEEP=FILE, which writes all of it, and compare the files. A change that is
// meant has a new digest.
func Check(t *testing.T, want, put string, texts []string, say func(text string) string) {
	t.Helper()
	sum := fnv.New64a()
	out := io.Writer(sum)
	if name := os.Getenv("SWEEP"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = io.MultiWriter(sum, f)
	}
	n := 0
	for _, text := range texts {
		for changed := range Each(text, put) {
			n++
			fmt.Fprintf(out, "%q\n%s\n", changed, say(changed))
		}
	}
	if got := fmt.Sprintf("%016x", sum.Sum64()); got != want {
		t.Errorf("what is said of %d texts has the digest %s, want %s (see sweep.Check)", n, got, want)
	}
}
