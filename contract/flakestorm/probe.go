package flakestorm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
)

// StatefulWarning is the contract's sentence for an agent that seems to have a memory that nothing
// clears.
const StatefulWarning = "Warning: No reset_endpoint configured. Contract matrix cells may share state. Results may be contaminated. Add reset_endpoint to your config for accurate isolation."

// Probe implements [campaign.Campaign]. It asks the first prompt without chaos and, if nothing
// clears the agent's memory between cells, asks it again. If an LLM writes mutations, it writes
// them now, and they are stored with the run.
func (c *Campaign) Probe(ctx context.Context) (campaign.Facts, error) {
	var f campaign.Facts
	var k known
	sh := &shared{c: c}
	x, err := sh.openLane(ctx, campaign.Lane{Of: 1})
	if err != nil {
		return f, errors.Join(err, sh.Close())
	}
	warnings, stateful, err := x.probe(ctx, &k)
	if cerr := errors.Join(x.Close(), sh.Close()); err == nil {
		err = cerr
	}
	if err != nil {
		return f, err
	}
	f.Warnings, k.Stateful = warnings, stateful
	f.Exclusive = stateful && c.sharesAgent()
	if c.written != nil {
		told, err := c.write(ctx, &k)
		if err != nil {
			return f, err
		}
		f.Warnings = append(f.Warnings, told...)
	}
	f.Data, err = json.Marshal(k)
	return f, err
}

// Check asks the agent once, in the way a run begins.
func (c *Campaign) Check(ctx context.Context) (agentcall.Reply, error) {
	sh := &shared{c: c}
	x, err := sh.openJudged(ctx, campaign.Lane{Of: 1})
	if err != nil {
		return agentcall.Reply{}, errors.Join(err, sh.Close())
	}
	cl, err := x.enter(ctx, setting{name: "check", recorded: c.recorded()})
	var r agentcall.Reply
	if err == nil {
		var u *turn
		if u, err = cl.askAgent(ctx, c.first(), nil, nil); err == nil {
			r = u.Reply
		}
		cl.leave()
	}
	return r, errors.Join(err, x.Close(), sh.Close())
}

// first returns the prompt that the agent is tried with.
func (c *Campaign) first() string {
	if c.replaysOnly() || len(c.cfg.Prompts) == 0 {
		return c.sessions[0].Input
	}
	return c.cfg.Prompts[0].Text
}

// replaysOnly reports whether only replays are run. Then no prompt of the document is asked,
// because that would call the real tools.
func (c *Campaign) replaysOnly() bool {
	return len(c.sessions) > 0 && len(c.sessions) == len(c.known) && len(c.asked) == 0 && c.written == nil
}

// recorded returns the responses that the agent is tried with: those of the first session if only
// replays are run.
func (c *Campaign) recorded() []fault.Recorded {
	if !c.replaysOnly() {
		return nil
	}
	return c.sessions[0].recorded
}

func (x *executor) probe(ctx context.Context, k *known) (warnings []string, stateful bool, err error) {
	recorded := x.c.recorded()
	cl, err := x.enter(ctx, setting{name: "probe", recorded: recorded})
	if err != nil {
		return nil, false, diag.Environment("%w", err)
	}
	defer cl.leave()
	prompt := x.c.first()
	one, err := cl.askAgent(ctx, prompt, nil, nil)
	if err != nil {
		return nil, false, err
	}
	first := one.Reply
	if cl.faults != nil && !x.c.replaysOnly() {
		r := cl.report()
		k.Ailing = x.c.checkOn(judge.UnhealthyBaseline) && someAllFailed(judge.HealthOf(cl.trace(&r, -1)))
		k.Own = cl.owned(&r)
	}
	if first.End == agentcall.Unreachable {
		return nil, false, diag.WithHint(diag.Environment("the agent cannot be reached: %s", diag.FirstLine(first.Error)), "start it, or have Thresh start it by agent.command")
	}
	if x.c.agent.Shapes() && first.Status == http.StatusUnauthorized {
		return nil, false, diag.WithHint(diag.Environment("the agent's endpoint refuses the caller: %s", diag.FirstLine(first.Error)),
			"give the key: agent.api_key of type openai, else agent.headers")
	}
	if !first.OK() {
		warnings = append(warnings, "the agent gave no answer to the first prompt, without any fault: "+diag.FirstLine(first.Error))
	}
	if x.agent.Forgets() || len(x.c.invariants) == 0 {
		return warnings, false, nil
	}
	two, err := cl.askAgent(ctx, prompt, nil, nil)
	if err != nil {
		return nil, false, err
	}
	if first.OK() && two.Reply.OK() && strings.TrimSpace(first.Text) != strings.TrimSpace(two.Reply.Text) {
		return append(warnings, StatefulWarning), true, nil
	}
	return warnings, false, nil
}

// Record asks the agent once, without faults, and returns the session with the answers of its
// tools. It returns an error if the agent's calls cannot be seen, because the session would not
// contain its tools.
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
