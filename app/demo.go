package app

import (
	"path/filepath"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

// Demo writes the built-in sample of every format into a folder of its own below dir and returns
// the documents. They run this program.
func (a *App) Demo(dir string) (docs []Document, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, diag.Environment("finding %s: %w", dir, err)
	}
	if err := WriteFiles(abs, []campaign.File{{Name: ".gitignore", Data: []byte("*\n")}}); err != nil {
		return nil, err
	}
	for _, c := range a.Contracts {
		folder := filepath.Join(abs, c.Name())
		if err := WriteFiles(folder, sample(c, folder)); err != nil {
			return nil, err
		}
		found, left, err := a.Search(filepath.Join(dir, c.Name()), campaign.Settings{})
		if err != nil {
			return nil, err
		}
		a.warn(left)
		docs = append(docs, found...)
	}
	return docs, nil
}

// sample returns the files of a contract's sample: its starter, except for FuzzSpec, whose starter
// has only one bug.
func sample(c campaign.Contract, folder string) []campaign.File {
	if _, ok := c.(*fuzzspec.Contract); !ok {
		return c.Starter(folder)
	}
	spec, seed := demo.Spec(folder, campaign.Self)
	return []campaign.File{{Name: "spec.json", Data: spec}, {Name: demo.SeedName, Data: seed}}
}
