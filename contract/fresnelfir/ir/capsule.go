package ir

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/thresh-dev/thresh/engine/doctree"
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
func (d *decoder) capsule(s *doctree.Section) *Capsule {
	c := &Capsule{
		Place: placeOf(s), IRHash: s.Text("ir_hash"), WASMHash: s.Text("wasm_hash"), Seed: d.u64(s, "seed"), Kind: s.Text("finding_kind"),
		Description: s.Text("finding_description"), Trigger: s.Text("trigger_action"), Step: d.u64(s, "trace_step"),
	}
	d.u64(s, "model_generation")
	d.eachNamed(s, "input_vector", func(string, Place, *doctree.Node) {}) // for people
	read := func(key, what string, decode func(string) ([]byte, error)) []byte {
		b, err := decode(s.Text(key))
		if err != nil {
			d.fail(valueOf(s, key), "type", "must be %s, got %s", what, d.Describe(s.Node(key)))
		}
		return b
	}
	c.Tape = append([]byte{}, read("tape", "bytes in hex", hex.DecodeString)...)
	c.Module = read("module", "bytes in base64", base64.StdEncoding.DecodeString)
	return c
}
