// Command thresh beats software until the bugs fall out. All it does is in
// internal/app.
package main

import (
	"os"

	"github.com/thresh-dev/thresh/internal/app"
)

func main() { os.Exit(app.Main(os.Args, app.System())) }
