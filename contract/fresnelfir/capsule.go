package fresnelfir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/choice"
)

// Files that [Campaign.Promote] writes.
const (
	capsuleName    = "capsule.json"
	regressionName = "regression.spec.md"
)

// Chooses implements [campaign.Chooser]. A capsule does not run with its folder, because the
// Spec-Test beside it runs it.
func (*Contract) Chooses(_, path string, _ campaign.Settings) campaign.Choice {
	taken := filepath.Base(path) != capsuleName
	return campaign.Choice{Taken: taken, Left: !taken}
}

// writtenCapsule is a capsule as it is written to a file; see [ir.Capsule] for the keys.
type writtenCapsule struct {
	IRHash      string            `json:"ir_hash"`
	WASMHash    *string           `json:"wasm_hash"`
	Seed        uint64            `json:"seed"`
	Kind        string            `json:"finding_kind"`
	Description string            `json:"finding_description"`
	Trigger     string            `json:"trigger_action"`
	Step        int               `json:"trace_step"`
	Generation  int               `json:"model_generation"`
	Inputs      map[string]string `json:"input_vector"`
	Tape        string            `json:"tape"`
	Module      string            `json:"module,omitempty"`
}

// Promote implements [campaign.Promoter]. It returns a capsule, which is the document with the
// traversal's decisions and the module in it, and a Spec-Test that runs it. If the module is at
// fault, the test uses the module as it is built at the time; if the model is at fault, it uses the
// current document. So the test fails until that is fixed.
func (c *Campaign) Promote(ctx context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
	if c.parallel {
		return nil, diag.Refused("a history cannot be called again: thresh replay %s checks what was recorded; for a regression test, keep the document with its seed and its number of traversals", f.ID)
	}
	text := c.data()
	if d, _, _ := ir.Decode(c.path, text); d == nil || d.Capsule == nil { // the document may be a capsule itself
		var err error
		if text, err = c.capsule(ctx, f, payloads[0]); err != nil {
			return nil, err
		}
	}
	test, err := c.regression(f, dir)
	if err != nil {
		return nil, err
	}
	return []campaign.File{{Name: capsuleName, Data: text}, {Name: regressionName, Data: test}}, nil
}

// capsule returns the document with a capsule.
func (c *Campaign) capsule(ctx context.Context, f campaign.Finding, payload []byte) ([]byte, error) {
	tr, inputs, err := c.retold(ctx, payload)
	if err != nil {
		return nil, err
	}
	text := bytes.TrimRight(c.data(), " \t\r\n")
	hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }
	w := writtenCapsule{IRHash: hash(text), Seed: c.seed, Kind: f.Kind, Description: f.Title, Tape: hex.EncodeToString(payload), Inputs: inputs}
	if n := len(tr.Steps); n > 0 {
		w.Step, w.Trigger = n-1, tr.Steps[n-1].Action
	}
	w.Generation = tr.Generation
	if c.module != nil && c.system == nil {
		sum := hash(c.module.plan.Binary)
		w.WASMHash, w.Module = &sum, base64.StdEncoding.EncodeToString(c.module.plan.Binary)
	}
	b, err := json.MarshalIndent(w, "  ", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing a capsule: %w", err)
	}
	data := append(bytes.TrimRight(text[:len(text)-1], " \t\r\n"), ",\n  \"capsule\": "...)
	return append(append(data, b...), "\n}\n"...), nil
}

// regression returns a Spec-Test that passes while the finding does not show. Paths are relative to
// the current folder, where the test will run.
func (c *Campaign) regression(f campaign.Finding, dir string) ([]byte, error) {
	here, err := filepath.Abs(".")
	if err != nil {
		return nil, fmt.Errorf("finding this folder: %w", err)
	}
	file, err := filepath.Rel(here, filepath.Join(dir, capsuleName))
	if err != nil {
		return nil, fmt.Errorf("finding the way to %s: %w", dir, err)
	}
	argv := []string{"run", c.path, "--" + optCapsule, file, "--" + optModule, "none"}
	what := "The model alone shows it: the test holds once " + c.path + " no longer does."
	switch {
	case c.system != nil && slices.Contains(f.Cause, byModule):
		argv = []string{"run", file, "--system", c.modulePath}
		what = "The system of " + c.modulePath + " shows it: the test holds once it no longer does."
	case c.system != nil:
		argv = append(argv[:4], "--system", c.modulePath)
	case slices.Contains(f.Cause, byModule):
		argv = []string{"run", file, "--" + optModule, c.modulePath}
		what = "The module shows it: the test holds once a build at " + c.modulePath + " no longer does. The one that did is inside the capsule."
	case c.module != nil:
		argv[len(argv)-1] = c.modulePath
	}
	if why := f.Uncertain(); why != "" {
		what += " It " + why + "."
	}
	title, err := json.Marshal(f.Title)
	if err != nil {
		return nil, fmt.Errorf("writing a test: %w", err)
	}
	args, err := json.Marshal(append(argv, "--quiet"))
	if err != nil {
		return nil, fmt.Errorf("writing a test: %w", err)
	}
	return fmt.Appendf(nil, regression, f.ID, what, title, args), nil
}

// regression is the template of the test. Strings in its block are JSON, which YAML reads.
const regression = `# %[1]s

%[2]s
It is run in the folder that it was written from.

` + "```yaml spec-test" + `
id: %[1]s
type: cli.run
title: %[3]s
argv: %[4]s
exit_code: 0
harness:
  entrypoint: "{thresh}"
assert:
  - target: stdout
    must:
      - contain: ["PASS  all held · 1 case "]
` + "```\n"

// capsuleOf reads the capsule of another file, without its module: the document's own module is
// run.
func capsuleOf(path string, doc campaign.Spec, set campaign.Settings) (*ir.Capsule, diag.List) {
	fail := func(message string) (*ir.Capsule, diag.List) {
		return nil, diag.List{{Code: "fresnelfir.capsule", Pos: diag.Pos{File: doc.Path}, Message: message}}
	}
	if set.Read == nil {
		return fail("this program cannot read capsules")
	}
	text, err := set.Read(path)
	if err != nil {
		return fail(fmt.Sprintf("the capsule %s cannot be read: %v", path, err))
	}
	d, _, list := ir.Decode(path, text)
	if list.HasErrors() {
		return nil, list
	}
	if d.Capsule == nil {
		return fail(path + " has no section capsule; thresh promote writes files that have one")
	}
	d.Capsule.Module = nil
	return d.Capsule, nil
}

// retold runs a tape and returns its steps and its last inputs.
func (c *Campaign) retold(ctx context.Context, tape []byte) (*trace, map[string]string, error) {
	x, err := c.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer x.Close()
	if _, err := choice.Decode(tape); err != nil {
		return nil, nil, fmt.Errorf("reading the case: %w", err)
	}
	tr := x.traceCase(tape)
	inputs := map[string]string{}
	for i, d := range c.plan.doc.Inputs.Domains {
		inputs[d.Name] = x.t.m.Text(x.t.m.Input(i))
	}
	return tr, inputs, nil
}

// capsuleModule returns the module in a document's capsule.
func capsuleModule(d *ir.Document) []byte {
	if d.Capsule == nil {
		return nil
	}
	return d.Capsule.Module
}
