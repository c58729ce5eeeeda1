// Package lazy makes values when they are first used, because a program that
// compiles hundreds of regular expressions before its first line starts slowly.
// It imports only the standard library.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern returns a function that compiles text on its first call and returns
// the same expression from then on. It panics there if text is invalid.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
