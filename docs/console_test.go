package docs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A block ```console run``` holds command lines after "$ " and what they print,
// standard output and standard error together. The blocks of a page are run in
// their order, in one folder, which has a link to the examples. In what is
// printed
//
//	a line "..." stands for any lines, also none
//	a line "exit status N" says that the command ends so; without it, by 0
//
// and what differs from run to run or from machine to machine is masked (see
// masks). Further words of the info string: "slow" runs the block only where
// THRESH_CI is set, and "needs=PROGRAM" skips it where PROGRAM is not installed.
func TestConsoleBlocks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the pages show what is printed on Linux")
	}
	ran := 0
	for _, p := range pages(t) {
		blocks := p.blocks()
		t.Run(strings.ReplaceAll(p.path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			dir := ""
			for _, b := range blocks {
				if !b.has("console") || !b.has("run") {
					continue
				}
				if dir == "" {
					dir = folder(t)
				}
				b.run(t, dir)
			}
		})
		for _, b := range blocks {
			if b.has("run") {
				ran++
			}
		}
	}
	if ran < 8 {
		t.Errorf("only %d console blocks are marked to be run", ran)
	}
}

// folder is where the blocks of a page are run.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs the commands of a block and compares what they print.
func (b block) run(t *testing.T, dir string) {
	t.Helper()
	for _, word := range b.info {
		if word == "slow" && os.Getenv("THRESH_CI") == "" {
			t.Logf("%s:%d takes long and is run only where THRESH_CI is set", b.page, b.line)
			return
		}
		if program, ok := strings.CutPrefix(word, "needs="); ok {
			if _, err := exec.LookPath(program); err != nil {
				t.Logf("%s:%d is not run: %v", b.page, b.line, err)
				return
			}
		}
	}
	for _, s := range b.steps() {
		out, code := shell(t, dir, s.command)
		want := s.want
		wantCode := 0
		if n := len(want); n > 0 {
			if text, ok := strings.CutPrefix(want[n-1], "exit status "); ok {
				var err error
				if wantCode, err = strconv.Atoi(text); err != nil {
					t.Fatalf("%s:%d: %v", b.page, s.line, err)
				}
				want = want[:n-1]
			}
		}
		if code != wantCode {
			t.Errorf("%s:%d: %s: exit status %d, the page says %d\n%s", b.page, s.line, s.command, code, wantCode, out)
			continue
		}
		got := strings.Split(strings.TrimRight(mask(out, dir), "\n"), "\n")
		if out == "" {
			got = nil
		}
		for i := range want {
			want[i] = mask(want[i], dir)
		}
		if !matches(want, got) {
			t.Errorf("%s:%d: %s: the page says\n%s\nit prints\n%s\nthat is, as it was\n%s", b.page, s.line, s.command,
				strings.Join(want, "\n"), strings.Join(got, "\n"), out)
		}
	}
}

// step is one command of a block.
type step struct {
	line    int
	command string
	want    []string
}

func (b block) steps() []step {
	var list []step
	for i, line := range strings.Split(strings.TrimRight(b.text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "$ "):
			list = append(list, step{line: b.line + i, command: line[2:]})
		case len(list) > 0 && strings.HasSuffix(list[len(list)-1].command, `\`):
			s := &list[len(list)-1]
			s.command = strings.TrimSuffix(s.command, `\`) + strings.TrimSpace(line)
		case len(list) > 0:
			s := &list[len(list)-1]
			s.want = append(s.want, strings.TrimRight(line, " "))
		}
	}
	return list
}

// shell runs a command line the way a reader would, and returns what it prints
// and its exit status.
func shell(t *testing.T, dir, command string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(thresh(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", command, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// masks are what no page can say exactly: names of runs, digests, clocks,
// rates, sizes on disk, folders, and how a terminal's columns follow from them.
var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\br[0-9a-f]{8}-\d+\b`), "RUN"},
	{regexp.MustCompile(`\bcmp_[0-9a-f]{8}_s\d+`), "CAMPAIGN"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`digest [0-9a-f]{16}\b`), "digest DIGEST"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`[\d,.]+/s · [\d.]+ ?(ms|min|s|m|h)( [\d.]+ ?s)?`), "RATE · TIME"},
	{regexp.MustCompile(`[\d,]+ executions`), "N executions"},
	{regexp.MustCompile(`blobs, [\d,]+ bytes`), "blobs, N bytes"},
	{regexp.MustCompile(`\d+ more lines`), "N more lines"},
	{regexp.MustCompile(` {2,}`), "  "},
}

func mask(s, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		s = strings.ReplaceAll(s, real, "/tmp/tour")
	}
	s = strings.ReplaceAll(s, dir, "/tmp/tour")
	for _, m := range masks {
		s = m.pattern.ReplaceAllString(s, m.by)
	}
	return s
}

// matches compares lines; "..." stands for any number of them.
func matches(want, got []string) bool {
	for len(want) > 0 {
		if strings.TrimSpace(want[0]) == "..." {
			for i := 0; i <= len(got); i++ {
				if matches(want[1:], got[i:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 || strings.TrimRight(got[0], " ") != want[0] {
			return false
		}
		want, got = want[1:], got[1:]
	}
	return len(got) == 0
}

func TestMatches(t *testing.T) {
	lines := func(s string) []string { return strings.Fields(s) }
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a b", "a b", true}, {"a b", "a", false}, {"a", "a b", false}, {"", "", true}, {"", "a", false},
		{"...", "", true}, {"a ... d", "a b c d", true}, {"a ... d", "a d", true}, {"a ... d", "a b", false},
		{"... c ... e", "a b c d c e", true},
	} {
		if ok := matches(lines(c.want), lines(c.got)); ok != c.ok {
			t.Errorf("%q against %q: %t", c.want, c.got, ok)
		}
	}
}
