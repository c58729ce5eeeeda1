package app

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
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

// Limits for looking at a program.
const (
	lookTimeout  = 10 * time.Second
	lookAtMost   = 8 * time.Second // for all inputs together
	lookShare    = 4               // divisor: looking takes at most this part of the trial's time
	lookDamaged  = 300             // number of damaged inputs
	leastDamaged = 20              // number of them that are tried if the time is up,
	leastLook    = time.Second     // until they took this long
	lookMaxSeeds = 200
	fewFormats   = 2               // at most this many generated seeds accepted: the program is made for another format
	mostOpenings = 24              // number of inputs that get further
	openedLook   = 2 * time.Second // for the look at inputs found by open
)

// lookAtProgram runs a program on seeds and on damaged inputs, to learn which it accepts, how long
// that takes, and how it refuses.
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
	if err == nil && command.Guidable(words[0]) {
		f.Guided, f.Unguided = guided(ctx, words, f.Seeds[0].Data)
	}
	return f, err
}

// guided reports whether the coverage of an instrumented program can be measured, or why not.
func guided(ctx context.Context, words []string, seed []byte) (bool, string) {
	plan := planOf(words)
	plan.Executor, plan.Coverage, plan.Calibrate = process.Auto, true, seed
	r, err := command.Open(ctx, plan, 0, 1, false)
	if err == nil {
		_, err = r.Run(ctx, process.Case{RunID: "look", Input: seed})
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return false, err.Error()
	}
	return true, ""
}

var number = lazy.Pattern(`[0-9]+`)

var pythonName = lazy.Pattern(`^python[0-9.]*$`)

// realPython replaces an interpreter that only starts another one, such as the shims of version
// managers. Shims read the user's environment, which a case does not have, and take longer than the
// interpreter they start.
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

// probe runs a program or a module on one input after another.
type probe struct {
	run func(ctx context.Context, input []byte) (ended, error)
	end time.Time // of the look
}

func openRunner(ctx context.Context, words []string) (process.Runner, error) {
	r, err := command.Open(ctx, planOf(words), 0, 1, true)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", words[0], err)
	}
	return r, nil
}

func planOf(words []string) process.Plan {
	stdin := !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, draft.Mark) })
	return process.Plan{
		Command: func(p process.Paths) process.Command {
			argv := seq.Map(words, func(w string) string { return strings.ReplaceAll(w, draft.Mark, p.InputPath) })
			return process.Command{Path: argv[0], Argv: argv}
		},
		Input: "input/original.bin", OutDir: "out", Stdin: stdin, Timeout: lookTimeout,
		Limits: process.Limits{AddressSpace: 4 << 30, FileSize: 64 << 20, Output: 64 << 10}, Executor: process.Spawn,
	}
}

// ended is how a program handled an input.
type ended struct {
	cause   crash.Cause
	exit    int
	said    string // how it ended and what it printed, without numbers
	elapsed time.Duration
}

// accepted reports whether the program accepted the input.
func (e *ended) accepted() bool { return e.cause.Class == crash.ClassNone }

// words returns what a program said that ended with an exit code, without the paths of the case.
func (e *ended) words() string {
	_, text, _ := strings.Cut(e.cause.Title, ": ")
	return casePath().ReplaceAllString(text, draft.Mark)
}

var casePath = lazy.Pattern(`/[^\s:'"]*\bthresh-[^\s:'"]*`)

// crashed reports whether the input makes the program fail other than by an exit code or a limit.
func (e *ended) crashed() bool {
	switch e.cause.Class {
	case crash.ClassNone, crash.ClassExit, crash.ClassTimeout, crash.ClassOutputLimit, crash.ClassMemoryLimit, crash.ClassProcessLimit:
		return false
	}
	return true
}

// probeOf returns a probe that uses a runner.
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

// learn fills in what running the program shows. It takes at most its share of the trial's time;
// trial 0: no limit but lookAtMost.
func (p *probe) learn(ctx context.Context, f *draft.ProgramFacts, seeds []draft.Seed, trial time.Duration) error {
	most := lookAtMost
	if trial > 0 {
		most = min(most, trial/lookShare)
	}
	p.end = time.Now().Add(most)
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
			f.Refuse(e.exit, e.words())
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
				"give inputs that it accepts; in the command, their path is written "+draft.Mark+"; it gets none of your environment but what you put before it: env NAME=VALUE "+f.Command[0]+"; it starts in an empty folder: for this one, write ./")
		}
		f.Seeds = []draft.Seed{{Name: "seed.txt", Data: []byte("hello world\n")}}
		f.Slowest, sum = last.elapsed, last.elapsed
	}
	f.Usual = sum / time.Duration(len(f.Seeds))
	if f.Made && len(f.Seeds) == len(seeds) { // a program that accepts every seed looks closely at none
		f.Seeds = slices.DeleteFunc(f.Seeds, func(s draft.Seed) bool { return slices.Contains(s.Data, 0) })
	}
	slices.SortStableFunc(f.Seeds, func(x, y draft.Seed) int { return len(x.Data) - len(y.Data) })
	if f.Made {
		f.Seeds = slices.Concat(f.Seeds[len(f.Seeds)-1:], f.Seeds[:len(f.Seeds)-1]) // the most telling one first
	}
	f.Seeds = append(f.Seeds, crashing...)
	for _, w := range slices.Backward(f.Command) {
		if text, err := os.ReadFile(w); err == nil && len(text) > 0 && !strings.Contains(w, "/bin/") {
			f.Words = draft.Dictionary(text)
			f.Unsanitized = unsanitized(text)
			f.Unset = named(text, os.Environ())
			break
		}
	}
	if f.Made && len(seeds)-f.Refused <= fewFormats {
		if err := p.open(ctx, f); err != nil {
			return err
		}
	}
	return p.damaged(ctx, f)
}

// open looks for inputs that get further into a program that refuses nearly all generated seeds:
// inputs that it accepts or that crash it. It first tries inputs that begin with the program's own
// words. If the program accepted no seed at all, open goes on with mutations of the inputs it kept,
// and keeps one input per way of refusing them.
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
		case len(seen) > 0: // all others are refused as the first one is
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
		taken = nil // kept inputs must differ from the seeds
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
	p.end = time.Now().Add(openedLook) // for what follows
	return nil
}

// usualVariables are set in most environments, and named by many libraries.
var usualVariables = []string{"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"}

// named returns the variables of an environment that a program's file holds as words, other than
// the usual ones.
func named(file []byte, environ []string) []string {
	set := make(map[string]bool) // whether the file names it
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if variable().MatchString(name) && !slices.Contains(usualVariables, name) && !strings.HasPrefix(name, "LC_") {
			set[name] = false
		}
	}
	// One pass, as a program in Go or Rust has megabytes.
	for word := range bytes.FieldsFuncSeq(file, func(r rune) bool {
		return r != '_' && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}) {
		if _, ok := set[string(word)]; ok {
			set[string(word)] = true
		}
	}
	maps.DeleteFunc(set, func(_ string, found bool) bool { return !found })
	return slices.Sorted(maps.Keys(set))
}

// variable matches names long enough to stand in a file for the variable alone.
var variable = lazy.Pattern(`^[A-Z][A-Z0-9_]{3,}$`)

// unsanitized reports whether a file is a program built by a C or C++ compiler without a sanitizer.
// Programs in Go and Rust also name the C compiler, because of their start files.
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

// damaged learns with which exit codes the program refuses damaged inputs. It tries at least some,
// however long the seeds took: with none, every refusal would be a finding.
func (p *probe) damaged(ctx context.Context, f *draft.ProgramFacts) error {
	var corpus [][]byte
	for _, s := range f.Seeds {
		corpus = append(corpus, s.Data)
	}
	deep := bytemut.NewDeep(corpus, bytemut.DeepParams{MaxOps: -1}, big.NewInt(77))
	var buf bytemut.Buffer
	took := time.Duration(0)
	for i := range int64(lookDamaged) {
		input := []byte{}
		if i > 0 {
			input = deep.Case(i, &buf)
		}
		e, err := p.run(ctx, input)
		if err != nil {
			return fmt.Errorf("running it on a damaged input: %w", err)
		}
		if e.cause.Class == crash.ClassExit {
			f.Refuse(e.exit, e.words())
		}
		if took += e.elapsed; (i >= leastDamaged || took >= leastLook) && time.Now().After(p.end) {
			break
		}
	}
	return nil
}
