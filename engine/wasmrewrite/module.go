package wasmrewrite

import (
	"strings"

	"github.com/thresh-dev/thresh/port/dut"
)

// Sections by their numbers in the binary format.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

// place is the order of sections in a module, which is not that of their numbers.
var place = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secTag: 6, secGlobal: 7, secExport: 8,
	secStart: 9, secElement: 10, secDataCount: 11, secCode: 12, secData: 13,
}

// Limits that bound the cost of a hostile module.
const (
	maxArity       = 1000      // parameters or results of a function
	maxLocals      = 50_000    // of one function
	maxAllLocals   = 5_000_000 // of all functions: a byte can declare thousands
	maxBody        = 8 << 20   // bytes of one function
	maxTableStart  = 1_000_000 // elements that a table starts with
	maxTableGrowth = 10_000    // elements to which a smaller table may grow
	maxNesting     = 10_000    // blocks within blocks
)

// global is one mutable or immutable global of the module.
type global struct {
	typ     dut.ValType
	mutable bool
}

// module is a decoded module, as far as rewriting needs it.
type module struct {
	opt   Options
	types []dut.Signature
	raw   [secTag + 1][]byte // the elements of a section without their count, if the section is copied

	imports       []dut.Import
	importedFuncs []int // type of each imported function
	funcs         []int // type of each function, imported ones first
	tables        []byte
	nTables       int
	memory        []byte // the one memory, encoded; nil: none
	globals       []global
	foreign       []byte // imported globals, encoded as the module's own
	nForeign      int
	exports       []dut.Export
	start         int // function, or -1
	nElements     int
	nData         int // -1: no data count section
	bodies        []*reader
	names         []string // of functions; "" where none is known

	segments int // data segments
	patches  []patch

	volatile  map[string]bool // instructions whose effects a snapshot does not include
	notes     []string
	fullOf    map[string]bool // kinds of probes that reached their limit
	allLocals int
	effort    int64

	additions
}

// additions is what rewriting adds. Every added global is a mutable i64 that starts at 0.
type additions struct {
	covered     func(index int) bool
	added       int // globals
	fuel, dirty int
	newTypes    map[string]int
	typeOrder   []dut.Signature
	edges       int
	edgeWords   []int
	sites       []dut.Site
	hitWords    []int
	operands    []operands
	constants   map[int64]bool
}

// decode reads the module's sections.
func decode(binary []byte, opt Options) *module {
	m := &module{opt: opt, start: -1, nData: -1, volatile: make(map[string]bool), fullOf: make(map[string]bool)}
	m.newTypes, m.constants = make(map[string]int), make(map[int64]bool)
	r := &reader{data: binary}
	if string(r.bytes(4)) != "\x00asm" {
		r.pos = 0
		r.fail("this is not a WebAssembly module: it does not begin with \\0asm")
	}
	if v := r.bytes(4); string(v) != "\x01\x00\x00\x00" {
		r.pos = 4
		if v[2] != 0 {
			r.fail("this is a component; only core modules are supported")
		}
		r.fail("version %d of the format is not supported", v[0])
	}
	last := 0
	for !r.done() {
		id := int(r.u8())
		s := r.part(r.u32())
		if id == secCustom {
			if s.name() == "name" {
				m.names = functionNames(s)
			}
			continue
		}
		if id >= len(place) {
			r.fail("section %d is not known", id)
		}
		if place[id] <= last {
			r.fail("section %d is out of order or appears twice", id)
		}
		last = place[id]
		m.section(id, s)
		if !s.done() && m.raw[id] == nil {
			s.fail("section %d is longer than its elements", id)
		}
	}
	if len(m.bodies) != len(m.funcs)-len(m.importedFuncs) {
		r.fail("%d functions are declared, %d have a body", len(m.funcs)-len(m.importedFuncs), len(m.bodies))
	}
	m.names = append(m.names, make([]string, max(0, len(m.funcs)-len(m.names)))...)[:len(m.funcs)]
	return m
}

func (m *module) section(id int, s *reader) {
	switch id {
	case secTag:
		s.fail("exception handling is not supported")
	case secStart:
		m.start = s.index("function", len(m.funcs))
		if sig := m.types[m.funcs[m.start]]; len(sig.Params)+len(sig.Results) > 0 {
			s.fail("the start function takes or returns values")
		}
		return
	case secDataCount:
		m.nData = int(min(s.u32(), 1<<30))
		return
	}
	n := s.count()
	from := s.pos
	for range n {
		switch id {
		case secType:
			m.types = append(m.types, signature(s))
		case secImport:
			m.readImport(s)
		case secFunction:
			m.funcs = append(m.funcs, s.index("type", len(m.types)))
		case secTable:
			m.readTable(s)
		case secMemory:
			m.readMemory(s)
		case secGlobal:
			g := global{s.valType(), s.mutability()}
			m.constant(s, g.typ)
			m.globals = append(m.globals, g)
		case secExport:
			m.readExport(s)
		case secElement:
			m.element(s)
			m.nElements++
		case secData:
			m.segment(s)
			m.segments++
		case secCode:
			if size := s.u32(); size <= maxBody {
				m.bodies = append(m.bodies, s.part(size))
			} else {
				s.fail("a function of %d bytes is too large (limit %d)", size, maxBody)
			}
		}
	}
	switch id {
	case secType, secGlobal, secExport, secElement, secData:
		if !s.done() {
			s.fail("section %d is longer than its elements", id)
		}
		m.raw[id] = m.patched(s.data, from)
	}
}

func signature(s *reader) (sig dut.Signature) {
	if form := s.u8(); form != 0x60 {
		s.pos--
		s.fail("a type of form 0x%02x is not supported (functions are)", form)
	}
	for _, list := range []*[]dut.ValType{&sig.Params, &sig.Results} {
		n := s.count()
		if n > maxArity {
			s.fail("a function of %d parameters or results is too large (limit %d)", n, maxArity)
		}
		for range n {
			*list = append(*list, s.valType())
		}
	}
	return sig
}

func (r *reader) mutability() bool {
	b := r.u8()
	if b > 1 {
		r.fail("a global's mutability must be 0 or 1, got %d", b)
	}
	return b == 1
}

func (m *module) readImport(s *reader) {
	i := dut.Import{Module: s.name(), Name: s.name()}
	switch kind := s.u8(); kind {
	case 0:
		t := s.index("type", len(m.types))
		i.Kind, i.Sig = dut.Func, m.types[t]
		m.funcs = append(m.funcs, t)
		m.importedFuncs = append(m.importedFuncs, t)
	case 1:
		i.Kind = dut.Table
		m.readTable(s)
	case 2:
		i.Kind = dut.Memory
		m.readMemory(s)
	case 3:
		i.Kind = dut.Global
		g := global{s.valType(), s.mutability()}
		m.globals = append(m.globals, g)
		m.foreign = append(m.foreign, zeroGlobal(g)...)
		m.nForeign++
	default:
		s.fail("an import of kind %d is not supported", kind)
	}
	m.imports = append(m.imports, i)
}

func (m *module) readTable(s *reader) {
	t := s.refType()
	low, high, bounded := s.limits()
	if low > maxTableStart {
		s.fail("a table of %d elements is too large (limit %d)", low, maxTableStart)
	}
	ceiling := max(low, maxTableGrowth)
	if bounded {
		if high < low {
			s.fail("a table's limits are the wrong way round: %d..%d", low, high)
		}
		ceiling = min(ceiling, high)
	}
	m.tables = append(m.tables, byte(t), 1)
	m.tables = uleb(m.tables, uint64(low))
	m.tables = uleb(m.tables, uint64(ceiling))
	m.nTables++
}

func (m *module) readMemory(s *reader) {
	low, high, bounded := s.limits()
	if m.memory != nil {
		s.fail("more than one memory is not supported")
	}
	if bounded && high < low {
		s.fail("the memory's limits are the wrong way round: %d..%d", low, high)
	}
	if high > 1<<16 {
		s.fail("a memory of %d pages exceeds the address space", high)
	}
	if low > m.opt.MaxMemory {
		s.fail("the module starts with %d pages of memory, more than the limit of %d", low, m.opt.MaxMemory)
	}
	ceiling := m.opt.MaxMemory
	if bounded {
		ceiling = min(ceiling, high)
	}
	m.memory = uleb(uleb([]byte{1}, uint64(low)), uint64(ceiling))
}

func (m *module) readExport(s *reader) {
	e := dut.Export{Name: s.name()}
	if strings.HasPrefix(e.Name, prefix) {
		s.fail("the export %q has a name reserved for testing", e.Name)
	}
	memories := 0
	if m.memory != nil {
		memories = 1
	}
	kind := s.u8()
	switch kind {
	case 0:
		e.Index = s.index("function", len(m.funcs))
		e.Sig = m.types[m.funcs[e.Index]]
	case 1:
		e.Index = s.index("table", m.nTables)
	case 2:
		e.Index = s.index("memory", memories)
	case 3:
		e.Index = s.index("global", len(m.globals))
	default:
		s.fail("an export of kind %d is not supported", kind)
	}
	e.Kind = dut.ExternKind(kind)
	m.exports = append(m.exports, e)
}
