package flakestorm

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
)

// system makes a system the agent: the one that --system names, else that of
// agent.system. It returns the secrets that the system is given.
func (b *builder) system() (given []config.Pair) {
	path := b.set.Get(OptSystem, "")
	if path == "" {
		if path = b.cfg.Agent.SystemFile; path == "" {
			return nil
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(b.spec.Path), path)
		}
	}
	plan, list := systemfile.Load(path, b.set.Read, b.set.Digest)
	if b.list = append(b.list, list...); plan == nil {
		return nil
	}
	if text, err := b.set.Read(path); err == nil {
		given = b.declared(path, text)
	}
	b.c.agent = agentcall.Plan{System: plan, Concurrency: b.cfg.Advanced.Concurrency}
	b.c.reach = reach{system: true}
	if c := program(plan); c != nil { // whose calls can be seen and struck
		b.c.agent.System, b.c.agent.Command = nil, c
		b.c.reach = reach{own: true}
	}
	b.read = append(b.read, []byte(plan.Digest))
	return given
}

// declared are the secrets that a text declares.
func (b *builder) declared(name string, text []byte) (given []config.Pair) {
	d := secret.Scan(text)
	for _, v := range d.Variables {
		if value, _ := b.k.getenv(v); len(value) >= secret.Shortest {
			given = append(given, config.Pair{Key: v, Value: value})
		}
	}
	for _, x := range d.Literals {
		given = append(given, config.Pair{Key: name, Value: x.Value})
		if text, err := url.QueryUnescape(x.Value); err == nil && text != x.Value { // as its server reads it
			given = append(given, config.Pair{Key: name, Value: text})
		}
	}
	return given
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
