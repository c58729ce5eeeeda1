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
	Campaigns   []Planned // of documents that are not refused
	guessers    []campaign.Guesser
}

// Planned is a campaign that was compiled.
type Planned struct {
	Source   string // path of the document, as the user gave it
	Contract string
	Name     string
	Cases    int64  // planned; 0: unknown
	InWords  string // the same, also if it may be another number: "at least 6 cases"; "": unknown
	Mode     string // what is explored, if the campaign explores a model; "": it does not
	Alone    bool   // it explores the model alone
}

// Check compiles documents. It runs nothing but a few cases that test what
// documents mark as guessed. What is wrong with the documents is in the answer;
// an error means that they could not be read.
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
		if len(d.Data) > largeDocument { // its tree is most of the memory that is used: collect before that is twice as much
			defer debug.SetGCPercent(debug.SetGCPercent(25))
			break
		}
	}
	for _, d := range docs {
		compiled, _, list, _ := compileSealed(ctx, &d, set, secrets) // a check needs no secret, and so lacks none
		all = append(all, list...)
		if list.HasErrors() {
			continue
		}
		for _, c := range compiled {
			if len(docs) > 1 { // else no other has its name, and its identity need not be known
				c, list = names.add(d.Path, c)
				all = append(all, list...)
			}
			take(d, c)
		}
	}
	return all
}
