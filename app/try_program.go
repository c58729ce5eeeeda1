package app

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command"
)

// What looking at a program may take.
const (
	lookTimeout  = 10 * time.Second
	lookAtMost   = 8 * time.Second // for all inputs together
	lookShare    = 4               // at most one part in so many of the time that a trial may take
	lookDamaged  = 300             // inputs
	lookMaxSeeds = 200
	fewFormats   = 2               // of which a program takes inputs, if it is made for another one
	mostOpenings = 24              // inputs that get further
	openedLook   = 2 * time.Second // at inputs of which there are no seeds, after the rest
)

// lookAtProgram runs a program on seeds and on damaged inputs, to learn which it
// takes, how long that takes, and how it refuses.
func (a *App) lookAtProgram(ctx context.Context, t *Try, thing *draft.Thing, folder string) (*draft.ProgramFacts, error) {
	if file := thing.Words[0]; filepath.Ext(file) == ".py" && len(thing.Words) == 1 {
		if st, err := os.Stat(file); err != nil || st.Mode()&0o111 == 0 {
			return nil, couldBe(file)
		}
	}
	words, err := absoluteWords(thing.Words)
	if err != nil {
		return nil, err
	}
	if err := realPython(ctx, words); err != nil {
		return nil, err
	}
	f := &draft.ProgramFacts{Name: thing.Name(), Folder: folder, Command: words, Lanes: t.Lanes}
	if _, reason := fuzzspec.ResolveExecutable(fuzzspec.Disk{}, words[0], nil); reason != "" {
		if _, reason = fuzzspec.ResolveExecutable(fuzzspec.Disk{}, words[0], words[:1]); reason != "" {
			err := diag.Refused("the program %s %s", words[0], reason)
			if reason == fuzzspec.ReasonNoExec {
				err = diag.WithHint(err, "chmod +x "+thing.Words[0]+", or name its interpreter: thresh try sh "+thing.Words[0]+" "+draft.Mark)
			}
			return nil, err
		}
		f.Allow = words[0]
	}
	seeds, err := readSeeds(t.Seeds)
	if err != nil {
		return nil, err
	}
	if f.Made = len(t.Seeds) == 0; f.Made {
		seeds = draft.Seeds()
	}
	runner, err := openRunner(ctx, words)
	if err != nil {
		return nil, err
	}
	err = probeOf(runner).learn(ctx, f, seeds, t.Time)
	if cerr := runner.Close(); err == nil && cerr != nil {
		err = diag.Environment("leaving %s: %w", words[0], cerr)
	}
	return f, err
}

var number = lazy.Pattern(`[0-9]+`)

var pythonName = lazy.Pattern(`^python[0-9.]*$`)

// realPython replaces an interpreter that stands for another one, as the shims of
// version managers do: they read the user's environment, which a case has not,
// and take longer than what they start.
func realPython(ctx context.Context, words []string) error {
	if !pythonName().MatchString(filepath.Base(words[0])) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out, err := exec.CommandContext(limited, words[0], "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return diag.Refused("the interpreter %s does not start: %w", words[0], err)
	}
	if path := strings.TrimSpace(string(out)); filepath.IsAbs(path) {
		words[0] = path
	}
	return nil
}

// probe runs a program, or a module, on one input after the other.
type probe struct {
	run func(ctx context.Context, input []byte) (ended, error)
	end time.Time // of the look
}

func openRunner(ctx context.Context, words []string) (process.Runner, error) {
	stdin := !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, draft.Mark) })
	plan := process.Plan{
		Command: func(p process.Paths) process.Command {
			argv := seq.Map(words, func(w string) string { return strings.ReplaceAll(w, draft.Mark, p.InputPath) })
			return process.Command{Path: argv[0], Argv: argv}
		},
		Input: "input/original.bin", OutDir: "out", Stdin: stdin, Timeout: lookTimeout,
		Limits: process.Limits{AddressSpace: 4 << 30, FileSize: 64 << 20, Output: 64 << 10}, Executor: process.Spawn,
	}
	r, err := command.Open(ctx, plan, 0, 1, true)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", words[0], err)
	}
	return r, nil
}

// ended is how a program took an input.
type ended struct {
	cause   crash.Cause
	exit    int
	said    string // how it ended and what it printed, without numbers
	elapsed time.Duration
}

// accepted reports whether the input was taken.
func (e *ended) accepted() bool { return e.cause.Class == crash.ClassNone }

// crashed reports whether the input makes the program fail otherwise than by its exit code or a limit.
func (e *ended) crashed() bool {
	switch e.cause.Class {
	case crash.ClassNone, crash.ClassExit, crash.ClassTimeout, crash.ClassOutputLimit, crash.ClassMemoryLimit, crash.ClassProcessLimit:
		return false
	}
	return true
}

// probeOf runs what a runner runs.
func probeOf(runner process.Runner) *probe {
	cases := int64(0)
	return &probe{run: func(ctx context.Context, input []byte) (ended, error) {
		res, err := runner.Run(ctx, process.Case{Index: cases, RunID: fmt.Sprintf("look-%d", cases), Input: input})
		cases++
		if err != nil {
			return ended{}, err
		}
		e := ended{elapsed: res.Elapsed}
		d := crash.Death{TimedOut: res.Status == process.TimedOut, OutputLimit: res.OutputLimit, Stderr: res.Stderr, Stdout: res.Stdout}
		switch res.Status {
		case process.Exited:
			d.ExitCode, e.exit = res.ExitCode, res.ExitCode
		case process.Signaled:
			d.Signal = res.Signal
		}
		e.cause = crash.Analyze(d)
		e.said = number().ReplaceAllString(fmt.Sprintf("%s %s %s", e.cause.Title, d.Stderr[:min(len(d.Stderr), 200)], d.Stdout[:min(len(d.Stdout), 200)]), "")
		return e, nil
	}}
}

// learn fills in what running the program shows, for its share of the time that the trial may
// take; 0: it may take any.
func (p *probe) learn(ctx context.Context, f *draft.ProgramFacts, seeds []draft.Seed, trial time.Duration) error {
	most := lookAtMost
	if trial > 0 {
		most = min(most, trial/lookShare)
	}
	p.end = time.Now().Add(most)
	var exits []int
	var last ended
	var sum time.Duration
	var crashing []draft.Seed
	for i, s := range seeds {
		if i == lookMaxSeeds || len(f.Seeds) > 0 && time.Now().After(p.end) {
			break
		}
		e, err := p.run(ctx, s.Data)
		if err != nil {
			return fmt.Errorf("running %s: %w", f.Command[0], err)
		}
		switch {
		case e.accepted():
			f.Seeds, f.Slowest, sum = append(f.Seeds, s), max(f.Slowest, e.elapsed), sum+e.elapsed
		case e.cause.Class == crash.ClassExit:
			exits = append(exits, e.exit)
		}
		if last = e; e.crashed() && !f.Made {
			crashing = append(crashing, s)
			f.Crash = cmp.Or(f.Crash, s.Name+": "+e.cause.Title)
		} else if !e.accepted() {
			f.Refused++
		}
	}
	if len(f.Seeds) == 0 && len(crashing) > 0 {
		f.Seeds, crashing, f.Slowest, sum = crashing, nil, last.elapsed, last.elapsed
	}
	if len(f.Seeds) == 0 {
		if !f.Made {
			return diag.WithHint(diag.Refused("%s accepts none of the seeds: %s", f.Command[0], last.cause.Title),
				"give inputs that it accepts; in the command, their path is written "+draft.Mark)
		}
		f.Seeds = []draft.Seed{{Name: "seed.txt", Data: []byte("hello world\n")}}
		f.Slowest, sum = last.elapsed, last.elapsed
	}
	f.Usual = sum / time.Duration(len(f.Seeds))
	if f.Made && len(f.Seeds) == len(seeds) { // it looks at none of them closely
		f.Seeds = slices.DeleteFunc(f.Seeds, func(s draft.Seed) bool { return slices.Contains(s.Data, 0) })
	}
	slices.SortStableFunc(f.Seeds, func(x, y draft.Seed) int { return len(x.Data) - len(y.Data) })
	if f.Made {
		f.Seeds = slices.Concat(f.Seeds[len(f.Seeds)-1:], f.Seeds[:len(f.Seeds)-1]) // the one that shows most
	}
	f.Seeds = append(f.Seeds, crashing...)
	for _, w := range slices.Backward(f.Command) {
		if text, err := os.ReadFile(w); err == nil && len(text) > 0 && !strings.Contains(w, "/bin/") {
			f.Words = draft.Dictionary(text)
			f.Unsanitized = unsanitized(text)
			break
		}
	}
	if f.Made && len(seeds)-f.Refused <= fewFormats {
		if err := p.open(ctx, f); err != nil {
			return err
		}
	}
	more, err := p.damaged(ctx, f.Seeds)
	f.Exits = slices.Compact(slices.Sorted(slices.Values(append(exits, more...))))
	return err
}

// open looks for inputs that get further into a program that refuses nearly all seeds that were
// made: those that it takes, or that end it. First come inputs that begin with its own words. If it
// took no seed at all, then what mutation makes of those that were kept, and one input for each
// way in which it refuses them.
func (p *probe) open(ctx context.Context, f *draft.ProgramFacts) error {
	var taken, further []draft.Seed
	var corpus [][]byte
	seen := make(map[string]bool)
	keep := func(s draft.Seed) error {
		e, err := p.run(ctx, s.Data)
		switch {
		case err != nil:
			return fmt.Errorf("running %s: %w", f.Command[0], err)
		case seen[e.said]:
			return nil
		case e.accepted() || e.crashed():
			taken = append(taken, s)
		case len(seen) > 0: // the first is refused as all are
			further = append(further, s)
		}
		seen[e.said], corpus = true, append(corpus, s.Data)
		return nil
	}
	openings, none := draft.Openings(f.Words), f.Refused == len(draft.Seeds())
	if none {
		openings = append(slices.Clone(f.Seeds), openings...)
	} else {
		for _, s := range f.Seeds {
			if err := keep(s); err != nil {
				return err
			}
		}
		taken = nil // but those that follow are like none of them
	}
	deep := bytemut.NewDeep([][]byte{f.Seeds[0].Data}, bytemut.DeepParams{MaxOps: -1}, big.NewInt(78))
	var buf bytemut.Buffer
	for i := 0; time.Now().Before(p.end) && len(taken)+len(further) < mostOpenings && (none || i < len(openings)); i++ {
		s := draft.Seed{Name: fmt.Sprintf("opening-%d.bin", i)}
		if i < len(openings) {
			s.Data = openings[i].Data
		} else {
			s.Data = bytes.Clone(deep.CaseOf(corpus, int64(i), &buf))
		}
		if err := keep(s); err != nil {
			return err
		}
	}
	f.Opened = len(taken)
	if list := append(taken, further...); !none {
		f.Seeds = append(f.Seeds, taken...)
	} else if len(list) > 0 {
		f.Seeds = list
	}
	p.end = time.Now().Add(openedLook) // for what comes after
	return nil
}

// unsanitized reports whether a file is a program from a compiler of C or C++ that
// has no sanitizer in it. What Go and Rust made names the C compiler of its start
// files too.
func unsanitized(file []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return false
	}
	s := f.Section(".comment")
	if s == nil {
		return false
	}
	comment, _ := s.Data() // a damaged file names no compiler
	if !bytes.Contains(comment, []byte("GCC: ")) && !bytes.Contains(comment, []byte("clang version ")) {
		return false
	}
	for _, sign := range []string{"__asan_", "__hwasan_", "__msan_", "__tsan_", "__ubsan_", "/rustc/", "\xff Go buildinf:"} {
		if bytes.Contains(file, []byte(sign)) {
			return false
		}
	}
	return true
}

// damaged are the exit codes with which the program refuses damaged inputs.
func (p *probe) damaged(ctx context.Context, seeds []draft.Seed) (exits []int, err error) {
	var corpus [][]byte
	for _, s := range seeds {
		corpus = append(corpus, s.Data)
	}
	deep := bytemut.NewDeep(corpus, bytemut.DeepParams{MaxOps: -1}, big.NewInt(77))
	var buf bytemut.Buffer
	for i := range int64(lookDamaged) {
		input := []byte{}
		if i > 0 {
			input = deep.Case(i, &buf)
		}
		e, err := p.run(ctx, input)
		if err != nil {
			return nil, fmt.Errorf("running it on a damaged input: %w", err)
		}
		if e.cause.Class == crash.ClassExit {
			exits = append(exits, e.exit)
		}
		if time.Now().After(p.end) {
			break
		}
	}
	return exits, nil
}
