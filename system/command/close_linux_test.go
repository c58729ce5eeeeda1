package command

import (
	"os"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/systemtest"
)

// A lane that is closed again does not close what has the numbers of its descriptors by
// then: another lane's, perhaps, whose cases would get wrong verdicts.
func TestClosedAgain(t *testing.T) {
	for name, change := range map[string]func(*process.Plan){
		"spawn":   func(*process.Plan) {},
		"sandbox": func(p *process.Plan) { p.Sandbox = true },
		"group":   func(p *process.Plan) { p.Limits.Together, p.Limits.AddressSpace = true, 1<<30 },
		"zygote": func(p *process.Plan) {
			p.Executor, p.Command = process.Zygote, commandOf(systemtest.Build(t, targetC, "cc", "-O1"))
		},
		"afl": func(p *process.Plan) {
			p.Executor, p.Command = process.AFL, commandOf(systemtest.Build(t, targetC, "afl-clang-fast", "-O1"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openBench(t, change)
			b.run("exit 0")
			if err := b.lane.Close(); err != nil {
				t.Fatal(err)
			}
			var files [64]*os.File
			for i := range files {
				var err error
				if files[i], err = os.Open(os.DevNull); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.lane.Close(); err != nil {
				t.Error(err)
			}
			for _, f := range files {
				if err := f.Close(); err != nil {
					t.Error("somebody else's file was closed:", err)
				}
			}
		})
	}
}
