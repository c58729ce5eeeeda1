package command

import (
	"os"
	"testing"

	"github.com/thresh-dev/thresh/engine/process"
	"github.com/thresh-dev/thresh/target/targettest"
)

func TestMain(m *testing.M) {
	targettest.Main()
	os.Exit(m.Run())
}

const targetC = "../targettest/testdata/target.c"

func TestSpawnConforms(t *testing.T) {
	targettest.Run(t, targettest.Subject{Open: Open, Executor: process.Spawn})
}

func TestZygoteConforms(t *testing.T) {
	targettest.Run(t, targettest.Subject{Open: Open, Executor: process.Zygote, Path: targettest.Build(t, targetC, "cc", "-O1")})
}

func TestAFLConforms(t *testing.T) {
	targettest.Run(t, targettest.Subject{Open: Open, Executor: process.AFL, Path: targettest.Build(t, targetC, "afl-clang-fast", "-O1")})
}
