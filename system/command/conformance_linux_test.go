package command

import (
	"os"
	"testing"

	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func TestMain(m *testing.M) {
	systemtest.Main()
	systemtest.Speak()
	testproc.Ready(8)
	os.Exit(m.Run())
}

const targetC = "../systemtest/testdata/target.c"

func TestSpawnConforms(t *testing.T) {
	t.Parallel() // mostly waits
	systemtest.Run(t, systemtest.Subject{Open: Open, Executor: process.Spawn})
}

func TestZygoteConforms(t *testing.T) {
	t.Parallel() // mostly waits
	systemtest.Run(t, systemtest.Subject{Open: Open, Executor: process.Zygote, Path: systemtest.Build(t, targetC, "cc", "-O1")})
}

func TestAFLConforms(t *testing.T) {
	t.Parallel() // mostly waits
	systemtest.Run(t, systemtest.Subject{Open: Open, Executor: process.AFL, Path: systemtest.Build(t, targetC, "afl-clang-fast", "-O1")})
}
