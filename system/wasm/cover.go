package wasm

import (
	"fmt"
	"slices"
	"strings"
)

// cover chooses the functions that are traced. In modules that Go made, Go's
// own packages are left out: they are thousands of functions that every call
// passes through, and tracing them doubles the time to compile.
type cover struct{ traced, all int }

func (c *cover) choose(names []string) func(int) bool {
	if !slices.Contains(names, "runtime.mallocgc") {
		return func(int) bool { return true }
	}
	c.all = len(names)
	for _, n := range names {
		if ownPackage(n) {
			c.traced++
		}
	}
	return func(i int) bool { return ownPackage(names[i]) }
}

// ownPackage says that a function's name is of package main or of a package
// whose path begins with a domain, as those outside of Go's own do.
func ownPackage(name string) bool {
	if strings.HasPrefix(name, "main.") {
		return true
	}
	domain, _, path := strings.Cut(name, "/")
	return path && strings.Contains(domain, ".")
}

func (c *cover) notes() []string {
	if c.all == 0 {
		return nil
	}
	return []string{fmt.Sprintf("coverage is of %d of %d functions: Go's own packages are left out", c.traced, c.all)}
}
