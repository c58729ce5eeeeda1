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

// A harness is a function that takes one input, in a program whose main function is a fuzzer's.
// Such a main takes input files as arguments; without any it starts fuzzing or prints its usage.

// suit detects how the program was built and adapts the command so that it runs cases.
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

// leadSize is the number of bytes needed to redirect a function. A shorter function is padded if it
// begins at the compiler's usual alignment.
const leadSize = 12

// hosted returns the environment variables that make a program serve cases through a preloaded
// library. The program's ELF file gives the places of its counters and its functions.
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

// hostLibrary returns the library's path. The library is compiled once and kept in memory, so this
// process leaves no file however it ends.
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
	// The path has the same length for every process, because the length of the environment affects
	// addresses.
	return strings.ReplaceAll(fmt.Sprintf("/proc/%7d/fd/%7d", os.Getpid(), fd), " ", "/"), nil
})

// driverLines matches what AFL++'s harness driver prints around an input given as a file, but not
// when it serves cases.
var driverLines = regexp.MustCompile(`(?m)^(Reading \d+ bytes from .*|Execution successful\.)\n`)
