// Mutcheck measures tests: it changes one operator, constant, condition or result of a package at a
// time and checks whether the package's own short tests notice. A change that no test notices marks
// a line whose faults would go unseen.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
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
	few    int
	budget time.Duration
	tests  string
	list   bool
	jobs   int
}

func main() {
	var s settings
	flag.StringVar(&s.root, "C", "", "`root` of the module (default: that of the git work tree)")
	flag.IntVar(&s.sample, "n", 0, "try so many mutants, drawn at random (0: all)")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the draw")
	flag.StringVar(&s.base, "base", "", "try only lines that changed since this `revision`")
	flag.StringVar(&s.equal, "equal", "", "`file` of mutants that change nothing (default: tools/mutcheck/equivalent.txt)")
	flag.Float64Var(&s.min, "min", 0, "share in percent that must be killed")
	flag.IntVar(&s.few, "few", 0, "hold -min against this many mutants or more: a share of fewer says little")
	flag.DurationVar(&s.budget, "budget", 0, "start no mutant after this long (0: no limit)")
	flag.StringVar(&s.tests, "run", "", "only tests that match, as go test -run takes it")
	flag.IntVar(&s.jobs, "j", runtime.GOMAXPROCS(0), "try so many mutants at a time")
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
	slices.SortStableFunc(list, func(a, b mutant) int { return strings.Compare(path.Dir(a.file), path.Dir(b.file)) })
	if s.list {
		for _, m := range list {
			fmt.Println(&m)
		}
		return true, nil
	}
	return tryAll(ctx, s, list, set)
}

// tryAll tries mutants, one package after another.
func tryAll(ctx context.Context, s settings, list []mutant, set int) (bool, error) {
	begun := time.Now()
	end := func() bool { return s.budget > 0 && time.Since(begun) > s.budget }
	tallies := make(map[string]tally)
	left := 0
	for len(list) > 0 {
		dir := path.Dir(list[0].file)
		n := slices.IndexFunc(list, func(m mutant) bool { return path.Dir(m.file) != dir })
		if n < 0 {
			n = len(list)
		}
		if end() || ctx.Err() != nil {
			left += n
		} else {
			c, err := tryPackage(ctx, s, dir, list[:n:n], end)
			if err != nil && ctx.Err() == nil {
				return false, err
			}
			tallies[dir] = c
			left += c.left
			fmt.Fprintf(os.Stderr, "%-28s %4d of %4d killed  %5.1f %%  after %s\n",
				dir, c.killed, c.killed+c.survived, c.share(), time.Since(begun).Round(time.Second))
		}
		list = list[n:]
	}
	return report(s, tallies, set, left), nil
}

// report prints how many mutants were killed, by package and in total.
func report(s settings, tallies map[string]tally, set, left int) bool {
	var all tally
	for _, dir := range slices.Sorted(maps.Keys(tallies)) {
		c := tallies[dir]
		all.killed += c.killed
		all.survived += c.survived
		fmt.Printf("%-28s %4d of %4d killed  %5.1f %%\n", dir, c.killed, c.killed+c.survived, c.share())
	}
	fmt.Printf("%-28s %4d of %4d killed  %5.1f %%; %d set aside as equivalent, %d not tried\n",
		"all", all.killed, all.killed+all.survived, all.share(), set, left)
	return all.share() >= s.min || all.killed+all.survived < s.few
}
