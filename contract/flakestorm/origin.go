package flakestorm

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// rowOf names a row of a dataset in the path of what was made of it.
var rowOf = lazy.Pattern(`, row \d+`)

// origin is the path of what a finding is about: the invariant that does not hold, or
// what was asked when a built-in check found something; "": nothing in particular.
func (c *Campaign) origin(o *campaign.Outcome, x *transcript) string {
	path := ""
	if strings.HasPrefix(o.Signature, checkSignature) {
		path = c.asks(x)
	} else {
		for _, v := range slices.Concat(c.invariants, c.invariantsOutsideMatrix()) {
			if strings.HasSuffix(o.Signature, "|"+nameOf(&v)+"|"+v.Type) {
				path = v.Path
				break
			}
		}
	}
	return rowOf().ReplaceAllString(path, "")
}

// asks is the path of the golden prompt, or the turn of one, to which the agent did
// what a check found.
func (c *Campaign) asks(x *transcript) string {
	if len(x.Turns) == 0 {
		return ""
	}
	at := len(x.Turns) - 1
	if x.Turn > 0 && x.Turn <= len(x.Turns) {
		at = x.Turn - 1
	}
	said := x.Turns[at].Prompt
	if x.Original != "" {
		said = x.Original
	}
	for _, p := range c.cfg.Prompts {
		if i := slices.IndexFunc(p.Turns, func(t config.Said) bool { return t.Say == said }); i >= 0 {
			return p.Turns[i].Path
		}
		if p.Text == said {
			return p.Path
		}
	}
	return ""
}
