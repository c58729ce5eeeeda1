package flakestorm

import (
	"path/filepath"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/systemfile"
)

// system makes a system the agent: the one that --system names, else that of
// agent.system.
func (b *builder) system() {
	path := b.set.Get(OptSystem, "")
	if path == "" {
		if path = b.cfg.Agent.SystemFile; path == "" {
			return
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(b.spec.Path), path)
		}
	}
	plan, list := systemfile.Load(path, b.set.Read, b.set.Digest)
	if b.list = append(b.list, list...); plan == nil {
		return
	}
	b.c.agent = agentcall.Plan{System: plan, Concurrency: b.cfg.Advanced.Concurrency}
	b.c.reach = reach{system: true}
	b.read = append(b.read, []byte(plan.Digest))
}
