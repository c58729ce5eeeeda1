// Command thresh tests software until the bugs fall out. All it does is in
// package thresh.
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
