package fresnelfir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

const (
	// variantsOf is how many variants the texts of an input or a field have together.
	variantsOf = 256
	// variantChars is the maximum length of a variant, in code points, because modules copy texts
	// into memory of their own.
	variantChars = 1024
)

// vary adds variants, made by the operators that mutate prompts, to the texts of a document. It
// does so for string inputs, and for string fields passed to the module in instances that the
// harness creates. Such a field holds the empty text, texts that the document compares it with, or
// variants of these; without such texts, variants of the field's name.
func vary(doc *ir.Document) {
	var v *varier
	ready := func() *varier {
		if v == nil {
			v = newVarier(doc.Inputs.Seed)
		}
		return v
	}
	for _, x := range doc.Inputs.Domains {
		if x.Type == ir.String {
			x.Variants = ready().variants(x.Name, x.Values, x.Values)
		}
	}
	for _, e := range doc.Entities {
		for _, f := range e.Fields {
			if f.Type == ir.String && f.Name != "id" && f.Format == "" && takesField(doc, e.Name, f.Name) {
				plain := append([]string{""}, compared(doc, f.Name)...)
				of := plain[1:]
				if len(of) == 0 {
					of = []string{f.Name}
				}
				f.Texts = append(plain, ready().variants(e.Name+"."+f.Name, of, plain)...)
			}
		}
	}
}

// takesField reports whether some argument of a binding takes its value from a field.
func takesField(doc *ir.Document, entity, field string) bool {
	for _, b := range doc.Bindings.Actions {
		for _, name := range b.Args {
			src, ok := doc.ArgumentOf(b, name)
			if !ok || src.Kind != ir.ArgField || src.Field != field {
				continue
			}
			if of := doc.Vars[src.Var]; of == entity || of == "" && doc.Newest[src.Var] == entity {
				return true
			}
		}
	}
	return false
}

// compared returns the texts that a document compares a field of that name with.
func compared(doc *ir.Document, field string) []string {
	var list []string
	doc.Expressions(func(e *ir.Expr) {
		if e.Op != ir.Eq && e.Op != ir.Neq {
			return
		}
		for i, a := range e.Args {
			if b := e.Args[1-i]; a.Op == ir.FieldOf && a.Text == field && b.Op == ir.LitString && b.Text != "" && !slices.Contains(list, b.Text) {
				list = append(list, b.Text)
			}
		}
	})
	return list
}

// varier makes variants of texts, first with one operator and low strength.
type varier struct{ lanes [2]*mutator.Lane }

func newVarier(seed uint64) *varier {
	v := &varier{}
	r, faults := mutator.NewRegistry(mutator.Builtins())
	if faults.HasErrors() { // two built-in operators have the same id
		panic(faults)
	}
	for k := range v.lanes {
		v.lanes[k] = mutator.New(r, mutator.Config{
			SeedBase: new(big.Int).SetUint64(seed), Rule: textop.RuleContract, Steps: k + 1, Redraws: 3,
			Policy: mutator.Uniform, Constraints: textop.Constraints{MaxChars: variantChars, KeepControls: true},
		}).NewLane(nil)
	}
	return v
}

// variants returns distinct variants of texts, plainer ones first, that are not among the plain
// texts.
func (v *varier) variants(name string, of, plain []string) []string {
	seen := map[string]bool{}
	for _, text := range plain {
		seen[text] = true
	}
	var list []string
	for i := range variantsOf {
		const half, strengths = variantsOf / 2, 5
		strength := 1 + i%half*strengths/half
		seed := &mutator.Seed{ID: name, Text: of[i%len(of)], Strength: textop.Range{Min: strength, Max: strength}}
		job := []mutator.Job{{Seed: seed, ID: mutator.TestcaseID(name, int64(i)), Index: int64(i)}}
		// Built-in operators return no error, and the context is never cancelled.
		_ = v.lanes[i/half].Make(context.Background(), job, func(c *mutator.Child) error {
			if c.Status == textop.OK && !seen[c.Text] {
				seen[c.Text] = true
				list = append(list, c.Text)
			}
			return nil
		})
	}
	return list
}

// withTexts adds the variants to the digest that identifies the cases, because they change when
// operators do.
func withTexts(digest string, doc *ir.Document) string {
	var all []string
	for _, x := range doc.Inputs.Domains {
		all = append(all, x.Variants...)
	}
	for _, e := range doc.Entities {
		for _, f := range e.Fields {
			all = append(all, f.Texts...)
		}
	}
	if len(all) == 0 {
		return digest
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %q", digest, all)
	return hex.EncodeToString(h.Sum(nil))
}
