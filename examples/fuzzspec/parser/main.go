// Command parser is the planted-bug reader of scrolls as a program of its own:
// what package demo holds, without thresh around it.
package main

import (
	"os"

	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

func main() { os.Exit(demo.Main(os.Args[1:])) }
