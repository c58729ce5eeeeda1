package fresnelfir

import (
	"errors"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/wasmrewrite"
	"github.com/thresh-dev/thresh/port/dut"
)

// inspect reads a module without running it: whether it is valid, what it compares with, and how
// the document's bindings fit its exports. It reports each binding that does not fit at its place
// in the document.
func (m *module) inspect(p *plan, src *ir.Source, entry ir.Place) diag.List {
	code, err := wasmrewrite.Rewrite(m.plan.Binary, wasmrewrite.Options{})
	if err != nil {
		return diag.List{src.Report(diag.Error, entry, "module", err.Error(), "")}
	}
	p.space.constantsOf(code.Constants)
	_, err = dut.Bind(m.plan.Bindings, code.Exports, code.Memory)
	var unfit *dut.BindError
	if !errors.As(err, &unfit) {
		return nil
	}
	var list diag.List
	for _, p := range unfit.Problems {
		at := m.places[p.Binding]
		keys := []string{at.key}
		switch p.Mismatch {
		case dut.ParamCountMismatch, dut.TypeMismatch:
			keys = []string{at.params}
		case dut.ReturnCountMismatch, dut.ReturnTypeMismatch:
			keys = []string{"returns"}
		}
		hint := ""
		if p.Nearest != "" {
			hint = "did you mean " + p.Nearest + "?"
		}
		list = append(list, src.Report(diag.Error, at.Place.Within(keys...), mismatchCodes[p.Mismatch], p.Message, hint))
	}
	list.Sort()
	return list
}

var mismatchCodes = [...]string{
	dut.MissingExport: "missing-export", dut.WrongExportKind: "wrong-export-kind", dut.ParamCountMismatch: "param-count-mismatch",
	dut.ReturnCountMismatch: "return-count-mismatch", dut.TypeMismatch: "type-mismatch", dut.NoMemory: "no-memory",
	dut.ReturnTypeMismatch: "return-type-mismatch",
}

// bound is a binding's place in the document: the object with its name, and the keys of what it
// calls and passes.
type bound struct {
	ir.Place
	key, params string
}
