package flakestorm

import (
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
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
	if c := program(plan); c != nil { // whose calls can be seen and struck
		b.c.agent.System, b.c.agent.Command = nil, c
		b.c.reach = reach{own: true}
	}
	b.read = append(b.read, []byte(plan.Digest))
}

// program is a system that is a bare program, started for each call, as an agent of
// type command; nil if it is more than that.
func program(p *sut.Plan) *agentcall.Command {
	bare := p.Kind == sut.Command && p.Input == (sut.Input{}) && p.Limits == (sut.Limits{}) && len(p.Operations) == 0 && p.Reset == (sut.Reset{})
	if !bare || strings.Contains(strings.ReplaceAll(strings.Join(p.Command, ""), "{prompt}", ""), "{") {
		return nil
	}
	return &agentcall.Command{Argv: p.Command, Dir: p.Dir, ResponsePath: p.Reply}
}
