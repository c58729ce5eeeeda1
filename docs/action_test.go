package docs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The scripts of action.yml are run as a runner runs them, with the inputs'
// defaults but for those of the case.
func TestAction(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are run with bash on Linux and macOS")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	data, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				ID, Run, Uses string
				Env           map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	page := func(want string) string {
		return "```yaml spec-test\nid: A\ntype: cli.run\nharness:\n  entrypoint: echo held\nassert:\n  - target: stdout\n    must:\n      - contain: [" + want + "]\n```\n"
	}
	for _, c := range []struct {
		name, page, code, summary string
		inputs                    map[string]string
	}{
		{"what holds", page("held"), "0", "all held", nil},
		{"what fails", page("other"), "1", "A: expected stdout", map[string]string{"fail-on": "new"}},
		{"a part without cases", page("held"), "0", "", map[string]string{"shard": "1/2", "args": "--case-timeout 1m"}},
		{"a document that is refused", page("held"), "2", "exit code 2", map[string]string{"paths": "page.spec.md nowhere.json"}},
		{"a command in an input", page("held"), "2", "exit code 2", map[string]string{"paths": "$(touch harm);touch harm"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "page.spec.md")
			if err := os.WriteFile(path, []byte(c.page), 0o600); err != nil {
				t.Fatal(err)
			}
			output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
			for _, step := range action.Runs.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("an input is part of a script, where it can be a command: %s", step.Run)
				}
				if step.ID == "source" { // the key of the cache is of the source alone
					sum := func(more string) string {
						source := t.TempDir()
						if err := errors.Join(os.WriteFile(filepath.Join(source, "go.mod"), []byte("module m"+more), 0o600), os.Mkdir(filepath.Join(source, ".git"), 0o700),
							os.WriteFile(filepath.Join(source, ".git", "index"), []byte(source), 0o600)); err != nil {
							t.Fatal(err)
						}
						cmd := exec.Command(bash, "-eo", "pipefail", "-c", step.Run)
						cmd.Env = append(os.Environ(), "ACTION="+source, "GITHUB_OUTPUT="+filepath.Join(source, "output"))
						out, err := cmd.CombinedOutput()
						said, _ := os.ReadFile(filepath.Join(source, "output"))
						if err != nil || len(said) != len("sum=\n")+64 {
							t.Errorf("%q, %v: %s", said, err, out)
						}
						return string(said)
					}
					if first, again := sum(""), sum(""); first != again || first == sum("2") {
						t.Error("the key of the cache does not follow the source")
					}
				}
				if step.ID != "run" {
					continue
				}
				cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(thresh(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
					"RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
				for name, value := range step.Env {
					input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
					given, ok := c.inputs[input]
					if _, declared := action.Inputs[input]; !declared {
						t.Errorf("%s is no input", value)
					}
					if !ok {
						given = action.Inputs[input].Default
					}
					cmd.Env = append(cmd.Env, name+"="+given)
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			said, _ := os.ReadFile(output)
			if !strings.Contains(string(said), "exit-code="+c.code+"\n") {
				t.Errorf("the outputs: %s", said)
			}
			if none := strings.HasSuffix(string(said), "sarif=\n"); none != (c.code == "2") {
				t.Errorf("a file for code scanning: %s", said)
			}
			shown, _ := os.ReadFile(summary)
			if len(shown) == 0 || !strings.Contains(string(shown), c.summary) {
				t.Errorf("the summary: %s", shown)
			}
			if _, err := os.Stat(filepath.Join(dir, "thresh.sarif")); (err == nil) != (c.code != "2") {
				t.Errorf("the SARIF file: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "harm")); err == nil {
				t.Error("an input was run as a command")
			}
		})
	}
}
