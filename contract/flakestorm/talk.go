package flakestorm

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
)

// conversationFor returns the golden prompt that ends with a text and is more than that text; nil:
// there is none.
func (c *Campaign) conversationFor(text string) *config.Prompt {
	for i := range c.cfg.Prompts {
		if p := &c.cfg.Prompts[i]; p.Text == text && (len(p.Turns) > 0 || len(p.Expect) > 0 || p.Tools != nil || p.User != nil) {
			return p
		}
	}
	return nil
}

// askPrompt asks what a golden prompt asks: all turns of a conversation, with text in place of the
// last. If the agent does not answer one of them, it is asked no further.
func (c *cell) askPrompt(ctx context.Context, prompt, text string, wire *agentcall.Wire) (*turn, error) {
	c.talking = prompt
	p := c.x.c.conversationFor(prompt)
	if p == nil || len(p.Turns) < 2 && p.User == nil {
		return c.askAgent(ctx, text, wire, nil)
	}
	defer func() { c.within = false }()
	var history []agentcall.Message
	var u *turn
	script := p.Script()
	for i, t := range script {
		if u != nil && !t.When.Met(u.Reply.Text) {
			continue
		}
		say, with := t.Say, (*agentcall.Wire)(nil)
		if i == len(script)-1 {
			say, with = text, wire
		}
		var err error
		if u, err = c.askAgent(ctx, say, with, c.historyToSend(history)); err != nil || !u.Reply.OK() {
			return u, err
		}
		c.within, u.script = true, i+1
		history = exchange(history, u)
	}
	if p.User == nil {
		return u, nil
	}
	place := u.script
	for n := range p.User.Turns {
		say, err := c.x.userSays(ctx, p.User, c.session, history)
		if err != nil || say == "" {
			return u, err
		}
		if u, err = c.askAgent(ctx, say, nil, c.historyToSend(history)); err != nil || !u.Reply.OK() {
			return u, err
		}
		if u.script = place; place == len(script) {
			u.script += n + 1
		}
		history = exchange(history, u)
	}
	return u, nil
}

// exchange returns a history with one more turn.
func exchange(history []agentcall.Message, u *turn) []agentcall.Message {
	return append(history, agentcall.Message{Role: "user", Text: u.Prompt}, agentcall.Message{Role: "assistant", Text: u.Reply.Text})
}

// scripted returns the turn of a conversation that is at a place of its script, from 1; nil: the
// agent's replies did not lead there. Place 0 is the turn itself.
func (c *cell) scripted(u *turn, place int) *turn {
	if place == 0 {
		return u
	}
	for i := u.First; i < len(c.turns); i++ {
		if c.turns[i].First == u.First && c.turns[i].script == place {
			return &c.turns[i]
		}
	}
	return nil
}

// place returns the index of a turn of the cell.
func (c *cell) place(u *turn) int {
	at := len(c.turns) - 1
	for &c.turns[at] != u {
		at--
	}
	return at
}

// historyToSend returns a history if the agent accepts one; other agents remember it.
func (c *cell) historyToSend(history []agentcall.Message) []agentcall.Message {
	if !c.x.c.agent.TakesHistory() {
		return nil
	}
	return slices.Clone(history)
}

// expected judges the replies of a conversation by what the prompt expects of them.
func (t *trial) expected(ctx context.Context, u *turn, where place, prompt string, b baseline) error {
	p := t.x.c.conversationFor(prompt)
	if p == nil {
		return nil
	}
	now := func(list []config.Invariant) []config.Invariant {
		other := func(v config.Invariant) bool { return !t.cell.j.active.applies(v.When) }
		return slices.DeleteFunc(slices.Clone(list), other)
	}
	for i, said := range p.Turns {
		if at := t.cell.scripted(u, i+1); at != nil && len(said.Expect) > 0 && at.Reply.OK() {
			if err := t.judge(ctx, at, where, now(said.Expect), campaign.SeverityNote, b); err != nil {
				return err
			}
		}
	}
	if len(p.Expect) == 0 || !u.Reply.OK() { // if there is no answer, the invariants have already judged that
		return nil
	}
	return t.judge(ctx, u, where, now(p.Expect), campaign.SeverityNote, b)
}

// nameExpectations gives the expectations of prompts ids that name the prompt, and also the turn if
// two would be the same.
func nameExpectations(prompts []config.Prompt) {
	taken := make(map[string]bool)
	name := func(p *config.Prompt, list []config.Invariant, turn int) {
		for i := range list {
			v := &list[i]
			id := shortName(p.Name()) + ": " + nameOf(v)
			if taken[id] && turn > 0 {
				id = fmt.Sprintf("%s: turn %d: %s", shortName(p.Name()), turn, nameOf(v))
			}
			first := id
			for n := 2; taken[id]; n++ {
				id = fmt.Sprintf("%s %d", first, n)
			}
			taken[id], v.ID = true, id
		}
	}
	for i := range prompts {
		p := &prompts[i]
		name(p, p.Expect, 0)
		for k := range p.Turns {
			name(p, p.Turns[k].Expect, k+1)
		}
	}
}

// expectations returns the invariants of golden prompts as rows of the matrix, each only for its
// own prompt.
func expectations(prompts []config.Prompt) []config.Invariant {
	var list []config.Invariant
	for i := range prompts {
		p := &prompts[i]
		add := func(v config.Invariant) {
			v.Probes = []string{p.Text}
			list = append(list, v)
		}
		for _, t := range p.Turns {
			for _, v := range t.Expect {
				add(v)
			}
		}
		for _, v := range p.Expect {
			add(v)
		}
	}
	return list
}

// invariantsOutsideMatrix returns the invariants for what is asked outside the matrix.
func (c *Campaign) invariantsOutsideMatrix() []config.Invariant {
	return slices.Concat(c.cfg.Invariants, expectations(c.cfg.Prompts))
}

func shortName(s string) string { return diag.Runes(s, 40) }
