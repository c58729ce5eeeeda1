// Command thresh beats software until the bugs fall out. All it does is in
// package thresh.
package main

import (
	"os"

	"github.com/thresh-dev/thresh"
)

func main() { os.Exit(thresh.Main()) }
