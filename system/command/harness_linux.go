package command

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/system/command/internal/aflserver"
	"github.com/thresh-dev/thresh/system/coverage"
	"golang.org/x/sys/unix"
)

// A harness is a function that takes one input, in a program whose main is that of
// a fuzzer. Such a main takes the files of inputs as arguments; without any it
// fuzzes by itself, or prints how it is used.

// suit looks what the program was built for, and has it run cases.
func (g *laneState) suit() (err error) {
	path := g.image.command.Path
	if g.features, err = aflserver.Detect(path); err != nil {
		return err
	}
	f := &g.features
	if f.Driver || f.LibFuzzer {
		g.image.file = true
		g.note("the program is a harness: it takes the input file as an argument")
	}
	if g.plan.Coverage && !f.Instrumented && (f.LibFuzzer || f.Counters || f.SanitizerCoverage) {
		if g.image.host, err = hosted(path, f.LibFuzzer); err != nil {
			return fmt.Errorf("its coverage cannot be measured: %w; compile it with thresh fuzzspec cc", err)
		}
		f.Instrumented, f.Deferred, f.Persistent, f.SanitizerCoverage = true, true, f.LibFuzzer, false
		g.note("the program has edge counters but no fork server: one is loaded into it")
	}
	if f.Counted && g.plan.Coverage {
		if g.work, err = aflserver.NewCounter(); err != nil {
			return err
		}
		g.image.host = append(g.image.host, g.work.Variable())
	}
	if g.image.file || g.image.host != nil {
		g.image.build(g.image.holdID)
	}
	return nil
}

// leadSize is how many bytes of a function lead it elsewhere: what is shorter is padded, if
// it begins where compilers have functions begin.
const leadSize = 12

// hosted is the variables that have a program serve cases by a library that is
// loaded into it. Where its counters and its function are, its file says.
func hosted(path string, harness bool) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counters, guards := f.Section("__sancov_cntrs"), f.Section("__sancov_guards")
	switch {
	case counters == nil && (guards == nil || f.Machine != elf.EM_X86_64):
		return nil, errors.New("it has no inline edge counters (-fsanitize-coverage=inline-8bit-counters)")
	case f.Section(".interp") == nil:
		return nil, errors.New("it is statically linked, so no library can be loaded into it")
	}
	var test, initializer, pass uint64
	own, _ := f.Symbols()
	shown, _ := f.DynamicSymbols()
	for _, s := range append(own, shown...) {
		switch {
		case s.Section == elf.SHN_UNDEF:
		case s.Name == "LLVMFuzzerTestOneInput":
			test = s.Value
		case s.Name == "LLVMFuzzerInitialize":
			initializer = s.Value
		case s.Name == "__sanitizer_cov_trace_pc_guard" && (s.Size >= leadSize || s.Value%16 == 0):
			pass = s.Value
		}
	}
	if !harness {
		test = 0
	} else if test == 0 {
		return nil, errors.New("LLVMFuzzerTestOneInput is not in its symbol table, which may have been stripped")
	}
	if counters != nil {
		pass = 0
	} else if counters = guards; pass == 0 {
		return nil, errors.New("__sanitizer_cov_trace_pc_guard is not in its symbol table, which may have been stripped")
	}
	library, err := hostLibrary()
	if err != nil {
		return nil, err
	}
	return []string{
		"LD_PRELOAD=" + library,
		fmt.Sprintf("__THRESH_HOSTED=%x:%x:%x:%x:%x", counters.Addr, counters.Size, test, initializer, pass),
	}, nil
}

// hostLibrary is the path of the library, which is compiled once and lives in
// memory, so that no end of this process leaves a file.
var hostLibrary = sync.OnceValues(func() (string, error) {
	text, err := coverage.Hosted(context.Background())
	if err != nil {
		return "", fmt.Errorf("compile the fork server: %w", err)
	}
	fd, err := unix.MemfdCreate("thresh-hosted", unix.MFD_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("keep the fork server in memory: %w", err)
	}
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		if err != nil {
			return "", fmt.Errorf("keep the fork server in memory: %w", err)
		}
		text = text[n:]
	}
	// It is as long for every process: the length of the environment decides addresses.
	return strings.ReplaceAll(fmt.Sprintf("/proc/%7d/fd/%7d", os.Getpid(), fd), " ", "/"), nil
})

// driverLines are what AFL++'s main for a harness prints around an input that it
// was given as a file, and not where it serves cases.
var driverLines = regexp.MustCompile(`(?m)^(Reading \d+ bytes from .*|Execution successful\.)\n`)
