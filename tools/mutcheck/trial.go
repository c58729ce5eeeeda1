package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tally counts the results of mutants.
type tally struct{ killed, survived, left int }

func (c *tally) share() float64 {
	if c.killed+c.survived == 0 {
		return 100
	}
	return 100 * float64(c.killed) / float64(c.killed+c.survived)
}

// test is one test of a package: its duration and the code it runs.
type test struct {
	name   string
	took   time.Duration
	blocks map[string][]block // by the file's base name
}

type block struct{ fromLine, fromCol, toLine, toCol int }

func (b block) holds(line, col int) bool {
	return (line > b.fromLine || line == b.fromLine && col >= b.fromCol) && (line < b.toLine || line == b.toLine && col <= b.toCol)
}

// trial tries the mutants of one package.
type trial struct {
	s     settings
	ctx   context.Context
	dir   string // of the package, from the root
	tmp   string
	tests []test
	bin   string
}

// tryPackage tries a package's mutants: it compiles the tests twice, once to learn which test runs
// which lines, and once with all mutants.
func tryPackage(ctx context.Context, s settings, dir string, list []mutant, end func() bool) (tally, error) {
	var c tally
	tmp, err := os.MkdirTemp("", "mutcheck-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(tmp)
	t := &trial{s: s, ctx: ctx, dir: dir, tmp: tmp}
	if err := t.measure(); err != nil {
		return c, err
	}
	p, err := compile(ctx, s.root, dir, tmp, list)
	if err != nil {
		return c, err
	}
	t.bin = p.bin
	if err := t.sound(); err != nil {
		return c, err
	}
	noticed := make([]bool, len(list))
	tried := make([]bool, len(list))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(s.jobs, 1) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) || ctx.Err() != nil || end() {
					return
				}
				if !p.left[i+1] {
					noticed[i] = t.try(i+1, &list[i])
					tried[i] = ctx.Err() == nil
				}
			}
		})
	}
	wg.Wait()
	for i := range list {
		switch m := &list[i]; {
		case noticed[i]:
			c.killed++
		case tried[i]:
			c.survived++
			fmt.Printf("SURVIVED %s\n\t%s\n", m, lineOf(s.root, m))
		case !p.left[i+1]:
			c.left++
		}
	}
	return c, nil
}

func lineOf(root string, m *mutant) string {
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(strings.Split(string(src), "\n")[m.line-1])
}

// measure runs each test alone and records the lines it runs.
func (t *trial) measure() error {
	bin := filepath.Join(t.tmp, "cover.test")
	said, err := goTest(t.ctx, t.s.root, "-c", "-o", bin, "-cover", "-covermode=set", "-coverpkg=./"+t.dir, "./"+t.dir)
	if err != nil {
		return fmt.Errorf("building the tests of %s: %w\n%s", t.dir, err, said)
	}
	if _, err := os.Stat(bin); err != nil {
		return fmt.Errorf("%s has no tests", t.dir)
	}
	pattern := cmp.Or(t.s.tests, ".")
	out, _, err := t.run(bin, 0, 0, "-test.list", pattern)
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w\n%s", t.dir, err, out)
	}
	t.tests = nil
	for name := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
			t.tests = append(t.tests, test{name: name})
		}
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, len(t.tests))
	for range max(t.s.jobs, 1) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(t.tests) && t.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				errs[i] = t.measureOne(bin, &t.tests[i])
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(t.ctx.Err(), errors.Join(errs...)); err != nil {
		return err
	}
	slices.SortStableFunc(t.tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return nil
}

func (t *trial) measureOne(bin string, at *test) error {
	profile := filepath.Join(t.tmp, at.name+".cover")
	out, took, err := t.run(bin, 0, 0, "-test.run", "^"+at.name+"$", "-test.coverprofile", profile)
	if err != nil {
		return fmt.Errorf("%s of %s fails as it is: %w\n%s", at.name, t.dir, err, out)
	}
	at.took = took
	data, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	at.blocks = parseProfile(string(data))
	return os.Remove(profile)
}

var profileLine = regexp.MustCompile(`^.*/([^/]+\.go):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

// parseProfile returns the blocks that ran.
func parseProfile(text string) map[string][]block {
	blocks := make(map[string][]block)
	for line := range strings.Lines(text) {
		m := profileLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || m[6] == "0" {
			continue
		}
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2])
		}
		blocks[m[1]] = append(blocks[m[1]], block{n[0], n[1], n[2], n[3]})
	}
	return blocks
}

// sound rejects tests that fail although no mutant is selected.
func (t *trial) sound() error {
	var names []string
	for i := range t.tests {
		names = append(names, t.tests[i].name)
	}
	out, _, err := t.run(t.bin, 0, 0, "-test.run", pattern(names))
	if err != nil {
		return fmt.Errorf("the tests of %s fail with the mutants compiled in, but none chosen: %w\n%s", t.dir, err, out)
	}
	return nil
}

func pattern(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// try reports whether a test notices a mutant. Among the tests that run its place, the quick ones
// come first.
func (t *trial) try(number int, m *mutant) bool {
	covers := t.covering(m, func(b block) bool { return b.holds(m.line, m.col) })
	if covers == nil {
		// Conditions of a case belong to no block: use every test that runs the function.
		covers = t.covering(m, func(b block) bool { return b.toLine >= m.from && b.fromLine <= m.to })
	}
	for len(covers) > 0 {
		// Together, the tests of a stage take at most four times as long as the first one, or a moment.
		n, sum := 1, covers[0].took
		for n < len(covers) && sum+covers[n].took < max(100*time.Millisecond, covers[0].took*4) {
			sum += covers[n].took
			n++
		}
		names := make([]string, n)
		for i := range names {
			names[i] = covers[i].name
		}
		if _, _, err := t.run(t.bin, number, sum, "-test.failfast", "-test.run", pattern(names)); err != nil {
			return true
		}
		covers = covers[n:]
	}
	return false
}

func (t *trial) covering(m *mutant, is func(block) bool) []test {
	var list []test
	for i := range t.tests {
		if slices.ContainsFunc(t.tests[i].blocks[filepath.Base(m.file)], is) {
			list = append(list, t.tests[i])
		}
	}
	return list
}

// run runs tests as one mutant, or as none. Processor time limits a mutant that computes far longer
// than its tests took; the clock limits one that waits.
func (t *trial) run(bin string, number int, took time.Duration, args ...string) ([]byte, time.Duration, error) {
	tmp, err := os.MkdirTemp(t.tmp, "run-")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(tmp)
	if err := errors.Join(os.Chmod(t.tmp, 0o755), os.Chmod(tmp, 0o755)); err != nil { // for tests that drop privileges
		return nil, 0, err
	}
	limit := 10 * time.Minute
	if number > 0 {
		limit = 10*took + 20*time.Second
	}
	ctx, cancel := context.WithTimeout(t.ctx, limit)
	defer cancel()
	all := append([]string{bin, "-test.short", "-test.timeout", "0"}, args...)
	if number > 0 {
		limits := fmt.Sprintf(`ulimit -t %d; ulimit -d 3000000; exec "$@"`, int(4*took.Seconds())+3)
		all = append([]string{"sh", "-c", limits, "sh"}, all...)
	}
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir = filepath.Join(t.s.root, filepath.FromSlash(t.dir))
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, number), "TMPDIR="+tmp, "GOCOVERDIR="+tmp) // the coverage of programs that tests start from themselves is discarded
	alone(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	begun := time.Now()
	err = cmd.Run()
	return out.Bytes(), time.Since(begun), err
}
