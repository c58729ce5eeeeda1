// Command thresh beats software until the bugs fall out. All it does is in
// package thresh.
package main

import (
	"os"

	"github.com/thresh-dev/thresh"
	_ "github.com/thresh-dev/thresh/cmd/thresh/internal/room" // before anything reserves memory
)

func main() { os.Exit(thresh.Main()) }
