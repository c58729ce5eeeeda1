package agent

import (
	"slices"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/system/program"
)

const (
	// grace is how long is waited for what should come at once.
	grace = time.Second
	// tailSize is how much of what a program writes is kept.
	tailSize = 64 << 10
)

// newService is the service of a plan with a Start.
func newService(p *agentcall.Plan, extra []string) *program.Service {
	return program.NewService(program.ServiceSpec{
		Spec:    program.Spec{Noun: "agent", Argv: p.Start.Argv, Dir: p.Start.Dir, Env: append(slices.Clip(p.Start.Env), extra...)},
		Address: p.Address(), Ready: p.Start.Ready, Patience: p.Start.Patience, Gone: agentcall.ErrGone,
	})
}
