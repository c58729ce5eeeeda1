package fuzzspec

import (
	"context"
	"errors"
	"io"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
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
		Summary: "Compile a program for --guided, as clang would (thresh help fuzzspec " + name + ")",
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
