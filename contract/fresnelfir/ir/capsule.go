package ir

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Capsule is an extension of the document: one finding, with all that shows it
// again. A document with a capsule is run as that one case. The keys ir_hash to
// input_vector are those of the format's first implementation.
type Capsule struct {
	Place
	IRHash      string // SHA-256 of the document without the capsule, in hex
	WASMHash    string // of the module; "" if the model was alone
	Seed        uint64
	Kind        string // "crash"
	Description string // the finding's title
	Trigger     string // the action of the last step
	Step        uint64 // its place in the trace, from 0
	Tape        []byte // the decisions of the traversal; never nil
	Module      []byte // the module; nil if the model was alone
}

// capsule reads what [Capsule] describes.
func (d *decoder) capsule(n *jsontree.Node, path string) *Capsule {
	o, ok := d.object(n, path, "ir_hash", "wasm_hash", "seed", "finding_kind", "finding_description", "trigger_action", "trace_step", "model_generation", "input_vector", "tape", "module?")
	if !ok {
		return nil
	}
	c := &Capsule{Place: o.Place, IRHash: o.text("ir_hash"), WASMHash: o.optional("wasm_hash"), Seed: o.u64("seed"), Kind: o.text("finding_kind"),
		Description: o.text("finding_description"), Trigger: o.text("trigger_action"), Step: o.u64("trace_step")}
	o.u64("model_generation")
	if v, path := o.get("input_vector"); v != nil {
		d.named(v, path, func(string, Place, *jsontree.Node) {}) // for people
	}
	read := func(key, what string, decode func(string) ([]byte, error)) []byte {
		b, err := decode(o.optional(key))
		if err != nil {
			v, path := o.get(key)
			o.wrong(v, path, what)
		}
		return b
	}
	c.Tape = append([]byte{}, read("tape", "bytes in hex", hex.DecodeString)...)
	c.Module = read("module", "bytes in base64", base64.StdEncoding.DecodeString)
	return c
}
