package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/serve/mcp"
)

// below is a path that a client names, if it is one below the root.
func (u *useCases) below(path string) (string, error) {
	refused := diag.Refused("%s is not below the folder that this server reads files in; thresh mcp --root names another", path)
	if !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) {
			return "", refused
		}
		return filepath.Join(u.root, path), nil
	}
	root, err := filepath.Abs(u.root)
	if err != nil {
		return "", fmt.Errorf("finding the folder %s: %w", u.root, err)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", refused
	}
	return filepath.Join(u.root, rel), nil
}

// Read implements [mcp.UseCases].
func (u *useCases) Read(path string, limit int64) ([]byte, error) {
	name, err := u.below(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, diag.Refused("%s: %s", path, reason(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, diag.Refused("%s: %s", path, reason(err))
	}
	if int64(len(data)) > limit {
		return nil, diag.Refused("%s has more than %d bytes", path, limit)
	}
	return data, nil
}

// documents turns what a client gave into documents, and the settings that they
// are compiled with.
func (u *useCases) documents(d mcp.Document, b *bundle) ([]document, campaign.Settings, error) {
	set := campaign.Settings{Seed: d.Seed, Strict: d.Strict, Options: map[string][]string{}}
	options, err := u.options(d.Options)
	if err != nil {
		return nil, set, err
	}
	for name, v := range options {
		set.Options[name] = v
	}
	for _, name := range []string{"module", "capsule"} { // options that are files
		for i, v := range set.Options[name] {
			if v == "none" {
				continue
			}
			if set.Options[name][i], err = u.below(v); err != nil {
				return nil, set, err
			}
		}
	}
	if d.Alone {
		set.Options["module"] = []string{"none"}
	}
	if d.Module != nil {
		sum := sha256.Sum256(d.Module)
		name := "module-" + hex.EncodeToString(sum[:8]) + ".wasm"
		b.files[name] = d.Module // found there, whatever lies on the disk
		set.Options["module"] = []string{name}
	}
	set = b.fill(set)
	var docs []document
	if d.Path != "" {
		path, err := u.below(d.Path)
		if err != nil {
			return nil, set, err
		}
		found, problems, err := u.a.documents([]string{path}, set)
		if err != nil {
			return nil, set, err
		}
		if len(problems) > 0 {
			return nil, set, problems
		}
		docs = found
	} else {
		name := d.Name
		if name == "" {
			sum := sha256.Sum256(d.Text)
			name = "text-" + hex.EncodeToString(sum[:4])
		}
		if name != filepath.Base(name) || !filepath.IsLocal(name) {
			return nil, set, diag.Refused("the name of a document must be a file name, got %q", name)
		}
		x := document{Spec: campaign.Spec{Path: filepath.Join(u.root, name), Data: d.Text}}
		for _, c := range u.a.contracts {
			if d.Contract == c.Name() || d.Contract == "" && c.Detect(x.Spec) {
				x.contract = c
				break
			}
		}
		docs = append(docs, x)
	}
	for _, x := range docs {
		if x.contract == nil || d.Contract != "" && x.contract.Name() != d.Contract {
			want := u.a.formats()
			if d.Contract != "" {
				want = "the format " + d.Contract
			}
			return nil, set, diag.List{{Code: "input.unknown-format", Pos: diag.Pos{File: x.Path}, Message: "not a document of " + want}}
		}
	}
	return docs, set, nil
}

// options checks settings of formats as the command line does.
func (u *useCases) options(given map[string][]string) (map[string][]string, error) {
	var flags optionFlags
	var names []string
	for _, c := range u.a.contracts {
		for _, o := range c.Options() {
			flags.flags = append(flags.flags, &optionFlag{Option: o})
			names = append(names, o.Name)
		}
	}
	for name, values := range given {
		known := false
		for _, f := range flags.flags {
			if f.Name != name {
				continue
			}
			known = true
			for _, v := range values {
				if err := f.Set(v); err != nil {
					return nil, diag.Refused("the option %s %w, got %q", name, err, v)
				}
			}
		}
		if !known {
			err := diag.Refused("there is no option %q", name)
			if hint := diag.DidYouMean(name, names); hint != "" {
				err = diag.WithHint(err, hint)
			}
			return nil, err
		}
	}
	if err := flags.validate(); err != nil {
		return nil, err
	}
	return flags.values(), nil
}

// Check implements [mcp.UseCases].
func (u *useCases) Check(ctx context.Context, d mcp.Document) (mcp.Checked, error) {
	var out mcp.Checked
	b := newBundle()
	docs, set, err := u.documents(d, b)
	if errors.As(err, &out.Diagnostics) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	set.Check = true
	for _, x := range docs {
		camps, list := x.contract.Compile(ctx, x.Spec, set)
		out.Diagnostics = append(out.Diagnostics, list...)
		if list.HasErrors() {
			continue
		}
		for _, c := range camps {
			id := c.Identity()
			p := mcp.Planned{Contract: id.Contract, Name: id.Name}
			if y, ok := campaign.As[campaign.Planner](c); ok {
				p.Cases = y.Planned()
			}
			if y, ok := campaign.As[*fresnelfir.Campaign](c); ok {
				e := exploration(y, nil)
				p.Model = &mcp.Model{Alone: e.Alone, Targets: e.Targets}
				p.Model.Iterations, p.Model.Seconds = y.LeastBudget()
			}
			out.Campaigns = append(out.Campaigns, p)
		}
	}
	return out, nil
}

// exploration is how far a campaign is, in the words of the server.
func exploration(c *fresnelfir.Campaign, state any) mcp.Exploration {
	x := c.Explored(state)
	e := mcp.Exploration{Traversals: x.Traversals, Planned: x.Planned, Actions: x.Actions, Epochs: x.Epochs, Curve: x.Curve, Alone: x.Alone}
	for _, t := range x.Targets {
		e.Targets = append(e.Targets, mcp.Target(t))
	}
	return e
}

// Replay implements [mcp.UseCases].
func (u *useCases) Replay(ctx context.Context, finding string, times int) (mcp.Replayed, error) {
	var out mcp.Replayed
	if strings.Contains(finding, "#") {
		return out, diag.Refused("a finding's id is wanted, got %q", finding)
	}
	rec, f, conf, err := u.a.confirm(ctx, u.st, finding, times)
	if err != nil {
		return out, err
	}
	out = mcp.Replayed{RunID: rec.RunID, Finding: f, Rerun: conf.Rerun}
	if conf.Rerun.Same == 0 && len(conf.Observed) > 0 {
		out.Now = conf.Outcome.Title
	}
	return out, nil
}
