//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// maker is an interpreter that makes environments with a program, and fails to install what is
// called broken.
const maker = `#!/bin/sh
case "$2 $3" in
venv*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && exec cp "$0" "$3/bin/tool" ;;
"pip install") for file; do :; done; exec grep -qv broken "$file" ;;
esac
`

// An agent with packages runs in an environment that has them: what it is called by its mere name
// comes from there, and its Python.
func TestAgentsWithPackages(t *testing.T) {
	dir := t.TempDir()
	interpreter := filepath.Join(dir, "python3")
	if err := os.WriteFile(interpreter, []byte(maker), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("THRESH_CACHE", dir)
	t.Setenv("THRESH_PYTHON", interpreter)
	packages := &agentcall.Packages{File: filepath.Join(dir, "requirements.txt"), Text: "good\n"}
	var noted []string
	agents := New().Noting(func(line string) { noted = append(noted, line) })
	bin := ""
	for _, x := range []struct{ name, want string }{{"tool", "tool"}, {"./tool", ""}, {"other", ""}} {
		p := agentcall.Plan{Command: &agentcall.Command{Argv: []string{x.name, "arg"}, Env: []string{"A=1"}}, Packages: packages}
		if err := agents.equip(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		env := p.Command.Env
		if len(env) != 3 || env[0] != "A=1" || !strings.HasPrefix(env[1], "VIRTUAL_ENV="+dir) || env[2] != "PATH="+filepath.Join(strings.TrimPrefix(env[1], "VIRTUAL_ENV="), "bin")+":"+os.Getenv("PATH") {
			t.Fatalf("%q", env)
		}
		bin = filepath.Join(strings.TrimPrefix(env[1], "VIRTUAL_ENV="), "bin")
		want := x.name
		if x.want != "" {
			want = filepath.Join(bin, x.want)
		}
		if !slices.Equal(p.Command.Argv, []string{want, "arg"}) {
			t.Errorf("%s: %q", x.name, p.Command.Argv)
		}
	}
	own := &agentcall.Python{Plan: pyhost.AgentPlan{Python: interpreter, Target: "m:f"}}
	p := agentcall.Plan{Python: own, Packages: packages}
	if err := agents.equip(t.Context(), &p); err != nil || p.Python.Plan.Python != filepath.Join(bin, "python") || p.Python.Plan.Target != "m:f" || own.Plan.Python != interpreter {
		t.Errorf("%+v, %v", p.Python, err)
	}
	if len(noted) != 1 || !strings.Contains(noted[0], packages.File) {
		t.Errorf("%q", noted)
	}
	plan := agentcall.Plan{Command: &agentcall.Command{Argv: []string{"tool"}}, Packages: packages}
	if r := ask(t, open(t, plan), agentcall.Call{}); !r.OK() {
		t.Errorf("%+v", r)
	}
	plan.Packages = &agentcall.Packages{File: packages.File, Text: "broken\n"}
	if a, err := agents.Open(t.Context(), plan, 0, nil); a != nil || err == nil || !strings.Contains(err.Error(), "installing the packages of "+packages.File) || len(agents.plans) > 0 {
		t.Errorf("%v, %v", a, err)
	}
}
