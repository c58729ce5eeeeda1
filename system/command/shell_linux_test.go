package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// A shell that is forked from one that was started before does what a started one
// does, to the byte.
func TestShells(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OLDPWD", "/usr")
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "OLDPWD=/usr", "A=it's", "LC_ALL=C"}
	script, in := "", env
	plan := process.Plan{
		PerCase: true, Shell: true, Input: "stdin", Stdin: true, Timeout: time.Minute, Executor: process.Spawn,
		Limits: process.Limits{Output: 1 << 20, FileSize: 1 << 20},
		Command: func(process.Paths) process.Command {
			return process.Command{Path: path, Argv: []string{"sh", "-c", script, "sh"}, Env: in, Dir: dir}
		},
	}
	open := func(cold bool) *lane {
		r, err := Open(t.Context(), plan, 0, 1, cold)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		return r.(*lane)
	}
	warm, cold := open(false), open(true)
	forks := warm.spawn.(*spawner).shells
	run := func(l *lane, input string) string {
		res, err := l.Run(t.Context(), process.Case{RunID: "x", Input: []byte(input), Confirm: true})
		if err != nil {
			t.Fatal(err)
		}
		left := strings.Contains(script, "left") && res.Leftovers > 0 // elsewhere it may have ended by itself
		return fmt.Sprintf("%s %d %d, left %t\n%s---\n%s", res.Status, res.ExitCode, res.Signal, left, res.Stdout, res.Stderr)
	}
	for range shellFrom + 1 {
		script = ":"
		run(warm, "")
	}
	if forks.starts == 0 {
		t.Fatalf("after %d cases no shell was to be held", shellFrom+1)
	}
	if forks.server == nil {
		t.Skip("no shell can be held here")
	}
	for _, text := range []string{
		"echo a; echo b >&2", "exit 3", "kill -9 $$", "kill -TERM $$; echo after", "exec echo replaced", "set -e; false; echo after", "cd /; pwd; cd - ; echo $OLDPWD",
		"pwd; echo $PWD $OLDPWD $0 $# $- $?", "cat; cat", "return 4; echo after", "echo 'unclosed", "eval 'echo \"'", "no-such-command", "eval 'no-such-command'", "trap 'echo ends' EXIT; exit 5",
		"umask; ulimit -f; ulimit -n", "sleep 60 & echo left", "export -p", "set | grep -v -e ^PPID -e ^_", "kill 0", "ps -o pid= -p $$ | wc -l; [ \"$$\" = \"$(sh -c 'echo $PPID')\" ] && echo same", "echo $A; unset A; env | sort",
		"f() { return 7; }; f", "readonly X=1; X=2; echo after", "exec 3>file; echo x >&3; cat file; rm file", "head -c 2000000 /dev/zero >big; echo $?; rm -f big", "jobs; wait; echo $!", "sh -c 'kill -9 $PPID'; echo after",
	} {
		script = "eval '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		got, want := run(warm, "input\n"), run(cold, "input\n")
		if got != want {
			t.Errorf("%s: forked\n%s\nstarted\n%s", text, got, want)
		}
	}
	if forks.server == nil || forks.starts != 1 {
		t.Errorf("the shell was held %d times; held now: %t", forks.starts, forks.server != nil)
	}
	script, in = "env | sort", append(env, "B=2") // is not served by a shell that lacks B
	if got, want := run(warm, ""), run(cold, ""); got != want || !strings.Contains(got, "B=2") {
		t.Errorf("with another environment %s, want %s", got, want)
	}
	script = "sleep 60"
	plan.Timeout = 200 * time.Millisecond
	in = env
	if res, err := warm.spawn.run(t.Context(), "x", nil, plan.Timeout); err != nil || res.Status != process.TimedOut {
		t.Errorf("a forked shell that is too slow: %v %v", res.Status, err)
	}
	script = "echo again"
	if got := run(warm, ""); !strings.Contains(got, "again") || forks.server == nil {
		t.Errorf("behind it: %s", got)
	}
}
