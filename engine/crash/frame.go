package crash

import (
	"cmp"
	"slices"
	"strings"
)

// maxScan bounds the frames that are read of one stack: a recursion of a million
// frames has shown its cycle by then.
const maxScan = 128

// nativeStack reads the stack that begins within a few lines after line from, in
// the forms of the sanitizers and of gdb. It returns the frames without plumbing,
// and the place of the first of them in the code.
func nativeStack(t text, from int) (frames []string, place string) {
	start := -1
	for i := from; i < len(t.lines) && i < from+12; i++ {
		if _, _, ok := nativeFrame(t.lines[i]); ok {
			start = i
			break
		}
	}
	if start < 0 {
		return nil, ""
	}
	var all, places []string
	for i := start; i < len(t.lines) && len(all) < maxScan; i++ {
		f, at, ok := nativeFrame(t.lines[i])
		if !ok || i > start && frameNumber(t.lines[i]) == "0" {
			break
		}
		all, places = append(all, f), append(places, at)
	}
	return placed(all, places)
}

// placed removes the plumbing from a stack, and returns the place of the first
// remaining frame.
func placed(all, places []string) (own []string, place string) {
	if own = ownFrames(all, Plumbing); len(own) > 0 {
		place = places[slices.Index(all, own[0])]
	}
	return own, place
}

// frameNumber returns the N of a line " #N …", or "".
func frameNumber(line string) string {
	line = strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(line, "#") {
		return ""
	}
	n := 1
	for n < len(line) && isDigit(line[n]) {
		n++
	}
	return line[1:n]
}

// nativeFrame reads a line such as
//
//	#1 0x55 in scroll::parse(char*) /src/scroll.cc:10:3
//	#1 0x55  (/src/scroll+0x1234) (BuildId: 12ab)
//	#1 parse /src/scroll.c:30 (scroll+0x169c)
//	#1  0x0055 in parse (p=0x0) at scroll.c:20
//
// as the name of a function, or module+offset, and its file:line. Where no line is
// known, module+offset is the place, which does not depend on where a module was
// loaded: a build without lines has all that was inlined in one function. "" is a
// frame without a name, and a place that is unknown.
func nativeFrame(line string) (name, place string, ok bool) {
	num := frameNumber(line)
	if num == "" {
		return "", "", false
	}
	s := strings.TrimLeft(line, " \t")[1+len(num):]
	if s == "" || s[0] != ' ' && s[0] != '\t' {
		return "", "", false
	}
	s = strings.TrimSpace(s)
	addressed := false
	if strings.HasPrefix(s, "0x") {
		n := numberLen(s)
		s = strings.TrimSpace(s[n:])
		addressed = true
	}
	s, _, _ = strings.Cut(s, " (BuildId: ")
	module := ""
	if strings.HasSuffix(s, ")") {
		if i := strings.LastIndexByte(s, '('); i >= 0 && strings.Contains(s[i:], "+0x") && !strings.Contains(s[i:], " ") {
			module = base(s[i+1 : len(s)-1])
			s = strings.TrimSpace(s[:i])
		}
	}
	if addressed {
		s = strings.TrimPrefix(s, "in ")
	}
	whole := s
	if i := strings.LastIndex(s, " at "); i > 0 { // gdb
		s = s[:i]
	} else if i := strings.LastIndex(s, " from /"); i > 0 {
		s = s[:i]
	} else {
		s = cutLocation(s)
	}
	if SystemModule(module) {
		module = ""
	}
	place = module
	if file, line, ok := sourcePlace(strings.TrimPrefix(strings.TrimSpace(whole[len(s):]), "at ")); ok {
		place = file + ":" + line
	}
	s = strings.TrimSpace(s)
	if s == "" || s == "??" || s == "<null>" || strings.HasPrefix(s, "?? ") || s == "(<unknown module>)" {
		return module, "", true
	}
	return FunctionName(s), place, true
}

// cutLocation removes the source file at the end of a sanitizer's frame.
func cutLocation(s string) string {
	for _, mark := range [...]string{" /", " ../", " ./", " <null>", " ??:"} {
		if i := strings.Index(s, mark); i > 0 {
			return s[:i]
		}
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		file, line, ok := strings.Cut(s[i+1:], ":")
		if ok && strings.Contains(file, ".") && line != "" && isDigit(line[0]) {
			return s[:i]
		}
		if !ok && strings.Contains(file, ".") && !strings.ContainsAny(file, "()<>[]{},*&") {
			return s[:i] // a symbol table names the file of a static function, without a line
		}
	}
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "<null>") {
		return ""
	}
	return s
}

// SystemModule reports whether a module, the only thing known of a frame, is a
// library that every program has.
func SystemModule(module string) bool {
	for _, p := range [...]string{"libc.so", "libc-", "libm.so", "libpthread", "ld-linux", "ld-musl", "libasan", "libubsan", "libtsan", "liblsan",
		"libmsan", "libclang_rt", "libstdc++", "libc++", "libgcc_s", "linux-vdso", "linux-gate", "[vdso]", "libsystem_", "libdyld"} {
		if strings.HasPrefix(module, p) {
			return true
		}
	}
	return false
}

// ownFrames removes the plumbing, unless nothing else is left. The callers of a
// harness function are not the program's own: libFuzzer, AFL++ and Thresh call it.
func ownFrames(all []string, plumbing func(string) bool) []string {
	var own, named []string
	for _, f := range all {
		if f == "" {
			continue
		}
		named = append(named, f)
		if !plumbing(f) {
			own = append(own, f)
		}
		if f == "LLVMFuzzerTestOneInput" {
			break
		}
	}
	if len(own) == 0 {
		return named
	}
	return own
}

// Plumbing reports whether a function of a native stack belongs to the allocator,
// the C or C++ library, a sanitizer or the abort path.
func Plumbing(f string) bool {
	switch f {
	case "raise", "abort", "gsignal", "_start", "start", "clone", "clone3", "start_thread", "malloc", "calloc", "realloc", "free", "cfree",
		"operator new", "operator delete", "operator new[]", "operator delete[]", "malloc_printerr", "malloc_consolidate", "_int_free",
		"_int_malloc", "unlink_chunk", "sysmalloc", "pthread_kill", "pthread_create", "tgkill", "kill", "exit", "_exit",
		"memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strnlen", "strcpy", "strncpy", "strcat", "strncat", "strcmp", "strncmp",
		"strchr", "strrchr", "strstr", "strdup", "strndup", "printf", "sprintf", "snprintf", "vsnprintf", "fprintf", "vfprintf",
		"rust_panic", "rust_begin_unwind", "rust_eh_personality", "RunThread":
		return true
	}
	if Standard(f) {
		return true
	}
	for _, p := range [...]string{"__", "asan_", "fuzzer::", "scudo::", "_Unwind_", "_dl_", "_IO_", "node::OOM",
		"v8::", "wrap_", "___interceptor", "libc_", "unsafe_libc", "<signal handler"} {
		if strings.HasPrefix(f, p) {
			return !strings.HasPrefix(f, "__cxx_global_var_init")
		}
	}
	return strings.HasPrefix(f, "_pthread_") || strings.HasSuffix(f, "_fail") && strings.HasPrefix(f, "_")
}

// FunctionName reduces a symbol to the name by which people know the function: no
// parameters, template arguments, return types, clone suffixes or hashes, and no
// counters of lambdas and closures.
func FunctionName(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, " [clone "); i > 0 {
		s = s[:i]
	}
	if name := demangle(s); name != "" {
		s = name
	}
	s = strings.ReplaceAll(s, "(anonymous namespace)", "anon")
	s = strings.ReplaceAll(s, "{anonymous}", "anon")
	s = strings.ReplaceAll(s, "{{closure}}", "closure")
	s = strings.ReplaceAll(s, "[abi:cxx11]", "")
	op := ""
	if i := strings.Index(s, "operator"); i >= 0 && (i == 0 || !isWord(s[i-1])) {
		n := operatorLen(s[i:])
		op, s = s[i:i+n], s[:i]
	}
	var b strings.Builder
	depth, braces := 0, 0
	// Rust writes <Type as Trait>::method; Type names it.
	rustImpl := strings.HasPrefix(s, "<")
	if rustImpl {
		s = s[1:]
		if i := strings.Index(s, " as "); i > 0 {
			j := strings.LastIndex(s, ">::")
			if j > i {
				s = s[:i] + s[j+1:]
			}
		}
	}
scan:
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '<':
			depth++
		case '>':
			if depth > 0 {
				depth--
			}
		case '{':
			if braces++; braces == 1 && depth == 0 {
				name := s[i+1:]
				b.WriteString(name[:spanTo(name, "(#}{")])
			}
		case '}':
			if braces > 0 {
				braces--
			}
		case '(':
			if depth == 0 && braces == 0 {
				break scan
			}
		default:
			if depth == 0 && braces == 0 {
				b.WriteByte(c)
			}
		}
	}
	name := strings.TrimSpace(b.String())
	if op == "" || strings.HasSuffix(name, "::") {
		if i := strings.LastIndexByte(name, ' '); i >= 0 { // a return type
			name = name[i+1:]
		}
	} else {
		name = ""
	}
	name += op
	name = strings.ReplaceAll(name, "::::", "::")
	name = trimSuffixes(name)
	if rest, hash, ok := cutLast(name, "::h"); ok && len(hash) == 16 {
		name = rest
	}
	if i := strings.Index(name, "$_"); i >= 0 {
		name = name[:i] + "lambda" + strings.TrimLeft(name[i+2:], "0123456789")
	}
	name = cmp.Or(name, s)
	return clip(name, 120)
}

// operatorLen returns the length of an operator's name at the start of s.
func operatorLen(s string) int {
	n := len("operator")
	for _, w := range [...]string{" new[]", " delete[]", " new", " delete", "()", "[]"} {
		if strings.HasPrefix(s[n:], w) {
			return n + len(w)
		}
	}
	for n < len(s) && strings.IndexByte("<>=!+-*/%^&|~,", s[n]) >= 0 {
		n++
	}
	return n
}

// trimSuffixes removes what compilers append to clones of a function.
func trimSuffixes(s string) string {
	for _, mark := range [...]string{".cold", ".part.", ".isra.", ".constprop.", ".llvm.", ".lto_priv.", "@plt", "@@", "@GLIBC"} {
		if i := strings.Index(s, mark); i > 0 {
			s = s[:i]
		}
	}
	return s
}

// cutLast cuts s at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
