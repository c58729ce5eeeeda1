package coverage

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The compiler counts an edge with a call, around which it saves registers, which takes most of the
// time of a small program. So each source is compiled in two steps. Between them, in LLVM's
// intermediate language, the call is replaced with one instruction that increments the edge's guard
// and a jump that is rarely taken. Calls for comparisons, which are disabled in nearly all cases,
// are declared to preserve registers.

// source is a source file on a command line.
type source struct {
	at       int    // its index among the arguments
	language string // language by -x; "": by the file's name
}

// inlined compiles the sources of a command line and returns the rest of the command line, nil if
// nothing is left. ok is false if the compiler has to do everything itself.
func (l *commandLine) inlined(ctx context.Context, name, dir string, in io.Reader, diagnostics io.Writer) (rest []string, code int, ok bool) {
	if len(l.sources) == 0 || l.whole {
		return nil, 0, false
	}
	objects := map[int]string{}
	for i, src := range l.sources {
		path := l.args[src.at]
		base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		object := filepath.Join(dir, strconv.Itoa(i)+"-"+base+".o")
		if l.compiles && l.named {
			object = l.output
		} else if l.compiles {
			object = base + ".o"
		}
		code := filepath.Join(dir, strconv.Itoa(i)+".ll")
		first := slices.Concat(l.options, l.headers(object), []string{"-S", "-emit-llvm", "-o", code})
		if src.language != "" {
			first = append(first, "-x", src.language)
		}
		if status, err := run(ctx, name, append(first, path), in, diagnostics, diagnostics); status != 0 || err != nil {
			return nil, status, err == nil
		}
		text, err := os.ReadFile(code)
		if err != nil {
			return nil, 0, false
		}
		text, changed := inlineEdges(text)
		if !changed || os.WriteFile(code, text, 0o600) != nil {
			return nil, 0, false
		}
		second := slices.Concat(l.options, []string{"-Xclang", "-disable-llvm-passes", "-c", "-o", object, "-x", "ir", code})
		if status, err := run(ctx, name, second, nil, io.Discard, io.Discard); status != 0 || err != nil {
			return nil, 0, false
		}
		objects[src.at] = object
	}
	if l.compiles {
		return nil, 0, true
	}
	for i := 0; i < len(l.args); i++ {
		switch object, compiled := objects[i]; {
		case compiled:
			rest = append(rest, object)
		case l.args[i] == "-x":
			i++
		default:
			rest = append(rest, l.args[i])
		}
	}
	return rest, 0, true
}

// headers returns the flags for the list of headers that a compilation in one step would write.
func (l *commandLine) headers(object string) []string {
	list := slices.Clone(l.depends)
	has := func(flag string) bool {
		return slices.ContainsFunc(list, func(a string) bool { return strings.HasPrefix(a, flag) })
	}
	if !slices.Contains(list, "-MD") && !slices.Contains(list, "-MMD") {
		return nil
	}
	if !l.compiles {
		object = l.output
	}
	if !has("-MF") {
		list = append(list, "-MF", strings.TrimSuffix(object, filepath.Ext(object))+".d")
	}
	if !has("-MT") && !has("-MQ") {
		list = append(list, "-MQ", object)
	}
	return list
}

// isCode reports whether the compiler treats a file as C or C++.
func (s source) isCode(path string) bool {
	if s.language == "" || s.language == "none" {
		return slices.Contains([]string{".c", ".i", ".cc", ".cpp", ".cxx", ".c++", ".cp", ".C", ".CPP", ".ii"}, filepath.Ext(path))
	}
	return s.language == "c" || s.language == "c++"
}

// edge increments a guard. Its jump goes to the end of the function's section, where the code
// preserves the 128 bytes below the stack pointer that a leaf function may use.
const edge = `asm sideeffect "incl ${0:c}(%rip)\0A\09js 2f\0A3:\0A\09.subsection 1\0A2:\0A\09leaq -128(%rsp), %rsp\0A\09pushq %rdi\0A\09leaq ${0:c}(%rip), %rdi\0A\09` +
	`callq *__thresh_edge@GOTPCREL(%rip)\0A\09popq %rdi\0A\09leaq 128(%rsp), %rsp\0A\09jmp 3b\0A\09.previous", "i,~{dirflag},~{fpsr},~{flags}"`

// inlineEdges replaces the calls in a module of intermediate language. changed is false if the
// module is for another machine or has no calls.
func inlineEdges(module []byte) (text []byte, changed bool) {
	if !bytes.Contains(module, []byte("\ntarget triple = \"x86_64-")) || bytes.Contains(module, []byte("-gnux32\"")) {
		return module, false
	}
	const guard = "call void @__sanitizer_cov_trace_pc_guard("
	const compared = " void @__sanitizer_cov_trace_"
	var out bytes.Buffer
	for line := range bytes.Lines(module) {
		if at := bytes.Index(line, []byte(guard)); at >= 0 && bytes.Contains(line, []byte("@__sancov_gen_")) {
			out.Write(line[:at])
			out.WriteString("call void " + edge)
			line = line[at+len(guard)-1:]
			changed = true
		} else if at := bytes.Index(line, []byte(compared)); at >= 0 && listened(line[at+len(compared):]) {
			out.Write(line[:at])
			out.WriteString(" preserve_allcc")
			line = line[at:]
		}
		out.Write(line)
	}
	return out.Bytes(), changed
}

// listened reports whether compare.c defines the function.
func listened(name []byte) bool {
	return bytes.HasPrefix(name, []byte("cmp")) || bytes.HasPrefix(name, []byte("const_cmp")) || bytes.HasPrefix(name, []byte("switch("))
}
