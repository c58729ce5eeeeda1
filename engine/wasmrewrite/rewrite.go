package wasmrewrite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/port/dut"
)

// Names of what a rewritten module exports in addition. A module that already has
// an export with this prefix is refused.
const (
	prefix = "thresh:"
	// Fuel is a mutable i64 global: the fuel that is left. Negative: it was used
	// up.
	Fuel = prefix + "fuel"
	// Dirty is a mutable i64 global: the marks of written blocks, see [BlockShift].
	Dirty = prefix + "dirty"
	// Start is the start function.
	Start = prefix + "start"

	getState = prefix + "get"
	setState = prefix + "set"
	takeHits = prefix + "take"
	operandN = prefix + "operands"
)

// chunk is how many 64-bit words one accessor function returns or takes.
const chunk = 64

// Options say what a module gains.
type Options struct {
	Coverage  bool   // edges
	Compares  bool   // operands of comparisons
	MaxMemory uint32 // pages; 0: 65,536
	// Cover receives the names of all functions ("" if the module has none) and
	// returns a function that reports by index which are traced. nil: all.
	Cover func(names []string) func(index int) bool
}

// Module is a rewritten module. A mutable global of type i32, i64, f32 or f64 takes
// one word of state, a v128 two.
type Module struct {
	Binary   []byte
	Exports  []dut.Export // as the module has them
	Imports  []dut.Import // as the module has them; of these, functions are still imported
	Names    []string     // of functions, by index, imported ones first; "": unknown
	HasStart bool         // [Start] is exported
	Memory   bool

	State Words // every mutable global: Get and Set
	Trace Words // marks: EdgeWords words of edges, then a word for 32 sites each; Get takes and clears
	// Operands has the operands of the 32 sites of each word of the trace, with an
	// accessor for each word: of every site the left operand, and the right one
	// unless it is constant.
	Operands []Words

	Edges     int // points of coverage
	EdgeWords int
	Sites     []dut.Site
	Constants []int64 // as in dut.Info
	// Volatile names the instructions, ascending, whose effects are in neither
	// State nor memory (tables, dropped segments, references in globals). A state
	// of such a module is restored by repeating all calls.
	Volatile []string
	Notes    []string
	// Effort grows with the size of functions as the time of compilers that
	// allocate registers does: the sum of blocks × (blocks + locals) + locals² /
	// 16.
	Effort int64
}

// Words are 64-bit words that functions return and take, up to 64 each.
type Words struct {
	Get []string // exports, () -> (i64...)
	Set []string // exports, (i64...) -> (); only of the state
}

// Rewrite prepares a module. The error is a *[dut.ModuleError].
func Rewrite(binary []byte, opt Options) (out *Module, err error) {
	if opt.MaxMemory == 0 {
		opt.MaxMemory = 1 << 16
	}
	defer func() {
		if e := recover(); e != nil {
			bad, ours := e.(malformed)
			if !ours {
				panic(e)
			}
			out, err = nil, bad.err
		}
	}()
	m := decode(binary, opt)
	return m.rewrite(), nil
}

// full notes, once, that from a function on no more of something is traced.
func (m *module) full(what string, limit, function int) {
	if !m.fullOf[what] {
		m.fullOf[what] = true
		m.notes = append(m.notes, fmt.Sprintf("%s are traced up to function %d: the module has more than %d", what, function, limit))
	}
}

// newGlobal reserves a global of type i64 for the rewriter.
func (m *module) newGlobal() int {
	m.added++
	return len(m.globals) + m.added - 1
}

// typeIndex returns the type with a signature, and makes it if necessary.
func (m *module) typeIndex(sig dut.Signature) int {
	key := sig.String()
	i, ok := m.newTypes[key]
	if !ok {
		i = len(m.types) + len(m.typeOrder)
		m.newTypes[key] = i
		m.typeOrder = append(m.typeOrder, sig)
	}
	return i
}

func (m *module) rewrite() *Module {
	m.covered = func(int) bool { return true }
	if m.opt.Cover != nil {
		m.covered = m.opt.Cover(m.names)
	}
	m.fuel, m.dirty = m.newGlobal(), m.newGlobal()
	var code []byte
	for i, r := range m.bodies {
		body := m.function(len(m.importedFuncs)+i, r)
		code = append(uleb(code, len(body)), body...)
	}
	out := &Module{
		Exports: m.exports, Imports: m.imports, Names: m.names, HasStart: m.start >= 0, Memory: m.memory != nil,
		Edges: m.edges, EdgeWords: len(m.edgeWords), Sites: m.sites, Constants: slices.Sorted(maps.Keys(m.constants)),
	}
	a := &accessors{m: m}
	m.state(a, out)
	out.Trace = a.take(slices.Concat(m.edgeWords, m.hitWords))
	for i := 0; i < len(m.operands); i += sitesPerWord {
		var words []slot
		for _, o := range m.operands[i:min(i+sitesPerWord, len(m.operands))] {
			words = append(words, slot{o.a, dut.TypeI64, 0})
			if o.b >= 0 {
				words = append(words, slot{o.b, dut.TypeI64, 0})
			}
		}
		out.Operands = append(out.Operands, a.get(fmt.Sprintf("%s%d", operandN, i/sitesPerWord), words))
	}
	out.Volatile = slices.Sorted(maps.Keys(m.volatile))
	out.Notes = m.notes
	out.Effort = m.effort
	out.Binary = m.assemble(a, code)
	return out
}

// assemble writes the module with everything that was added.
func (m *module) assemble(a *accessors, code []byte) []byte {
	var types, imports, funcs, globals, exports []byte
	for _, sig := range m.typeOrder {
		types = append(types, 0x60)
		for _, list := range [][]dut.ValType{sig.Params, sig.Results} {
			types = uleb(types, len(list))
			for _, t := range list {
				types = append(types, byte(t))
			}
		}
	}
	nImports := 0
	for _, i := range m.imports {
		if i.Kind == dut.Func {
			imports = append(text(text(imports, i.Module), i.Name), 0)
			imports = uleb(imports, m.importedFuncs[nImports])
			nImports++
		}
	}
	defined := m.funcs[nImports:]
	for _, t := range slices.Concat(defined, a.types) {
		funcs = uleb(funcs, t)
	}
	for range m.added {
		globals = append(globals, byte(dut.TypeI64), 1, opI64Const, 0, opEnd)
	}
	exports = append(exports, a.exports...)
	nExports := len(m.exports) + len(a.types)
	export := func(name string, kind dut.ExternKind, index int) {
		exports = uleb(append(text(exports, name), byte(kind)), index)
		nExports++
	}
	export(Fuel, dut.Global, m.fuel)
	export(Dirty, dut.Global, m.dirty)
	if m.start >= 0 {
		export(Start, dut.Func, m.start)
	}
	memories := 0
	if m.memory != nil {
		memories = 1
	}

	out := []byte("\x00asm\x01\x00\x00\x00")
	out = section(out, secType, len(m.types)+len(m.typeOrder), slices.Concat(m.raw[secType], types))
	out = section(out, secImport, nImports, imports)
	out = section(out, secFunction, len(defined)+len(a.types), funcs)
	out = section(out, secTable, m.nTables, m.tables)
	out = section(out, secMemory, memories, m.memory)
	out = section(out, secGlobal, len(m.globals)+m.added, slices.Concat(m.foreign, m.raw[secGlobal], globals))
	out = section(out, secExport, nExports, slices.Concat(m.raw[secExport], exports))
	out = section(out, secElement, m.nElements, m.raw[secElement])
	if m.nData >= 0 {
		out = append(out, secDataCount)
		n := uleb(nil, m.nData)
		out = append(uleb(out, len(n)), n...)
	}
	out = section(out, secCode, len(m.bodies)+len(a.types), slices.Concat(code, a.code))
	return section(out, secData, m.segments, m.raw[secData])
}
