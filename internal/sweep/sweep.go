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
// of them, has not the digest want. A change that is meant has a new digest.
func Check(t *testing.T, want, put string, texts []string, say func(text string) string) {
	t.Helper()
	check(t, want, func(w io.Writer) {
		for _, text := range texts {
			for changed := range Each(text, put) {
				fmt.Fprintf(w, "%q\n%s\n", changed, say(changed))
			}
		}
	})
}

// Digest does the same for one long text.
func Digest(t *testing.T, want, said string) {
	t.Helper()
	check(t, want, func(w io.Writer) { fmt.Fprint(w, said) })
}

// check compares digests. To see what differs, run the test before and after a change with
// SWEEP=FILE, which adds all that is said to a file, and compare the files.
func check(t *testing.T, want string, write func(io.Writer)) {
	t.Helper()
	sum := fnv.New64a()
	out := io.Writer(sum)
	if name := os.Getenv("SWEEP"); name != "" {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = io.MultiWriter(sum, f)
	}
	write(out)
	if got := fmt.Sprintf("%016x", sum.Sum64()); got != want {
		t.Errorf("what is said has the digest %s, want %s: SWEEP=FILE writes it to a file", got, want)
	}
}
