package flakestorm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/engine/agentcall"
)

// Record asks the agent once, without faults, and returns the session with what
// its tools had answered. An agent whose calls cannot be seen is an error: the
// session would tell nothing of its tools.
func (c *Campaign) Record(ctx context.Context, prompt string) (config.Session, agentcall.Reply, error) {
	if !c.reach.own || c.reach.python && !c.reach.tools {
		return config.Session{}, agentcall.Reply{}, errors.New("the agent's calls cannot be seen: have Thresh start it by agent.command, or name a Python agent's tools")
	}
	sh := &shared{c: c, seeing: true}
	x, err := sh.openLane(ctx, campaign.Lane{Of: 1})
	if err != nil {
		return config.Session{}, agentcall.Reply{}, errors.Join(err, sh.Close())
	}
	s, r, err := x.record(ctx, prompt)
	return s, r, errors.Join(err, x.Close(), sh.Close())
}

func (x *executor) record(ctx context.Context, prompt string) (config.Session, agentcall.Reply, error) {
	cl, err := x.enter(ctx, setting{name: "record"})
	if err != nil {
		return config.Session{}, agentcall.Reply{}, err
	}
	u, err := cl.askAgent(ctx, prompt, nil, nil)
	report := cl.leave()
	if err != nil {
		return config.Session{}, agentcall.Reply{}, err
	}
	if prompt == "" {
		return config.Session{}, u.Reply, errors.New("an empty prompt cannot be recorded")
	}
	sum := sha256.Sum256([]byte(prompt))
	s := x.c.sessionOf(u)
	record.Put(&s, report.Exchanges)
	s.ID, s.Source = "recorded-"+hex.EncodeToString(sum[:4]), "recorded"
	return s, u.Reply, nil
}
