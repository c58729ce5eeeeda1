package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the expected outputs in testdata/script anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tway": main})
}

// TestScript runs testdata/script/*.txtar. Beside the commands of package
// testscript they have "exits CODE PROGRAM ARG...", which runs a program that
// must end with the code and leaves what it wrote in the files out and err.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				code := 0
				var failed *exec.ExitError
				if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
					code = failed.ExitCode()
				} else {
					ts.Check(err)
				}
				if strconv.Itoa(code) != args[0] {
					ts.Fatalf("exit code %d, want %s", code, args[0])
				}
				ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(ts.ReadFile("stdout")), 0o600))
				ts.Check(os.WriteFile(ts.MkAbs("err"), []byte(ts.ReadFile("stderr")), 0o600))
			},
		},
	})
}

// TestReadme runs what the page shows: after "$ " stands a command line, below it
// what it prints, standard output and standard error together.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```console run\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(strings.TrimSuffix(step, "\n")+"\n", "\n")
			c := exec.CommandContext(t.Context(), "sh", "-c", line)
			c.Dir = dir
			out, err := c.CombinedOutput()
			var failed *exec.ExitError
			if errors.As(err, &failed) {
				out = append(out, "exit status "+strconv.Itoa(failed.ExitCode())+"\n"...)
			} else if err != nil {
				t.Fatal(err)
			}
			if string(out) != want {
				t.Errorf("%s: the page says\n%sit prints\n%s", line, want, out)
			}
			ran++
		}
	}
	if ran < 7 {
		t.Errorf("only %d commands of the page were run", ran)
	}
}
