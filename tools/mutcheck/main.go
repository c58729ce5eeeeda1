// Mutcheck measures tests: it changes one operator, constant, condition or
// result of a package at a time and looks whether the package's own short tests
// notice. A change that no test notices is a line that may be wrong unseen.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const usage = `usage: mutcheck [flags] PACKAGE|FILE|FILE:LINE...
       mutcheck [flags] -base REVISION [PACKAGE...]

PACKAGE is as go list takes it (./run/...), from the root of the module.
Exit code 1: fewer mutants were killed than -min asks for.
`

type settings struct {
	root   string
	sample int
	seed   uint64
	base   string
	equal  string
	min    float64
	budget time.Duration
	tests  string
	list   bool
}

func main() {
	var s settings
	flag.StringVar(&s.root, "C", "", "`root` of the module (default: that of the git work tree)")
	flag.IntVar(&s.sample, "n", 0, "try so many mutants, drawn at random (0: all)")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the draw")
	flag.StringVar(&s.base, "base", "", "try only lines that changed since this `revision`")
	flag.StringVar(&s.equal, "equal", "", "`file` of mutants that change nothing (default: tools/mutcheck/equivalent.txt)")
	flag.Float64Var(&s.min, "min", 0, "share in percent that must be killed")
	flag.DurationVar(&s.budget, "budget", 0, "start no mutant after this long (0: no limit)")
	flag.StringVar(&s.tests, "run", "", "only tests that match, as go test -run takes it")
	flag.BoolVar(&s.list, "list", false, "list the mutants and run nothing")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage); flag.PrintDefaults() }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := check(ctx, s, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutcheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// check tries mutants and reports whether enough of them were killed.
func check(ctx context.Context, s settings, args []string) (bool, error) {
	if s.root == "" {
		top, err := output(ctx, "", "git", "rev-parse", "--show-toplevel")
		if err != nil {
			return false, err
		}
		s.root = strings.TrimSpace(top)
	}
	list, err := choose(ctx, s, args)
	if err != nil {
		return false, err
	}
	equal, err := readEqual(cmp.Or(s.equal, filepath.Join(s.root, "tools/mutcheck/equivalent.txt")))
	if err != nil {
		return false, err
	}
	set := len(list)
	list = slices.DeleteFunc(list, func(m mutant) bool { return equal[m.name()] })
	set -= len(list)
	if s.sample > 0 && s.sample < len(list) {
		r := rand.New(rand.NewPCG(s.seed, 0))
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:s.sample]
		slices.SortFunc(list, func(a, b mutant) int { return cmp.Or(strings.Compare(a.file, b.file), a.lo-b.lo) })
	}
	if s.list {
		for _, m := range list {
			fmt.Println(&m)
		}
		return true, nil
	}
	t := &trial{s: s, ctx: ctx, limit: make(map[string]time.Duration), tally: make(map[string]*tally)}
	if t.dir, err = os.MkdirTemp("", "mutcheck-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(t.dir)
	begun := time.Now()
	left := 0
	for i := range list {
		if ctx.Err() != nil || s.budget > 0 && time.Since(begun) > s.budget {
			left = len(list) - i
			break
		}
		if err := t.try(&list[i]); err != nil {
			return false, err
		}
	}
	return t.report(set, left), nil
}

// trial tries mutants one after the other.
type trial struct {
	s     settings
	ctx   context.Context
	dir   string
	limit map[string]time.Duration // of a package's tests
	tally map[string]*tally
}

type tally struct{ killed, survived int }

// try runs a package's tests with one mutant in place of what stands there.
func (t *trial) try(m *mutant) error {
	dir := filepath.ToSlash(filepath.Dir(m.file))
	limit, known := t.limit[dir]
	if !known {
		begun := time.Now()
		if out, err := t.test(dir, "", 10*time.Minute); err != nil {
			return fmt.Errorf("the tests of %s fail as they are: %w\n%s", dir, err, out)
		}
		limit = 4*time.Since(begun) + 10*time.Second
		t.limit[dir] = limit
	}
	name := filepath.Join(t.s.root, filepath.FromSlash(m.file))
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed := slices.Concat(src[:m.lo], []byte(m.text), src[m.hi:])
	to := filepath.Join(t.dir, "mutant.go")
	if err := os.WriteFile(to, changed, 0o600); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: to}})
	if err != nil {
		return err
	}
	at := filepath.Join(t.dir, "overlay.json")
	if err := os.WriteFile(at, overlay, 0o600); err != nil {
		return err
	}
	out, err := t.test(dir, at, limit)
	if t.ctx.Err() != nil || bytes.Contains(out, []byte("[build failed]")) {
		return nil // no mutant of a program that can be built
	}
	c := t.tally[dir]
	if c == nil {
		c = &tally{}
		t.tally[dir] = c
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		c.survived++
		line := strings.TrimSpace(strings.Split(string(src), "\n")[m.line-1])
		fmt.Printf("SURVIVED %s\n\t%s\n", m, line)
	case errors.As(err, &exit):
		c.killed++
	default:
		return err
	}
	return nil
}

func (t *trial) test(dir, overlay string, limit time.Duration) ([]byte, error) {
	args := []string{"test", "-short", "-count=1", "-failfast", "-vet=off", "-timeout", limit.String()}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if t.s.tests != "" {
		args = append(args, "-run", t.s.tests)
	}
	ctx, cancel := context.WithTimeout(t.ctx, 2*limit+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+dir)...)
	cmd.Dir = t.s.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	return out.Bytes(), err
}

// report says how many mutants were killed, by package and in all.
func (t *trial) report(set, left int) bool {
	var all tally
	dirs := make([]string, 0, len(t.tally))
	for dir, c := range t.tally {
		dirs = append(dirs, dir)
		all.killed += c.killed
		all.survived += c.survived
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		c := t.tally[dir]
		fmt.Printf("%-28s %4d of %4d killed  %5.1f %%\n", dir, c.killed, c.killed+c.survived, c.share())
	}
	fmt.Printf("%-28s %4d of %4d killed  %5.1f %%; %d set aside as equivalent, %d not tried\n",
		"all", all.killed, all.killed+all.survived, all.share(), set, left)
	return all.share() >= t.s.min
}

func (c *tally) share() float64 {
	if c.killed+c.survived == 0 {
		return 100
	}
	return 100 * float64(c.killed) / float64(c.killed+c.survived)
}
