package flakestorm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// Adopt implements [campaign.Adopter]. Whatever a payload refers to by its place in the other
// document is found by its name in this one.
func (c *Campaign) Adopt(_ context.Context, other campaign.Any, data []byte, signature string) ([]byte, error) {
	var p payload
	was, ok := campaign.As[*Campaign](other)
	if err := json.Unmarshal(data, &p); err != nil || !ok || was.inRange(&p) != nil {
		return nil, fmt.Errorf("it has no case %q", data)
	}
	broken := was.brokenIn(&p, signature)
	err := c.adopt(was, &p)
	if err == nil && broken != nil && c.brokenIn(&p, signature) == nil {
		err = fmt.Errorf("it has no invariant %q", nameOf(broken))
	}
	return p.encode(), err
}

// brokenIn returns the invariant of a case that a signature names; nil: none.
func (c *Campaign) brokenIn(p *payload, signature string) *config.Invariant {
	switch p.Phase {
	case PhaseReplay:
		return brokenBy(c.sessions[p.Session].checks, signature)
	case PhaseContract, phaseRate:
		return brokenBy(c.invariants, signature)
	}
	return brokenBy(c.invariantsOutsideMatrix(), signature)
}

// brokenBy returns the invariant of a list that a signature names; nil: none.
func brokenBy(list []config.Invariant, signature string) *config.Invariant {
	for i := range list {
		if strings.HasSuffix(signature, "|"+nameOf(&list[i])+"|"+list[i].Type) {
			return &list[i]
		}
	}
	return nil
}

func (c *Campaign) adopt(was *Campaign, p *payload) (err error) {
	invariants := func() {
		id := func(v config.Invariant) string { return v.ID }
		p.Invariant, err = counterpart("invariant", p.Invariant, was.invariants, c.invariants, id)
	}
	text := func(s string) string { return s }
	switch p.Phase {
	case PhaseMutation, PhaseChaos, PhaseContract, PhaseReplay:
		if !slices.Contains(c.phases, p.Phase) {
			return fmt.Errorf("it does not run the phase %s", p.Phase)
		}
	}
	switch p.Phase {
	case PhaseMutation:
		original := []string{p.Mutation.Original}
		_, err = counterpart("prompt", 0, original, c.prompts(&config.Invariant{}), text)
	case phaseBaseline:
		p.Prompt, err = counterpart("prompt", p.Prompt, was.asked, c.asked, text)
	case PhaseChaos:
		p.Prompt, err = counterpart("prompt", p.Prompt, was.cfg.Prompts, c.cfg.Prompts, func(s config.Prompt) string { return s.Text })
	case PhaseContract, phaseRate:
		if invariants(); err == nil {
			p.Scenario, err = counterpart("scenario", p.Scenario, was.scenarios, c.scenarios, func(j injection) string { return j.name })
		}
		if q := c.sequences[p.Invariant]; err == nil && p.Phase == phaseRate && q == nil {
			err = fmt.Errorf("its invariant %q has no min_pass_rate", c.invariants[p.Invariant].ID)
		}
	case PhaseReplay:
		p.Session, err = counterpart("session", p.Session, was.sessions, c.sessions, func(s session) string { return s.label() })
	case phaseAudit:
		if p.Subject == "" {
			p.Rule, err = counterpart("fault", p.Rule, was.rules, c.rules, func(r ruleAt) string { return r.scenario + " " + r.rule.ID })
		}
	case phaseCheck:
		if !c.checkOn(p.Check) {
			return fmt.Errorf("it does not make the check %s", p.Check)
		}
		if p.Of != nil {
			err = c.adopt(was, p.Of)
		}
	}
	return err
}

// counterpart returns where another list has an item of a list: the item of the same name. Of
// several with this name, it is the one with as many of them before it.
func counterpart[T any](what string, i int, was, is []T, name func(T) string) (int, error) {
	same := func(list []T) (at []int) {
		for k, x := range list {
			if name(x) == name(was[i]) {
				at = append(at, k)
			}
		}
		return at
	}
	which, now := slices.Index(same(was), i), same(is)
	if which >= len(now) {
		return 0, fmt.Errorf("it has no %s %q", what, name(was[i]))
	}
	return now[which], nil
}
