package coverage

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/system/scratch"
)

//go:embed c/runtime.c
var runtimeSource []byte

//go:embed c/compare.c
var compareSource []byte

//go:embed c/driver.c
var driverSource []byte

//go:embed c/hosted.c
var hostedSource []byte

// Hosted compiles the library that is loaded into a program with edge counters but no fork server,
// such as one built for libFuzzer.
func Hosted(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "thresh-cc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source := bytes.Join([][]byte{
		[]byte("#define _GNU_SOURCE\n#define EXPORT\n"), runtimeSource,
		[]byte("#define LLVMFuzzerTestOneInput hosted_test\n#define LLVMFuzzerInitialize hosted_initialize\n#define main hosted_driver\n"),
		driverSource, []byte("#undef main\n"), hostedSource,
	}, []byte("\n"))
	library := filepath.Join(dir, "hosted.so")
	var said bytes.Buffer
	code, err := run(ctx, compilerName(false), []string{"-shared", "-O2", "-fPIC", "-fvisibility=hidden", "-x", "c", "-o", library, "-", "-ldl"},
		bytes.NewReader(source), &said, &said)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, fmt.Errorf("the compiler ended with exit code %d: %s", code, bytes.TrimSpace(said.Bytes()))
	}
	return os.ReadFile(library)
}

func compilerName(cxx bool) string {
	name, other := "clang", os.Getenv("THRESH_CC")
	if cxx {
		name, other = "clang++", os.Getenv("THRESH_CXX")
	}
	if other != "" {
		return other
	}
	return name
}

// Compile runs a compiler with the arguments of a compiler command line: clang or clang++, unless
// THRESH_CC or THRESH_CXX names another clang. It returns the compiler's exit code.
func Compile(ctx context.Context, cxx bool, args []string, in io.Reader, out, diagnostics io.Writer) (int, error) {
	name := compilerName(cxx)
	line := plan(args)
	dir, err := scratch.Make("")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	if rest, code, ok := line.inlined(ctx, name, dir.Path, in, diagnostics); ok {
		if line.args = rest; code != 0 || rest == nil {
			return code, nil
		}
	}
	if line.links {
		sources := [][]byte{runtimeSource}
		if !line.plain {
			sources = append(sources, compareSource)
		}
		if line.driver {
			sources = append(sources, driverSource)
		}
		for i, source := range sources {
			object := filepath.Join(dir.Path, fmt.Sprintf("runtime%d.o", i))
			build := slices.Concat(line.target, []string{"-x", "c", "-O2", "-fPIC", "-fvisibility=hidden", "-c", "-o", object, "-"})
			// With -x c, clang++ compiles C.
			if code, err := run(ctx, name, build, bytes.NewReader(source), diagnostics, diagnostics); code != 0 || err != nil {
				return code, err
			}
			line.args = append(line.args, object)
		}
	}
	code, err := run(ctx, name, line.args, in, out, diagnostics)
	if code == 0 && err == nil && line.links {
		err = muteComparisons(line.output)
	}
	return code, err
}

// commandLine is a compiler's command line after planning.
type commandLine struct {
	args     []string
	options  []string // options for each source
	sources  []source
	target   []string // arguments that the runtime must also be compiled with
	plain    bool     // do not report comparisons
	links    bool     // it links a program
	compiles bool     // it only makes objects
	whole    bool     // the compiler must get the line unchanged
	driver   bool     // the program needs a main function
	output   string   // the linker's output
	named    bool     // the line names the output
	depends  []string // flags that request a list of headers
}

// flags are the flags of every compilation. They request coverage from the compiler proper
// (-Xclang): clang's own flag would link UBSan's runtime, whose signal handler turns crashes into
// exit codes.
var flags = []string{
	"-g", "-O2", "-Wno-unused-command-line-argument",
	"-Xclang", "-fsanitize-coverage-type=3", "-Xclang", "-fsanitize-coverage-trace-pc-guard",
	"-D__AFL_COMPILER=1", "-D__AFL_HAVE_MANUAL_CONTROL=1", "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1",
	`-D__AFL_LOOP(n)=({ static const char *volatile mark __attribute__((used, unused)) = "##SIG_AFL_PERSISTENT##"; ` +
		`int loop_(unsigned int) __asm__("__afl_persistent_loop"); loop_(n); })`,
	`-D__AFL_INIT()=do { static const char *volatile mark __attribute__((used, unused)) = "##SIG_AFL_DEFER_FORKSRV##"; ` +
		`void init_(void) __asm__("__afl_manual_init"); init_(); } while (0)`,
	"-D__AFL_FUZZ_INIT()=int __afl_sharedmem_fuzzing = 1; extern unsigned int *__afl_fuzz_len; extern unsigned char *__afl_fuzz_ptr; " +
		"unsigned char __afl_fuzz_alt[1048576], *__afl_fuzz_alt_ptr = __afl_fuzz_alt;",
	"-D__AFL_FUZZ_TESTCASE_BUF=(__afl_fuzz_ptr ? __afl_fuzz_ptr : __afl_fuzz_alt_ptr)",
	"-D__AFL_FUZZ_TESTCASE_LEN=(__afl_fuzz_ptr ? *__afl_fuzz_len : " +
		"(*__afl_fuzz_len = read(0, __afl_fuzz_alt_ptr, 1048576)) == 0xffffffff ? 0 : *__afl_fuzz_len)",
}

// comparing are the flags that make a program report what it compares, unless the command line has
// noComparisons. The arguments of the listed functions are reported, too, so they must remain
// calls.
var comparing = []string{
	"-Xclang", "-fsanitize-coverage-trace-cmp",
	"-fno-builtin-memcmp", "-fno-builtin-bcmp", "-fno-builtin-strcmp", "-fno-builtin-strncmp", "-fno-builtin-strcasecmp",
	"-fno-builtin-strncasecmp", "-fno-builtin-strstr", "-fno-builtin-strcasestr",
}

const noComparisons = "-fno-sanitize-coverage=trace-cmp"

// wraps makes the linker redirect these calls to the runtime's versions.
const wraps = "-Wl,--wrap=memcmp,--wrap=bcmp,--wrap=strcmp,--wrap=strncmp,--wrap=strcasecmp,--wrap=strncasecmp,--wrap=strstr,--wrap=strcasestr"

// separate lists flags whose value is the next argument.
var separate = []string{
	"-o", "-x", "-target", "-I", "-D", "-U", "-L", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "-MF", "-MT", "-MQ", "-l", "-u", "-e", "-z", "-T",
	"-Xlinker", "-Xclang", "-Xassembler", "-Xpreprocessor", "-mllvm", "-arch", "--param",
}

// plan analyzes the necessary part of a command line: what is compiled, whether a program is
// linked, and what -fsanitize requests.
func plan(args []string) commandLine {
	line := commandLine{links: len(args) > 0, output: "a.out"}
	inputs := 0
	var own []string
	language := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		if list, ok := strings.CutPrefix(a, "-fsanitize="); ok {
			rest := slices.DeleteFunc(strings.Split(list, ","), func(s string) bool {
				line.driver = line.driver || s == "fuzzer"
				return s == "fuzzer" || s == "fuzzer-no-link"
			})
			if len(rest) == 0 {
				continue
			}
			a = "-fsanitize=" + strings.Join(rest, ",")
		}
		whole := []string{a}
		if slices.Contains(separate, a) && i+1 < len(args) {
			i++
			whole = append(whole, args[i])
		}
		last := whole[len(whole)-1]
		option := true
		switch {
		case a == noComparisons:
			line.plain = true
			continue
		case a == "-c":
			line.links, line.compiles, option = false, true, false
		case slices.Contains([]string{"-S", "-E", "-M", "-MM", "-fsyntax-only", "-shared", "-r", "-v", "-V", "--version", "-###", "--help"}, a),
			strings.HasPrefix(a, "-print-"), strings.HasPrefix(a, "-dump"), strings.HasPrefix(a, "--print-"):
			line.links, line.whole = false, line.whole || a != "-shared"
		case a == "-m32" || a == "-m64" || strings.HasPrefix(a, "--target=") || strings.HasPrefix(a, "--sysroot="):
			line.target = append(line.target, a)
		case a == "-o" && len(whole) == 2:
			line.output, line.named, option = last, true, false
		case a == "-x":
			language, option = last, false
		case strings.HasPrefix(a, "-o"):
			line.output, line.named, option = a[2:], true, false
		case strings.HasPrefix(a, "-M"):
			line.depends, option = append(line.depends, whole...), false
		case a == "-emit-llvm", strings.HasPrefix(a, "-flto"), strings.HasPrefix(a, "-save-temps"), strings.HasPrefix(a, "@"), a == "-":
			line.whole = true
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			inputs++
			option = false
			if src := (source{at: len(own), language: language}); src.isCode(a) {
				line.sources = append(line.sources, src)
			}
		}
		if option {
			line.options = append(line.options, whole...)
		}
		own = append(own, whole...)
	}
	line.links = line.links && inputs > 0
	line.driver = line.driver && line.links
	line.args = slices.Clone(flags)
	if !line.plain {
		line.args = append(line.args, comparing...)
	}
	line.options = slices.Concat(line.args, line.options)
	for i := range line.sources {
		line.sources[i].at += len(line.args)
	}
	line.args = append(line.args, own...)
	if line.links {
		if !line.plain {
			line.args = append(line.args, wraps)
		}
		line.args = append(line.args, "-x", "none") // objects follow
	}
	return line
}

func run(ctx context.Context, name string, args []string, in io.Reader, out, diagnostics io.Writer) (int, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin, c.Stdout, c.Stderr = in, out, diagnostics
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	case errors.Is(err, exec.ErrNotFound):
		return 0, fmt.Errorf("%s is not installed; set THRESH_CC and THRESH_CXX to a clang of version 11 or later", name)
	case err != nil:
		return 0, fmt.Errorf("run %s: %w", name, err)
	}
	return 0, nil
}
