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

// Regs are the registers of a thread by their numbers in DWARF.
type Regs [17]uint64

// The registers that have a meaning here.
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

// New returns a process by its memory, the text of its map (proc/PID/maps) and
// the path of its program, whose code is its own wherever it lies.
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

// read reads up to n bytes of memory: fewer where it is not mapped.
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

// word is the 8 bytes at a; 0 if they are not mapped.
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
	name   string
	own    bool // not one of the libraries that every program has
	static bool // its C library is in it
	file   *elf.File
	frames []fde
	names
}

// modules keeps what was read of files: thousands of crashes have the same. Its
// key holds size and time, so that a program built anew is read anew.
var modules = struct {
	sync.Mutex
	list map[string]*module
}{list: map[string]*module{}}

// mostModules bounds what is kept.
const mostModules = 128

// module reads what lies behind a mapping.
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
		data = p.read(m.start, int(min(m.end-m.start, 1<<20))) // the kernel's own
	}
	if err != nil || len(data) == 0 {
		return x
	}
	x.load(data)
	return x
}

func (m *module) load(data []byte) {
	defer func() { _ = recover() }() // debug/elf may give up on damaged files in this way
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
			m.static = false // a library of the program's own
		}
	}
	if s := f.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		if b, err := s.Data(); err == nil {
			m.frames = parseFrames(b, s.Addr)
		}
	}
}

// locate is the module that an address of code lies in, and the address in the
// module's own terms; nil if there is none.
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
