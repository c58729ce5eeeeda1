package system

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
)

// Contract implements [campaign.Contract] for system files.
type Contract struct{ open sut.Opener }

// New returns the contract. open opens systems.
func New(open sut.Opener) *Contract { return &Contract{open: open} }

// Name implements [campaign.Contract].
func (*Contract) Name() string { return "system" }

// Summary implements [campaign.Contract].
func (*Contract) Summary() string {
	return "call the operations of a system with inputs made from their schemas (thresh.system.v1)"
}

// Detect implements [campaign.Contract].
func (*Contract) Detect(s campaign.Spec) bool { return systemfile.Detect(s.Data) }

// Chooses implements [campaign.Chooser]. A system file in a folder is there for the documents
// beside it, so it does not run with the folder.
func (*Contract) Chooses(string, string, campaign.Settings) campaign.Choice {
	return campaign.Choice{}
}

// optWrites is the option that also calls operations which may change or delete something.
const optWrites = "writes"

// Options implements [campaign.Contract].
func (*Contract) Options() []campaign.Option {
	return []campaign.Option{
		{Name: optWrites, Bool: true, Usage: "also call operations that may change or delete data: methods other than GET and HEAD, tools marked as destructive"},
	}
}

// Compile implements [campaign.Contract].
func (k *Contract) Compile(_ context.Context, spec campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	read := func(path string) ([]byte, error) {
		if path == spec.Path {
			return spec.Data, nil
		}
		return set.Read(path)
	}
	plan, list := systemfile.Load(spec.Path, read, set.Digest)
	if plan == nil || list.HasErrors() {
		return nil, list
	}
	if !slices.Contains([]sut.Kind{sut.HTTP, sut.MCP}, plan.Kind) {
		return nil, append(list, diag.Diagnostic{Code: "system.no-schema", Pos: diag.Pos{File: spec.Path},
			Message: fmt.Sprintf("a system of kind %s has no schemas to make inputs from; http and mcp have", plan.Kind),
			Hint:    "test it with another document: thresh run DOCUMENT --system " + spec.Path})
	}
	c := &Campaign{open: k.open, plan: plan, writes: set.Get(optWrites, "") == "true", seed: 1}
	if set.Seed != nil {
		c.seed = uint64(*set.Seed)
	}
	cases := version
	if plan.Kind == sut.MCP {
		cases = versionOfTools
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t %d %d", plan.Digest, c.writes, c.seed, cases))
	c.id = campaign.Identity{Contract: k.Name(), Name: plan.Name, Digest: hex.EncodeToString(sum[:])}
	return []campaign.Any{campaign.Erase[*state](c)}, list
}

// version is the version of the cases made from a schema.
const (
	version        = 4
	versionOfTools = 5 // includes calls after others
)

const starterFile = `# A system that runs elsewhere, and how it is reached. Thresh calls its operations
# with inputs made from the OpenAPI document:
#   thresh run service.system.yaml
schema: thresh.system.v1
kind: http
url: http://127.0.0.1:8000     # QUESTION: where does it run?
openapi: /openapi.json         # a path on the service, or a file beside this one
limits: {timeout: 5s}
`

// Starter implements [campaign.Contract].
func (*Contract) Starter(string) []campaign.File {
	return []campaign.File{{Name: "service.system.yaml", Data: []byte(starterFile)}}
}

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "system", Summary: "a system file (YAML)", Tests: true,
		Schema: func() []byte { return doctree.Schema("system.v1", systemfile.Format()) },
		Keys:   func() string { return doctree.Tables(systemfile.Format()) },
	}}
}

var (
	_ campaign.Contract = (*Contract)(nil)
	_ campaign.Chooser  = (*Contract)(nil)
)
