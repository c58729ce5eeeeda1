package unwind

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path"
	"sort"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/engine/crash"
)

// names are the function names from a module's files; they are read on demand.
type names struct {
	mu      sync.Mutex
	asked   bool
	symbols []elf.Symbol
	dwarf   *dwarf.Data
	units   map[dwarf.Offset]*unit
	known   map[uint64][]place // cached results of lines
}

// unit is one compilation unit. It is read completely, because the reader of debug/dwarf loses
// places of a unit whose parts are not in address order.
type unit struct {
	rows      []dwarf.LineEntry
	functions []function
}

// function is an address range of a function. line is where an inlined function is called; 0 for
// others.
type function struct {
	lo, hi uint64
	depth  int
	name   string
	line   int
	file   string // file of the call, with its folders
}

// place is one of the functions that contain an address: several, innermost first, if calls were
// inlined.
type place struct {
	function string
	site     string // function with the place that distinguishes its bugs
	column   int    // column in the line of the site, which may have several bugs; 0: unknown
	by       string // source of the name
	library  bool   // code of the language's library, compiled into the program from a header
}

// Sources of the names of a stack, best first.
const (
	byDWARF  = "debugging information"
	bySymbol = "the symbol table"
	byOffset = "module and offset"
)

// places returns the names of an address in a module; none if it belongs to the C library or the
// program's start code.
func (f frame) places() []place {
	m := f.m
	s := m.symbolAt(f.at)
	m.mu.Lock()
	defer m.mu.Unlock()
	if list := m.lines(f.at); len(list) > 0 {
		return list
	}
	if s != nil {
		name := crash.FunctionName(s.Name)
		if name == "_start" || m.static && (f.library && m.library != noLibrary || crash.Plumbing(name)) {
			return nil
		}
		return []place{{name, fmt.Sprintf("%s+%#x", name, f.at-s.Value), 0, bySymbol, f.library || crash.Standard(name)}}
	}
	if f.library {
		return nil
	}
	site := fmt.Sprintf("%s+%#x", m.name, f.at)
	function := site
	if f.start != 0 {
		function = fmt.Sprintf("%s@%#x", m.name, f.start)
	}
	return []place{{function, site, 0, byOffset, false}}
}

// symbolAt returns the symbol of the function that contains an address, or nil.
func (m *module) symbolAt(at uint64) *elf.Symbol {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.asked {
		m.asked = true
		m.readNames()
	}
	i := sort.Search(len(m.symbols), func(i int) bool { return m.symbols[i].Value > at }) - 1
	if i >= 0 && at < m.symbols[i].Value+max(m.symbols[i].Size, 1) {
		return &m.symbols[i]
	}
	return nil
}

func (m *module) readNames() {
	defer func() { _ = recover() }() // as load
	m.units, m.known = map[dwarf.Offset]*unit{}, map[uint64][]place{}
	list, _ := m.file.Symbols()
	if len(list) == 0 {
		list, _ = m.file.DynamicSymbols()
	}
	for _, s := range list {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			m.symbols = append(m.symbols, s)
		}
	}
	sort.SliceStable(m.symbols, func(i, j int) bool { return m.symbols[i].Value < m.symbols[j].Value })
	if m.file.Section(".debug_info") != nil || m.file.Section(".zdebug_info") != nil {
		m.dwarf, _ = m.file.DWARF()
	}
}

// lines returns the names of an address from debugging information.
func (m *module) lines(at uint64) (out []place) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	if m.dwarf == nil {
		return nil
	}
	if out, ok := m.known[at]; ok {
		return out
	}
	defer func() { m.known[at] = out }()
	rd := m.dwarf.Reader()
	e, err := rd.SeekPC(at)
	if err != nil {
		return nil
	}
	u := m.units[e.Offset]
	if u == nil {
		u = m.readUnit(rd, e)
		m.units[e.Offset] = u
	}
	line, column, file := 0, 0, ""
	for i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].Address > at }) - 1; i >= 0 && line == 0 && !u.rows[i].EndSequence; i-- {
		if line, column = u.rows[i].Line, u.rows[i].Column; u.rows[i].File != nil {
			file = u.rows[i].File.Name
		}
	}
	for _, f := range u.functions {
		if at >= f.lo && at < f.hi && f.name != "" {
			out = append(out, place{f.name, fmt.Sprintf("%s (%s:%d)", f.name, path.Base(file), line), column, byDWARF, installed(file)})
			line, column, file = f.line, 0, f.file
		}
	}
	return out
}

// installed reports whether a source file belongs to the compiler or the system, such as the
// headers of the C++ library and all files of Rust's.
func installed(file string) bool {
	return strings.HasPrefix(file, "/usr/include/") || strings.HasPrefix(file, "/usr/lib/") || strings.HasPrefix(file, "/rustc/") ||
		strings.Contains(file, "/include/c++/")
}

func (m *module) readUnit(rd *dwarf.Reader, e *dwarf.Entry) *unit {
	u := &unit{}
	var files []*dwarf.LineFile
	if lr, _ := m.dwarf.LineReader(e); lr != nil {
		var le dwarf.LineEntry
		for lr.Next(&le) == nil {
			u.rows = append(u.rows, le)
		}
		files = lr.Files()
	}
	sort.SliceStable(u.rows, func(i, j int) bool {
		a, b := u.rows[i], u.rows[j]
		return a.Address < b.Address || a.Address == b.Address && a.EndSequence && !b.EndSequence
	})
	operators := map[dwarf.Offset]string{} // names of operators with their class
	from := map[int]dwarf.Offset{}         // by function: the entry with its name
	for scopes := []string{""}; len(scopes) > 0; {
		e, err := rd.Next()
		if err != nil || e == nil {
			break
		}
		name := ""
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			f := function{depth: len(scopes)}
			var at dwarf.Offset
			f.name, at = m.nameOf(e)
			if n, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
				f.line = int(n)
			}
			if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(files)) && files[n] != nil {
				f.file = files[n].Name
			}
			if at == e.Offset && strings.HasPrefix(f.name, "operator") {
				operators[at] = member(scopes[len(scopes)-1], f.name)
			}
			ranges, _ := m.dwarf.Ranges(e)
			for _, r := range ranges {
				f.lo, f.hi = r[0], r[1]
				from[len(u.functions)] = at
				u.functions = append(u.functions, f)
			}
			name = cmp.Or(operators[at], f.name)
		case dwarf.TagClassType, dwarf.TagStructType:
			if name, _ = e.Val(dwarf.AttrName).(string); name == "" || name[0] == '<' {
				name = member(scopes[len(scopes)-1], "lambda")
			}
		case dwarf.TagLexDwarfBlock:
			name = scopes[len(scopes)-1]
		}
		if e.Children {
			scopes = append(scopes, name)
		} else if e.Tag == 0 {
			scopes = scopes[:len(scopes)-1]
		}
	}
	for i := range u.functions {
		u.functions[i].name = cmp.Or(operators[from[i]], u.functions[i].name)
	}
	sort.SliceStable(u.functions, func(i, j int) bool { return u.functions[i].depth > u.functions[j].depth })
	return u
}

// member returns the name of a member of a class or a function; a lambda's operator() gets the
// lambda's name.
func member(of, name string) string {
	if of == "" || strings.HasSuffix(of, "lambda") && name == "operator()" {
		return cmp.Or(of, name)
	}
	return of + "::" + name
}

// nameOf returns a function's name and the entry that has it, which may be two references away and,
// with link-time optimization, in another unit.
func (m *module) nameOf(e *dwarf.Entry) (string, dwarf.Offset) {
	for rd := m.dwarf.Reader(); e != nil; {
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			return name, e.Offset
		}
		ref, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			ref, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			return "", 0
		}
		rd.Seek(ref)
		e, _ = rd.Next()
	}
	return "", 0
}
