package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// choose lists the requested mutants.
func choose(ctx context.Context, s settings, args []string) ([]mutant, error) {
	var packages []string
	files := make(map[string]map[int]bool) // lines; nil: all
	for _, a := range args {
		name, at, _ := strings.Cut(a, ":")
		if !strings.HasSuffix(name, ".go") {
			packages = append(packages, a)
			continue
		}
		name = strings.TrimPrefix(name, "./")
		if at == "" {
			files[name] = nil
			continue
		}
		line, err := strconv.Atoi(at)
		if err != nil {
			return nil, fmt.Errorf("%s: a line is a number", a)
		}
		if files[name] == nil {
			files[name] = make(map[int]bool)
		}
		files[name][line] = true
	}
	if s.base != "" && len(args) == 0 {
		packages = []string{"./..."}
	}
	if len(packages) > 0 {
		listed, err := listFiles(ctx, s.root, packages)
		if err != nil {
			return nil, err
		}
		for _, name := range listed {
			files[name] = nil
		}
	}
	if s.base != "" {
		changed, err := changedLines(ctx, s.root, s.base)
		if err != nil {
			return nil, err
		}
		for name := range files {
			if changed[name] == nil {
				delete(files, name)
			} else {
				files[name] = changed[name]
			}
		}
	} else if len(files) == 0 {
		return nil, errors.New("name packages or files, or a -base (-h for help)")
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []mutant
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		all, err := mutants(name, src)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if files[name] == nil || files[name][m.line] {
				list = append(list, m)
			}
		}
	}
	return list, nil
}

// listFiles returns the files of packages that have tests and are built here.
func listFiles(ctx context.Context, root string, packages []string) ([]string, error) {
	out, err := output(ctx, root, "go", append([]string{"list", "-json=Dir,GoFiles,TestGoFiles,XTestGoFiles"}, packages...)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			Dir                                string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); err == io.EOF {
			return names, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			fmt.Fprintf(os.Stderr, "mutcheck: %s has no tests of its own\n", p.Dir)
			continue
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, f := range p.GoFiles {
			names = append(names, filepath.ToSlash(filepath.Join(dir, f)))
		}
	}
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// changedLines returns the lines of Go files that a revision does not have.
func changedLines(ctx context.Context, root, base string) (map[string]map[int]bool, error) {
	out, err := output(ctx, root, "git", "diff", "-U0", "--no-color", "--no-ext-diff", base, "--", "*.go")
	if err != nil {
		return nil, err
	}
	return parseDiff(out), nil
}

func parseDiff(diff string) map[string]map[int]bool {
	files := make(map[string]map[int]bool)
	name := ""
	for line := range strings.Lines(diff) {
		if to, ok := strings.CutPrefix(line, "+++ b/"); ok {
			name = strings.TrimSpace(to)
			files[name] = make(map[int]bool)
			continue
		}
		m := hunk.FindStringSubmatch(line)
		if m == nil || files[name] == nil {
			continue
		}
		from, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		for i := range n {
			files[name][from+i] = true
		}
	}
	return files
}

// readEqual reads the names of equivalent mutants: one per line, followed by " // " and the reason.
func readEqual(name string) (map[string]bool, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	equal := make(map[string]bool)
	for n, line := range bytes.Split(data, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		mutant, why, ok := strings.Cut(text, " // ")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: say behind // why the mutant changes nothing", name, n+1)
		}
		equal[strings.TrimSpace(mutant)] = true
	}
	return equal, nil
}

func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}
