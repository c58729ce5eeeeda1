package fresnelfir

import (
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// argument is where the value of a parameter comes from.
type argument struct {
	ir.ArgumentSource
	kind   dut.Kind
	slot   int
	field  int
	domain int
	code   model.Code // of a value that is computed
	enum   []string   // declared values, whose places cross into the module
}

// argumentOf says how an argument is computed and what kind of value it is.
func (p *plan) argumentOf(src ir.ArgumentSource) argument {
	a := argument{ArgumentSource: src, kind: dut.Ref, slot: p.program.Slot(src.Var)}
	switch src.Kind {
	case ir.ArgField:
		for k, f := range p.doc.Entity(p.doc.Vars[src.Var]).Fields {
			if f.Name == src.Field {
				a.field, a.kind, a.enum = k, resultKinds[f.Type], f.Values
			}
		}
	case ir.ArgInput:
		a.domain = p.program.Domain(src.Domain)
		x := p.doc.Inputs.Domains[a.domain]
		a.kind, a.enum = resultKinds[x.Type], x.Values
	case ir.ArgValue:
		a.code, a.kind, a.enum = p.program.Condition(src.Value.Value).Code, resultKinds[src.Value.Result.Type], src.Value.Result.Values
	case ir.ArgWith:
		a.kind = dut.Int
		for _, g := range p.doc.Generators {
			for _, s := range g.Steps {
				for _, w := range s.With {
					if w.Name == src.With && w.Literal != nil {
						a.kind = map[ir.Op]dut.Kind{ir.LitBool: dut.Bool, ir.LitInt: dut.Int, ir.LitString: dut.String}[w.Literal.Op]
					}
				}
			}
		}
	}
	return a
}
