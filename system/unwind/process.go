package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/engine/crash"
)

// Regs are the registers of a thread, indexed by their DWARF numbers.
type Regs [17]uint64

// The registers with a special meaning here.
const (
	rcx, rsi, rdi, rbp, rsp, pc = 2, 4, 5, 6, 7, 16
)

// mapping is one line of a process's memory map.
type mapping struct {
	start, end, off uint64
	perm, path      string
}

func (m *mapping) may(c byte) bool { return m != nil && strings.IndexByte(m.perm, c) >= 0 }

// Process is a stopped process.
type Process struct {
	mem   io.ReaderAt
	maps  []mapping
	exe   string
	pages map[uint64][]byte
}

// New returns a process from its memory, the text of its map (/proc/PID/maps) and the path of its
// program, whose code counts as its own wherever the file is.
func New(mem io.ReaderAt, maps []byte, exe string) *Process {
	p := &Process{mem: mem, exe: exe, pages: map[uint64][]byte{}}
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		hex := func(s string) uint64 { n, _ := strconv.ParseUint(s, 16, 64); return n }
		lo, hi, _ := strings.Cut(f[0], "-")
		p.maps = append(p.maps, mapping{hex(lo), hex(hi), hex(f[2]), f[1], strings.Join(f[5:], " ")})
	}
	return p
}

// read reads up to n bytes of memory; fewer if some are not mapped.
func (p *Process) read(a uint64, n int) (out []byte) {
	for len(out) < n {
		at := a + uint64(len(out))
		page, ok := p.pages[at>>12]
		if !ok {
			page = make([]byte, 4096)
			if at>>47 != 0 {
				page = nil
			} else if _, err := p.mem.ReadAt(page, int64(at&^4095)); err != nil {
				page = nil
			}
			p.pages[at>>12] = page
		}
		if page == nil {
			return out
		}
		from := int(at & 4095)
		out = append(out, page[from:min(4096, from+n-len(out))]...)
	}
	return out
}

// word returns the 8 bytes at a; 0 if they are not mapped.
func (p *Process) word(a uint64) uint64 {
	if b := p.read(a, 8); len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *Process) at(a uint64) *mapping {
	i := sort.Search(len(p.maps), func(i int) bool { return p.maps[i].end > a })
	if i < len(p.maps) && p.maps[i].start <= a {
		return &p.maps[i]
	}
	return nil
}

// module is a mapped program or library.
type module struct {
	name    string
	own     bool   // not one of the libraries that every program uses
	static  bool   // statically linked with the C library
	cxx     bool   // and with the C++ library
	library uint64 // start of the C library, as found from the program's start code; or noLibrary
	file    *elf.File
	frames  []fde
	names
}

// modules caches what was read from files, because thousands of crashes share them. The key
// includes size and time, so that a rebuilt program is read again.
var modules = struct {
	sync.Mutex
	list map[string]*module
}{list: map[string]*module{}}

// mostModules is the number of cached modules.
const mostModules = 128

// module reads the file of a mapping.
func (p *Process) module(m *mapping) *module {
	key := m.path
	if info, err := os.Stat(m.path); err == nil {
		key = fmt.Sprintf("%s %d %d", m.path, info.Size(), info.ModTime().UnixNano())
	}
	own := m.path == p.exe || strings.HasPrefix(m.path, "/") && !crash.SystemModule(filepath.Base(m.path))
	key = fmt.Sprint(own, key)
	modules.Lock()
	defer modules.Unlock()
	if x := modules.list[key]; x != nil {
		return x
	}
	if len(modules.list) >= mostModules {
		clear(modules.list)
	}
	x := &module{name: filepath.Base(m.path), own: own}
	modules.list[key] = x
	data, err := []byte(nil), error(nil)
	if strings.HasPrefix(m.path, "/") {
		data, err = os.ReadFile(m.path)
	} else {
		data = p.read(m.start, int(min(m.end-m.start, 1<<20))) // the kernel's vdso
	}
	if err != nil || len(data) == 0 {
		return x
	}
	x.load(data)
	return x
}

func (m *module) load(data []byte) {
	defer func() { _ = recover() }() // debug/elf may panic on damaged files
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil || f.Machine != elf.EM_X86_64 {
		return
	}
	interpreted := false
	for _, g := range f.Progs {
		interpreted = interpreted || g.Type == elf.PT_INTERP
	}
	m.file, m.static = f, m.own && !interpreted && f.Entry != 0 && f.Type != elf.ET_REL
	if m.static {
		if libs, _ := f.ImportedLibraries(); len(libs) > 0 {
			m.static = false // the program's own library
		}
	}
	if s := f.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		if b, err := s.Data(); err == nil {
			m.frames = parseFrames(b, s.Addr)
		}
	}
	if m.library = noLibrary; m.static {
		m.library, m.cxx = m.libraryOf(f), bytes.Contains(data, []byte("terminate called after throwing"))
	}
}

// locate returns the module that contains an address of code, and the address in the module's file;
// nil if there is none.
func (p *Process) locate(a uint64) (*module, uint64) {
	m := p.at(a)
	if !m.may('x') || m.path == "" {
		return nil, 0
	}
	x := p.module(m)
	if x.file == nil {
		return nil, 0
	}
	off := a - m.start + m.off
	for _, g := range x.file.Progs {
		if g.Type == elf.PT_LOAD && off >= g.Off && off < g.Off+g.Filesz {
			return x, off - g.Off + g.Vaddr
		}
	}
	return nil, 0
}

// noLibrary is the start of the C library in a program where it is unknown.
const noLibrary = ^uint64(0)

// libraryOf finds the C library in a static program without names. The linker places the library's
// objects after the program's own, starting with the one that starts main. The entry's first call
// goes there, and a call from there to the function that calls main, just before it.
func (m *module) libraryOf(f *elf.File) uint64 {
	for _, s := range f.Sections {
		if s.Name != ".text" || f.Entry < s.Addr || f.Entry >= s.Addr+s.Size {
			continue
		}
		b, err := s.Data()
		if err != nil {
			break
		}
		targets := func(from, to uint64) (list []uint64) { // targets of direct calls
			for at := from; at+5 <= min(to, s.Addr+s.Size); at++ {
				i := at - s.Addr
				if a := at + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:])))); b[i] == 0xe8 {
					if d := find(m.frames, a); d != nil && d.lo == a && a > f.Entry {
						list = append(list, a)
					}
				}
			}
			return list
		}
		if first := targets(f.Entry, f.Entry+64); len(first) > 0 {
			start := find(m.frames, first[0])
			for _, a := range targets(start.lo, start.hi) {
				if d := find(m.frames, a); a < start.lo && start.lo-d.hi < 16 {
					return a
				}
			}
			return start.lo
		}
	}
	return noLibrary
}

// Functions returns the start addresses of the program's own functions, as far as they have frame
// descriptions, without those of a static C library.
func (p *Process) Functions() (list []uint64) {
	for i := range p.maps {
		if p.maps[i].path != p.exe || !p.maps[i].may('x') {
			continue
		}
		m := p.module(&p.maps[i])
		if m.file == nil {
			continue
		}
		for _, s := range m.file.Sections {
			if s.Flags&elf.SHF_EXECINSTR == 0 || strings.HasPrefix(s.Name, ".plt") {
				continue
			}
			for _, f := range m.frames {
				if f.lo < s.Addr || f.lo >= s.Addr+s.Size {
					continue
				}
				a, ok := p.maps[i].loaded(m.file, f.lo)
				if s := m.symbolAt(f.lo); ok && f.lo < m.library && (s == nil || !m.static || !crash.Plumbing(crash.FunctionName(s.Name))) {
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// loaded returns the address in the process of an address in the module's file.
func (m *mapping) loaded(f *elf.File, at uint64) (uint64, bool) {
	for _, g := range f.Progs {
		if off := at - g.Vaddr + g.Off; g.Type == elf.PT_LOAD && at >= g.Vaddr && at < g.Vaddr+g.Filesz && off >= m.off && off-m.off < m.end-m.start {
			return m.start + off - m.off, true
		}
	}
	return 0, false
}

// Live returns the stack slots of the return addresses of a thread's calls, and whether these are
// all of them.
func (p *Process) Live(r Regs) (slots map[uint64]bool, whole bool) {
	walked, whole := p.walk(r, 0)
	slots = map[uint64]bool{}
	for _, f := range walked {
		slots[f.sp-8] = true
	}
	return slots, whole
}

// Called reports whether an address is the return address of a call.
func (p *Process) Called(a uint64) bool { return p.afterCall(a) }

// Lost reports whether a function returns without restoring a callee-saved register that it had
// saved: rbx (3), rbp, r12 to r15.
func (p *Process) Lost(function uint64, before, after Regs) bool {
	if before == after {
		return false
	}
	m, at := p.locate(function)
	if m == nil {
		return false
	}
	f := find(m.frames, at)
	if f == nil {
		return false
	}
	r, ok := f.rowAt(f.hi - 1)
	for _, n := range [...]int{3, rbp, 12, 13, 14, 15} {
		if ok && before[n] != after[n] && r.ever>>n&1 != 0 {
			return true
		}
	}
	return false
}
