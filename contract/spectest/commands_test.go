package spectest

import (
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
)

func TestCommands(t *testing.T) { contracttest.Commands(t, newContract(nil), *update) }
