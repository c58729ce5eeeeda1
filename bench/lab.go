package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

//go:embed cloop/*.c targets peers
var sources embed.FS

// lab is a folder with everything the contests need: compiled programs, a seed, and the paths of
// installed tools.
type lab struct {
	dir      string
	missing  []string // what is skipped, and why
	programs struct {
		thresh, climit, reader, persistent, jq, python string
		aflFuzz, zzuf, honggfuzz, radamsa              string
	}
}

// newLab builds what it can.
func newLab(ctx context.Context, thresh string) (*lab, error) {
	dir, err := os.MkdirTemp("", "thresh-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	if err := l.fill(ctx, thresh); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

func (l *lab) fill(ctx context.Context, thresh string) (err error) {
	p := &l.programs
	if p.thresh, err = absolute(thresh); err != nil {
		return err
	}
	for _, folder := range []string{"cloop", "targets", "peers"} {
		entries, err := sources.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			text, err := sources.ReadFile(path.Join(folder, e.Name()))
			if err != nil {
				return err
			}
			if err := os.WriteFile(l.path(e.Name()), text, 0o644); err != nil {
				return err
			}
		}
	}
	if gcc := l.tool("gcc", "the bare loop and the static target"); gcc != "" {
		p.climit = l.compile(ctx, gcc, "-O2", "-o", "climit", "climit.c")
		p.reader = l.compile(ctx, gcc, "-O2", "-static", "-o", "reader", "reader.c")
	}
	if cc := l.tool("afl-clang-fast", "the persistent target"); cc != "" {
		p.persistent = l.compile(ctx, cc, "-O2", "-o", "persistent", "persistent.c")
	}
	p.jq = l.tool("jq", "the target that is slow to start")
	p.aflFuzz = l.tool("afl-fuzz", "AFL++")
	p.zzuf = l.tool("zzuf", "zzuf")
	p.honggfuzz = l.tool("honggfuzz", "honggfuzz")
	p.radamsa = l.tool("radamsa", "the loop with radamsa")
	// A python3 found first on PATH may be a script that searches for another one.
	if p.python = "/usr/bin/python3"; executable(p.python) != nil {
		p.python = l.tool("python3", "the loop in Python")
	}
	return nil
}

func executable(name string) error {
	_, err := exec.LookPath(name)
	return err
}

// path is the path of a file in the lab.
func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// tool finds a program, or records what is missing without it.
func (l *lab) tool(name, what string) string {
	p, err := exec.LookPath(name)
	if err != nil {
		l.missing = append(l.missing, fmt.Sprintf("%s (%s is not installed)", what, name))
		return ""
	}
	return p
}

// compile builds a program; the argument after -o names it.
func (l *lab) compile(ctx context.Context, argv ...string) string {
	name := ""
	for i, a := range argv {
		if a == "-o" {
			name = argv[i+1]
		}
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = l.dir, append(os.Environ(), "AFL_QUIET=1")
	if out, err := c.CombinedOutput(); err != nil {
		l.missing = append(l.missing, fmt.Sprintf("%s (cannot be compiled: %s)", name, lastLine(out, err)))
		return ""
	}
	return l.path(name)
}

// lastLine is the last output line of a failed program, or its error.
func lastLine(out []byte, err error) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf("%v: %s", err, last)
	}
	return err.Error()
}

// scratch makes a new folder for one burst.
func (l *lab) scratch() (string, func(), error) {
	dir, err := os.MkdirTemp(l.dir, "burst-")
	if err != nil {
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
