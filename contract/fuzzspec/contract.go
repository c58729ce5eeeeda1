package fuzzspec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// Contract implements [campaign.Contract]. It runs programs through a given opener.
type Contract struct {
	open    process.Opener
	disk    FS
	systems sut.Opener // nil: --system cannot be used
	compile compiler   // nil: there is no compiler
}

// New returns FuzzSpec v1.
func New(open process.Opener) *Contract { return &Contract{open: open, disk: Disk{}} }

// Name implements [campaign.Contract].
func (*Contract) Name() string { return "fuzzspec" }

// Summary implements [campaign.Contract].
func (*Contract) Summary() string {
	return "crash a program with changed input (FuzzSpec v1)"
}

// Detect implements [campaign.Contract]: a JSON object with a schema_version of the format, even
// one that cannot be parsed to its end, so that its faults are reported as those of a FuzzSpec.
func (*Contract) Detect(s campaign.Spec) bool {
	text := bytes.TrimLeft(s.Data, " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	if bytes.Contains(text, []byte(`"llmfuzz.fuzzspec`)) {
		return true
	}
	for _, key := range []string{`"campaign_id"`, `"target"`, `"seed"`, `"mutations"`} {
		if !bytes.Contains(text, []byte(key)) {
			return false
		}
	}
	return true
}

// Names of the options. The last three have no flag on the common verbs: the format's own commands
// set them.
const (
	optMutators  = "mutators"
	optDict      = "dict"
	optGrammar   = "grammar"
	optCorpus    = "corpus"
	optGuided    = "guided"
	optRound     = "round"
	optExecutor  = "executor"
	optSandbox   = "sandbox"
	optAllowExec = "allow-exec"
	optOKExit    = "ok-exit"
	optOKReports = "ok-reports"
	optOutputs   = "outputs"
	optInput     = "input"
	optKeep      = "keep"
	optTimeout   = "timeout-s"
	optMemory    = "memory-limit"
	optFileSize  = "file-limit"
	optWritten   = "write-limit"
	optTwin      = "twin"
	optAlso      = "also"
	optCmplog    = "cmplog"

	OptCampaignID = "campaign-id" // names the run and campaign folders
	OptStartIndex = "start-index" // first case index
	OptCount      = "count"       // number of cases from there
)

// Options implements [campaign.Contract].
func (*Contract) Options() []campaign.Option {
	return []campaign.Option{
		{Name: optSystem, Path: true, Usage: "test the system in this `FILE` instead of the one in the document"},
		{Name: optMutators, Values: []string{"reference", "deep", "text", "auto"}, Default: "reference", Usage: "how cases are made: reference (as the contract defines it); deep (dictionary, integers, blocks, splices, tokens, JSON and XML); text (the operators for texts); auto (by the seed)"},
		{Name: optGrammar, Path: true, Usage: "a language for the deep mutators, as rules in a `FILE`"},
		{Name: optDict, Many: true, Path: true, Usage: "tokens for the deep mutators, an AFL dictionary `FILE`"},
		{Name: optCorpus, Many: true, Path: true, Usage: "further seeds for the deep mutators: every file in `FOLDER`"},
		{Name: optGuided, Bool: true, Usage: "keep inputs that reach new code (needs a program built with thresh fuzzspec cc, or afl-clang-fast or -lto; implies deep)"},
		{Name: optRound, Values: []string{"64", "256"}, Default: "64", Usage: "cases of a guided campaign between two looks at what they reached; 256 keeps more than four workers busy"},
		{Name: optExecutor, Values: []string{"auto", "spawn", "zygote", "afl"}, Default: "auto", Usage: "how processes are started; the others are checked against spawn"},
		{Name: optSandbox, Bool: true, Usage: "no network, read-only files, own process ids, where the kernel allows it"},
		{Name: optAllowExec, Many: true, Usage: "allow the program at the absolute `PATH`, which is outside the allowlist"},
		{Name: optOKExit, Many: true, Usage: "exit `CODES` that are not failures, such as 1,2"},
		{Name: optOKReports, Bool: true, Usage: "with these exit codes, and with 0, a runtime's report of an uncaught exception is not a failure either: the program prints exceptions that it handled"},
		{Name: optOutputs, Values: []string{"auto", "require", "ignore"}, Default: "auto", Usage: "JSON files in the out folder: required if the seed gives some, always, never"},
		{Name: optInput, Values: []string{"auto", "file", "stdin"}, Default: "auto", Usage: "how the input reaches the program; auto: on standard input as well if the command names no <input_path>"},
		{Name: optKeep, Values: []string{"failures", "all", "none"}, Default: "failures", Usage: "cases whose folder below work_root_base is kept"},
		{Name: optTimeout, Usage: "`SECONDS` a case may take, in place of the document's"},
		{Name: optMemory, Default: "4GiB", Usage: "limit of a case's address space, such as 512MiB; 0: none"},
		{Name: optFileSize, Default: "64MiB", Usage: "limit of each file a case writes, output included; 0: 128MiB"},
		{Name: optWritten, Usage: "limit of everything a case writes, such as 1GiB; 0: none (default: four times --file-limit)"},
		{Name: optTwin, Path: true, Program: true, NoPath: valgrind, Usage: "run each finding's input on the instrumented build `BINARY` too (ASan, UBSan, MSan; or valgrind), whose report upgrades it"},
		{Name: optAlso, Path: true, Program: true, NoPath: valgrind, Usage: "run inputs that flood or time out on the instrumented build `BINARY` too; a crash there makes a separate finding"},
		{Name: optCmplog, Path: true, Program: true, Usage: "guided campaigns learn from what `BINARY` compares, the program's build with AFL_LLVM_CMPLOG=1 (afl-fuzz -c)"},
	}
}

// Starter implements [campaign.Contract].
func (*Contract) Starter(dir string) []campaign.File { return Starter(dir) }

// Chooses implements [campaign.Chooser]: it skips the copy of the document in every run folder.
func (*Contract) Chooses(_, path string, _ campaign.Settings) campaign.Choice {
	copied := strings.HasSuffix(filepath.ToSlash(path), "/"+fileSpec)
	return campaign.Choice{Taken: !copied, Left: copied}
}

var (
	_ campaign.Contract = (*Contract)(nil)
	_ campaign.Chooser  = (*Contract)(nil)
)

// compiler compiles programs for guided campaigns; args are the command line of
// a C or C++ compiler.
type compiler func(ctx context.Context, cxx bool, args []string, in io.Reader, out, diagnostics io.Writer) (exitCode int, err error)

// Compiler sets what thresh fuzzspec cc and c++ compile with.
func (k *Contract) Compiler(compile compiler) *Contract {
	k.compile = compile
	return k
}

func (k *Contract) ccCommand(name string) campaign.Command {
	return campaign.Command{
		Use:     name + " [ARGUMENT...]",
		Summary: "Compile for --guided as clang does",
		Long: `Compiles and links as clang does (clang++ for c++), with a count of every edge that
the program takes. --guided learns from these counts, and ends a case that takes too
many of them, without a clock. It also learns what the program compares
(-fno-sanitize-coverage=trace-cmp leaves that out). All arguments are the compiler's.

Macros __AFL_LOOP, __AFL_INIT and __AFL_FUZZ_TESTCASE_BUF work as in AFL++, and
-fsanitize=fuzzer adds a main for LLVMFuzzerTestOneInput. afl-fuzz and afl-showmap
run such programs too. THRESH_CC and THRESH_CXX name another clang.`,
		Example: `  thresh fuzzspec cc -o tool tool.c
  make CC="thresh fuzzspec cc" CXX="thresh fuzzspec c++"
  thresh fuzzspec c++ -fsanitize=fuzzer,address -o harness harness.cc parser.cc`,
		Least: 0, Most: -1, Raw: true,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			if k.compile == nil {
				return errors.New("this build of Thresh has no compiler")
			}
			code, err := k.compile(ctx, name == "c++", args, d.In(), d.Out(), d.Err())
			if err != nil || code == 0 {
				return err
			}
			return diag.ExitError(code)
		},
	}
}
