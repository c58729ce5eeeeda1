//go:build linux && !amd64

package command

import "github.com/thresh-dev/thresh/port/process"

// sandbox is unavailable where launch is not implemented.
type sandbox struct {
	ownPIDs bool
	view    string
	keeper  int
}

// cgroup is unavailable for the same reason.
type cgroup struct{ procs []int }

func newCgroup(int64, int64, int64) (_ *cgroup, have, refused []string) {
	return nil, nil, []string{"bounds on all processes together (not on this processor)"}
}

func sandboxGroup(process.Limits, int) (g *cgroup, have, refused []string) { return nil, nil, nil }

func (*cgroup) filled() bool { return false }
func (*cgroup) serves()      {}
func (*cgroup) remove() bool { return true }
func (*cgroup) close()       {}

func newSandbox(int, string, process.Limits) (*sandbox, []string, []string) {
	return nil, nil, []string{"everything: programs are contained by rules set between fork and exec, which this processor's port does not do"}
}

func (*sandbox) addSteps(*launchpad) {}
func (*sandbox) enter() error        { return nil }
func (*sandbox) leave() error        { return nil }
func (*sandbox) sweep()              {}
func (*sandbox) close()              {}
