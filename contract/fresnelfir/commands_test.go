package fresnelfir

import (
	"flag"
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestCommands(t *testing.T) { contracttest.Commands(t, New(nil), *update) }
