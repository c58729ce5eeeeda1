package coverage

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program is an ELF file with code at address 0x1000, a table of hooks at 0x2000, each as the
// distance from its own place, and the same bytes as the code where they are not executed.
func program(t *testing.T, machine elf.Machine, code []byte, hooks ...uint64) string {
	t.Helper()
	const names = "\x00.text\x00thresh_hooks\x00.data\x00.shstrtab\x00"
	var table []byte
	for k, h := range hooks {
		table = binary.LittleEndian.AppendUint32(table, uint32(h-(0x2000+uint64(4*k))))
	}
	table = append(table, 9, 9) // not a whole entry
	var file bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&file, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	at := uint64(64)
	section := func(name, kind uint32, flags, addr uint64, size int) elf.Section64 {
		s := elf.Section64{Name: name, Type: kind, Flags: flags, Addr: addr, Off: at, Size: uint64(size)}
		at += uint64(size)
		return s
	}
	sections := []elf.Section64{
		{},
		section(1, uint32(elf.SHT_PROGBITS), uint64(elf.SHF_ALLOC|elf.SHF_EXECINSTR), 0x1000, len(code)),
		section(7, uint32(elf.SHT_PROGBITS), uint64(elf.SHF_ALLOC), 0x2000, len(table)),
		section(20, uint32(elf.SHT_PROGBITS), uint64(elf.SHF_ALLOC), 0x1000, len(code)),
		section(26, uint32(elf.SHT_STRTAB), 0, 0, len(names)),
	}
	put(elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}, Type: uint16(elf.ET_EXEC), Machine: uint16(machine),
		Version: 1, Shoff: at, Ehsize: 64, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: 4})
	for _, part := range [][]byte{code, table, code, []byte(names)} {
		put(part)
	}
	put(sections)
	path := filepath.Join(t.TempDir(), "a.out")
	if err := os.WriteFile(path, file.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// Calls of hooks become instructions that do nothing and say which hook it was; all else stays.
func TestMuteComparisons(t *testing.T) {
	call := func(from, to uint64) []byte {
		return binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32(to-from-5))
	}
	code := bytes.Join([][]byte{{0x90}, call(0x1001, 0x3000), call(0x1006, 0x3010), {0xe8, 1}, call(0x100d, 0x4000), call(0x1012, 0x800), {0xe8, 0, 0}}, nil)
	muted := bytes.Join([][]byte{{0x90}, {0x0f, 0x1f, 0x44, 0, 0xd0}, {0x0f, 0x1f, 0x44, 0, 0xd1}, {0xe8, 1}, call(0x100d, 0x4000), {0x0f, 0x1f, 0x44, 0, 0xd2}, {0xe8, 0, 0}}, nil)
	for _, c := range []struct {
		machine elf.Machine
		hooks   []uint64
		want    []byte
	}{
		{elf.EM_X86_64, []uint64{0x3000, 0x3010, 0x800}, muted},
		{elf.EM_AARCH64, []uint64{0x3000, 0x3010, 0x800}, code},
		{elf.EM_X86_64, []uint64{0x5000}, code},
		{elf.EM_X86_64, []uint64{0x100d + 2}, code},
	} {
		path := program(t, c.machine, code, c.hooks...)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := muteComparisons(path); err != nil {
			t.Error(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copy(before[64:], c.want)
		if !bytes.Equal(after, before) {
			t.Errorf("%s, %x: % x\nwant % x", c.machine, c.hooks, after[64:64+len(code)], c.want)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), "mute_test.go"} {
		if err := muteComparisons(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The library for programs without a fork server is what the compiler makes of its source.
func TestHosted(t *testing.T) {
	compiler := filepath.Join(t.TempDir(), "cc")
	const script = `#!/bin/sh
case "$RUNTIME" in 0) ;; *) echo 'it is broken' >&2; exit "$RUNTIME";; esac
while [ "$1" != -o ]; do shift; done
cat > "$2"
`
	if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ compiler, runtime, err string }{
		{compiler, "0", ""},
		{compiler, "4", "the compiler ended with exit code 4: it is broken"},
		{"clang-that-is-not", "0", "clang-that-is-not is not installed"},
	} {
		t.Setenv("THRESH_CC", c.compiler)
		t.Setenv("RUNTIME", c.runtime)
		made, err := Hosted(t.Context())
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || made != nil {
				t.Errorf("%d bytes, %v, want %s", len(made), err, c.err)
			}
			continue
		}
		if err != nil || !bytes.Contains(made, runtimeSource) || !bytes.Contains(made, driverSource) || !bytes.Contains(made, hostedSource) {
			t.Errorf("%d bytes, %v", len(made), err)
		}
	}
}

// A source is compiled in two steps to the object that was asked for, and in one where the
// second step fails.
func TestTwoSteps(t *testing.T) {
	dir := t.TempDir()
	compiler, log := filepath.Join(dir, "cc"), filepath.Join(dir, "log")
	const script = `#!/bin/sh
echo "$*" >> "$LOG"
case "$*" in
*" -emit-llvm "*) while [ "$1" != -o ]; do shift; done; echo "$MODULE" > "$2" ;;
*" -x ir "*) exit "$SECOND" ;;
esac
`
	if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOG", log)
	t.Setenv("THRESH_CC", compiler)
	t.Chdir(dir)
	const counted = "\ntarget triple = \"x86_64-linux\"\n  call void @__sanitizer_cov_trace_pc_guard(ptr @__sancov_gen_)\n"
	for _, c := range []struct {
		line, module, second string
		want                 string // how the calls end, "|" between them
	}{
		{"-c d/a.c", counted, "0", "-S -emit-llvm -o 0.ll d/a.c|-disable-llvm-passes -c -o a.o -x ir 0.ll"},
		{"-c d/a.c -o b.o", counted, "0", "-S -emit-llvm -o 0.ll d/a.c|-disable-llvm-passes -c -o b.o -x ir 0.ll"},
		{"-c -x c d/a.inc", counted, "0", "-S -emit-llvm -o 0.ll -x c d/a.inc|-disable-llvm-passes -c -o a.o -x ir 0.ll"},
		{"-c a.c -MMD", counted, "0", "-MMD -MF a.d -MQ a.o -S -emit-llvm -o 0.ll a.c|-disable-llvm-passes -c -o a.o -x ir 0.ll"},
		{"-c a.c", counted, "1", "-S -emit-llvm -o 0.ll a.c|-disable-llvm-passes -c -o a.o -x ir 0.ll|-c a.c"},
		{"-c a.c", "nothing is counted", "0", "-S -emit-llvm -o 0.ll a.c|-c a.c"},
	} {
		os.Remove(log)
		t.Setenv("MODULE", c.module)
		t.Setenv("SECOND", c.second)
		var said bytes.Buffer
		if code, err := Compile(t.Context(), false, strings.Fields(c.line), nil, &said, &said); code != 0 || err != nil {
			t.Errorf("%s: %d, %v, %s", c.line, code, err, said.Bytes())
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		calls, want := strings.Split(strings.TrimSpace(string(text)), "\n"), strings.Split(c.want, "|")
		for i := range calls {
			words := strings.Fields(calls[i])
			for k, w := range words {
				if strings.HasSuffix(w, "/0.ll") {
					words[k] = "0.ll"
				}
			}
			if len(calls) != len(want) || !strings.HasSuffix(strings.Join(words, " "), " "+want[i]) {
				t.Errorf("%s: call %d of %d is %q, want %q at its end", c.line, i+1, len(calls), words, c.want)
			}
		}
	}
}

// What a compiler is called with, reads and says is passed on, and so is its exit code.
func TestCompile(t *testing.T) {
	dir := t.TempDir()
	compiler := filepath.Join(dir, "cc")
	const script = `#!/bin/sh
in=$(cat | wc -c)
echo "$0: $in bytes: ${*##*/}" | sed 's,.*/cc,cc,' >> "$LOG"
case "$*" in *broken*) echo 'it is broken' >&2; exit 7;; esac
case "$*" in *" -emit-llvm "*) while [ "$1" != -o ]; do shift; done; echo "$MODULE" > "$2"; exit;; esac
case "$*" in *" -c "*) exit "${RUNTIME:-0}";; esac
echo linked
`
	if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	t.Setenv("LOG", log)
	t.Setenv("MODULE", "\ntarget triple = \"x86_64-linux\"\n  call void @__sanitizer_cov_trace_pc_guard(ptr @__sancov_gen_)\n")
	t.Setenv("THRESH_CC", compiler)
	t.Setenv("THRESH_CXX", "clang-that-is-not")
	t.Chdir(dir)
	for _, c := range []struct {
		args    []string
		cxx     bool
		runtime string
		want    string
		calls   int
	}{
		{[]string{"-c", "a.c"}, false, "", "0  |<nil>", 2},
		{[]string{"a.c"}, false, "", "0 linked\n |<nil>", 5},
		{[]string{"-fsanitize=fuzzer", "a.c"}, false, "", "0 linked\n |<nil>", 6},
		{[]string{noComparisons, "a.c"}, false, "", "0 linked\n |<nil>", 4},
		{[]string{"a.c"}, false, "3", "3  |<nil>", 3},
		{[]string{"broken.c", "-c"}, false, "", "7  it is broken\n|<nil>", 1},
		{[]string{"-c", "a.cc"}, true, "", "0  |clang-that-is-not is not installed; set THRESH_CC and THRESH_CXX to a clang of version 11 or later", 0},
	} {
		t.Setenv("RUNTIME", c.runtime)
		os.Remove(log)
		var out, said bytes.Buffer
		code, err := Compile(t.Context(), c.cxx, c.args, bytes.NewReader(nil), &out, &said)
		calls, _ := os.ReadFile(log)
		if got := fmt.Sprintf("%d %s %s|%v", code, out.String(), said.String(), err); got != c.want || bytes.Count(calls, []byte("\n")) != c.calls {
			t.Errorf("%q: %q, %s", c.args, got, calls)
		}
	}
}
