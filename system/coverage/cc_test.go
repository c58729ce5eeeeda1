package coverage

import (
	"slices"
	"strings"
	"testing"
)

// What a command line asks for decides whether the runtime and a main are linked.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		line, rest    string
		links, driver bool
	}{
		{"-u main -mllvm x.c -T y a.o", "-u main -mllvm x.c -T y a.o -x none", true, false},
		{"-c a.c -o a.o", "-c a.c -o a.o", false, false},
		{"-o a a.c", "-o a a.c -x none", true, false},
		{"a.o b.o", "a.o b.o -x none", true, false},
		{"--version", "--version", false, false},
		{"-print-prog-name=ld", "-print-prog-name=ld", false, false},
		{"", "", false, false},
		{"-O3", "-O3", false, false},
		{"-o a", "-o a", false, false},
		{"-shared -o a.so a.o", "-shared -o a.so a.o", false, false},
		{"-E a.c", "-E a.c", false, false},
		{"-I c -D x -o a a.c", "-I c -D x -o a a.c -x none", true, false},
		{"-I c -D x", "-I c -D x", false, false},
		{"-fsanitize=fuzzer a.c", "a.c -x none", true, true},
		{"-fsanitize=address,fuzzer a.c", "-fsanitize=address a.c -x none", true, true},
		{"-fsanitize=fuzzer-no-link,undefined a.c", "-fsanitize=undefined a.c -x none", true, false},
		{"-fsanitize=fuzzer -c a.c", "-c a.c", false, false},
		{"-x c -", "-x c - -x none", true, false},
		{"a.c -o", "a.c -o -x none", true, false},
	} {
		p := plan(strings.Fields(c.line))
		rest := strings.Replace(strings.Join(p.args[len(flags)+len(comparing):], " "), wraps+" ", "", 1)
		if rest != c.rest || p.links != c.links || p.driver != c.driver {
			t.Errorf("%q: %q links %t, driver %t", c.line, rest, p.links, p.driver)
		}
	}
	if p := plan([]string{noComparisons, "a.c"}); !slices.Equal(p.args[len(flags):], []string{"a.c", "-x", "none"}) {
		t.Errorf("without comparisons: %q", p.args)
	}
	if got := plan(strings.Fields("-m32 --sysroot=/r a.c")).target; !slices.Equal(got, []string{"-m32", "--sysroot=/r"}) {
		t.Errorf("the runtime is compiled with %q", got)
	}
}

// Sources are compiled in two steps; every other command line goes to the compiler as it stands.
func TestSources(t *testing.T) {
	for _, c := range []struct {
		line, sources, options string
		whole, compiles        bool
	}{
		{"-c -O2 a.c -o a.o", "a.c", "-O2", false, true},
		{"-Da -D b a.cc b.o c.ii -la -o a d.s", "a.cc c.ii", "-Da -D b -la", false, false},
		{"-x c++ a.inc -x none b.c c.inc -x assembler d.c", "c++:a.inc none:b.c", "", false, false},
		{"-MD -MF d.c a.c -mllvm e.c", "a.c", "-mllvm e.c", false, false},
		{"-S a.c", "a.c", "-S", true, false},
		{"-flto -c a.c", "a.c", "-flto", true, true},
		{"@rest a.c", "a.c", "", true, false},
		{"-x c -", "c:-", "", true, false},
		{"-shared -fPIC a.c", "a.c", "-shared -fPIC", false, false},
	} {
		p := plan(strings.Fields(c.line))
		var list []string
		for _, src := range p.sources {
			list = append(list, strings.TrimPrefix(src.language+":", ":")+p.args[src.at])
		}
		sources, options := strings.Join(list, " "), strings.Join(p.options[len(flags)+len(comparing):], " ")
		if sources != c.sources || options != c.options || p.whole != c.whole || p.compiles != c.compiles {
			t.Errorf("%q: sources %q, options %q, whole %t, compiles %t", c.line, sources, options, p.whole, p.compiles)
		}
	}
}

// The list of headers is asked for as the compiler would write it in one step.
func TestHeaders(t *testing.T) {
	for line, want := range map[string]string{
		"-c b/a.c":                          "",
		"-c b/a.c -MMD":                     "-MMD -MF a.d -MQ a.o",
		"-c b/a.c -MD -MP -o c/x.o":         "-MD -MP -MF c/x.d -MQ c/x.o",
		"-c b/a.c -MD -MFy -MT z":           "-MD -MFy -MT z",
		"b/a.c -MD -o prog":                 "-MD -MF prog.d -MQ prog",
		"-c b/a.c -MD -MF f.d -MQ q -o x.o": "-MD -MF f.d -MQ q",
	} {
		p := plan(strings.Fields(line))
		object := "a.o"
		if p.named {
			object = p.output
		}
		if got := strings.Join(p.headers(object), " "); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// Calls become what costs less; a module for another machine stays.
func TestInlineEdges(t *testing.T) {
	const module = `
target triple = "x86_64-pc-linux-gnu"
  call void @__sanitizer_cov_trace_pc_guard(i32* getelementptr inbounds ([6 x i32], [6 x i32]* @__sancov_gen_, i32 0, i32 0)) #7, !dbg !39
  tail call void @__sanitizer_cov_trace_pc_guard(ptr inttoptr (i64 add (i64 ptrtoint (ptr @__sancov_gen_.3 to i64), i64 4) to ptr)) #7
  call void @__sanitizer_cov_trace_pc_guard(ptr %4)
  call void @__sanitizer_cov_trace_const_cmp4(i32 0, i32 %2), !dbg !47
  call void @__sanitizer_cov_trace_switch(i64 %1, ptr @__sancov_gen_cov_switch_values)
  call void @__sanitizer_cov_trace_pc_indir(i64 %3)
declare void @__sanitizer_cov_trace_cmp8(i64 zeroext, i64 zeroext)
declare void @__sanitizer_cov_trace_div8(i64)
`
	const want = `
target triple = "x86_64-pc-linux-gnu"
  call void EDGE(i32* getelementptr inbounds ([6 x i32], [6 x i32]* @__sancov_gen_, i32 0, i32 0)) #7, !dbg !39
  tail call void EDGE(ptr inttoptr (i64 add (i64 ptrtoint (ptr @__sancov_gen_.3 to i64), i64 4) to ptr)) #7
  call void @__sanitizer_cov_trace_pc_guard(ptr %4)
  call preserve_allcc void @__sanitizer_cov_trace_const_cmp4(i32 0, i32 %2), !dbg !47
  call preserve_allcc void @__sanitizer_cov_trace_switch(i64 %1, ptr @__sancov_gen_cov_switch_values)
  call void @__sanitizer_cov_trace_pc_indir(i64 %3)
declare preserve_allcc void @__sanitizer_cov_trace_cmp8(i64 zeroext, i64 zeroext)
declare void @__sanitizer_cov_trace_div8(i64)
`
	if got, changed := inlineEdges([]byte(module)); !changed || strings.ReplaceAll(string(got), edge, "EDGE") != want {
		t.Errorf("%t\n%s", changed, got)
	}
	for _, other := range []string{"aarch64-linux-gnu", "x86_64-pc-linux-gnux32", "i386-pc-linux-gnu"} {
		text := strings.Replace(module, "x86_64-pc-linux-gnu", other, 1)
		if got, changed := inlineEdges([]byte(text)); changed || string(got) != text {
			t.Errorf("%s:\n%s", other, got)
		}
	}
}
