package app

import (
	"context"
	"runtime/debug"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Checked is the result of checking documents.
type Checked struct {
	Diagnostics diag.List
	Campaigns   []Planned // of the documents that were accepted
	guessers    []campaign.Guesser
}

// Planned is a compiled campaign.
type Planned struct {
	Source   string // path of the document, as the user gave it
	Contract string
	Name     string
	Cases    int64  // planned; 0: unknown
	InWords  string // Cases in words, even if the number is only a limit: "at least 6 cases"; "": unknown
	Mode     string // what the campaign explores; "": it explores no model
	Alone    bool   // the campaign explores the model without a system
}

// Check compiles documents. It executes nothing except a few cases that test what documents mark as
// guessed. The result lists what is wrong with the documents; an error means that they could not be
// read.
func (a *App) Check(ctx context.Context, job Job) (Checked, error) {
	a = a.withContracts(job.Contracts)
	options, err := a.Options(job.Options)
	if err != nil {
		return Checked{}, err
	}
	job.Options = options
	set := job.Settings()
	set.Check = true
	docs, problems, err := a.Documents(job.Paths, set)
	if err != nil {
		return Checked{}, err
	}
	c := check(ctx, docs, NewBundle().Fill(set))
	if c.Diagnostics.HasErrors() && ctx.Err() != nil {
		return Checked{}, cut(ctx, nil)
	}
	for _, g := range c.guessers {
		for _, x := range g.Guesses(ctx) {
			c.Diagnostics = append(c.Diagnostics, x.Said)
		}
	}
	c.Diagnostics = append(problems, c.Diagnostics...)
	if job.Strict {
		c.Diagnostics.Strict()
	}
	return c, nil
}

// check compiles documents one by one.
func check(ctx context.Context, docs []Document, set campaign.Settings) Checked {
	var out Checked
	out.Diagnostics = eachCompiled(ctx, docs, set, func(d Document, c campaign.Any) {
		id := c.Identity()
		p := Planned{Source: d.Path, Contract: id.Contract, Name: id.Name}
		if x, ok := campaign.As[campaign.Explorer](c); ok {
			e := x.Explored(nil)
			p.Mode, p.Alone = e.Mode, e.Alone != ""
		}
		traits := campaign.TraitsOf(c)
		p.Cases, p.InWords = traits.Planned, traits.Cases()
		out.Campaigns = append(out.Campaigns, p)
		if g, ok := campaign.As[campaign.Guesser](c); ok {
			out.guessers = append(out.guessers, g)
		}
	})
	return out
}

const largeDocument = 8 << 20 // bytes

// eachCompiled compiles documents one by one and returns what is wrong with them.
func eachCompiled(ctx context.Context, docs []Document, set campaign.Settings, take func(Document, campaign.Any)) diag.List {
	all, names, secrets := idle(docs, set.Options), make(campaignNames), credentialsOf(docs, set.Options)
	for _, d := range docs {
		if len(d.Data) > largeDocument { // its tree takes most of the memory: collect garbage before it doubles
			defer debug.SetGCPercent(debug.SetGCPercent(25))
			break
		}
	}
	for _, d := range docs {
		compiled, _, list, _ := compileSealed(ctx, &d, set, secrets) // a check needs no secret, so none can be missing
		all = append(all, list...)
		if list.HasErrors() {
			continue
		}
		for _, c := range compiled {
			if len(docs) > 1 { // a single document's campaign needs no unique name and no identity
				c, list = names.add(d.Path, c)
				all = append(all, list...)
			}
			take(d, c)
		}
	}
	return all
}
