//go:build !unix

package python

import (
	"context"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/system"
)

func unsupported() error {
	return diag.Environment("Python code can be hosted on Unix systems only")
}

// OpenCommander implements pyhost.CommandOpener.
func OpenCommander(context.Context, string) (pyhost.Commander, error) { return nil, unsupported() }

// OpenOperators implements pyhost.OperatorOpener.
func OpenOperators(context.Context, pyhost.OperatorSet) (pyhost.Operators, error) {
	return nil, unsupported()
}

// OpenAgent implements pyhost.AgentOpener.
func OpenAgent(context.Context, pyhost.AgentPlan) (pyhost.Caller, error) { return nil, unsupported() }

// OpenSystem is a system.Kind.
func OpenSystem(context.Context, system.Site) (system.Edge, error) { return nil, unsupported() }
