// Command palindromes is Thresh with a sixth format.
package main

import (
	"os"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/examples/palindromes"
)

func main() { os.Exit(thresh.Main(palindromes.Contract{})) }
