package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestCasesEndWithTheirCampaign kills a guided campaign while a process of its
// target waits for the next case: neither that nor the fork server stays behind,
// whoever compiled the program.
func TestCasesEndWithTheirCampaign(t *testing.T) {
	t.Parallel() // mostly waits
	for name, compile := range map[string]func(t *testing.T, args ...string) *exec.Cmd{
		"clang": func(t *testing.T, args ...string) *exec.Cmd {
			return child(t, "thresh", append([]string{"fuzzspec", "cc"}, args...)...)
		},
		"afl-clang-fast": func(t *testing.T, args ...string) *exec.Cmd { return exec.Command("afl-clang-fast", args...) },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			casesEnd(t, compile)
		})
	}
}

func casesEnd(t *testing.T, compile func(t *testing.T, args ...string) *exec.Cmd) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	must(t, os.WriteFile(tool+".c", []byte(`#include <stdio.h>
int main(int argc, char **argv) {
  while (__AFL_LOOP(100000)) {
    FILE *f = fopen(argv[1], "r");
    int c, n = 0;
    while (f && (c = fgetc(f)) != EOF) n += c > 64;
    if (f) fclose(f);
  }
  return 0;
}
`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "seed"), []byte("Seed 1\n"), 0o600))
	for _, cmd := range []*exec.Cmd{
		compile(t, "-o", tool, tool+".c"),
		child(t, "thresh", "init", "fuzzspec", "--from", tool, "@@", "--dir", "draft", "--", "seed"),
	} {
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	cmd := child(t, "thresh", "run", "draft/fuzzspec.json", "--guided", "--allow-exec", tool, "--cases", "100000000", "-j", "1", "-q")
	cmd.Dir = dir
	must(t, cmd.Start())
	until := func(what string, is func(processes int) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(len(processesOf(tool))); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				_ = cmd.Process.Kill()
				for _, pid := range processesOf(tool) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				t.Fatal("after a minute ", what)
			}
		}
	}
	until("no case has run", func(n int) bool { return n >= 2 })
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	until("processes of the target are left", func(n int) bool { return n == 0 })
}

// processesOf are the processes that run a program.
func processesOf(program string) (list []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err != nil || !bytes.HasPrefix(line, append([]byte(program), 0)) {
			continue // it has ended
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			list = append(list, pid)
		}
	}
	return list
}
