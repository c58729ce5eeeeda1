package fresnelfir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// capsuleName is the file that [Campaign.Promote] writes.
const capsuleName = "capsule.json"

// writtenCapsule is a capsule as it stands in a file; [ir.Capsule] says what its keys
// mean.
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

// Promote implements [campaign.Promoter]: the document with a capsule, which
// holds the decisions of the traversal and the module. Running it is running
// that one traversal: it fails until a module (--module FILE) or a model without
// the fault is run in place of the one inside.
func (c *Campaign) Promote(f campaign.Finding, payload []byte, _ string) ([]campaign.File, error) {
	if c.plan.doc.Capsule != nil {
		return []campaign.File{{Name: capsuleName, Data: c.doc.Data}}, nil // it is one
	}
	tr, inputs, err := c.retold(payload)
	if err != nil {
		return nil, err
	}
	text := bytes.TrimRight(c.doc.Data, " \t\r\n")
	hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }
	w := writtenCapsule{IRHash: hash(text), Seed: c.seed, Kind: f.Kind, Description: f.Title, Tape: hex.EncodeToString(payload), Inputs: inputs}
	if n := len(tr.Steps); n > 0 {
		w.Step, w.Trigger = n-1, tr.Steps[n-1].Action
	}
	w.Generation = tr.Generation
	if c.module != nil {
		sum := hash(c.module.plan.Binary)
		w.WASMHash, w.Module = &sum, base64.StdEncoding.EncodeToString(c.module.plan.Binary)
	}
	b, err := json.MarshalIndent(w, "  ", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing a capsule: %w", err)
	}
	data := append(bytes.TrimRight(text[:len(text)-1], " \t\r\n"), ",\n  \"capsule\": "...)
	return []campaign.File{{Name: capsuleName, Data: append(append(data, b...), "\n}\n"...)}}, nil
}

// retold runs a tape and tells its steps and its last inputs.
func (c *Campaign) retold(tape []byte) (*trace, map[string]string, error) {
	x, err := c.open(context.Background())
	if err != nil {
		return nil, nil, err
	}
	defer x.Close()
	if err := c.prepare(x.t, nil, campaign.Case{Payload: tape}); err != nil {
		return nil, nil, err
	}
	tr := &trace{}
	x.t.trace = tr
	x.t.run()
	inputs := map[string]string{}
	for i, d := range c.plan.doc.Inputs.Domains {
		inputs[d.Name] = x.t.m.Text(x.t.m.Input(i))
	}
	tr.Generation = x.t.actions
	return tr, inputs, nil
}

// capsuleModule is the module that a document's capsule holds.
func capsuleModule(d *ir.Document) []byte {
	if d.Capsule == nil {
		return nil
	}
	return d.Capsule.Module
}
