// Command parser is package demo, the reader of scrolls with planted bugs, as a
// separate program.
package main

import (
	"os"

	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

func main() { os.Exit(demo.Main(os.Args[1:])) }
