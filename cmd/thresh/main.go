// Command thresh tests software until the bugs fall out. Package thresh does all the work.
package main

import (
	"os"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/cmd/thresh/internal/room"
)

func main() {
	room.Restore()
	os.Exit(thresh.Main())
}
