package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/engine/crash"
)

// faults reaches each planted bug by one changed byte of the seed.
var faults = map[string][2]string{
	"index":           {"I\x04\x01\x02", "I\x04\x03\x02"},
	"nil-map":         {"A\x03Ada", "a\x03Ada"},
	"nil-dereference": {"L\x01\x02", "L\x01\x06"},
	"endless-loop":    {"P\x02\x18\x04", "P\x02\x19\x04"},
	"exit-code":       {"2026-01", "2026-21"},
	"bad-json":        {"LEXTXL", `LE\TXL`},
	"memory":          {"B\x01\x0f", "B\x01\x2f"},
	"stack-overflow":  {"\x01\x00Sea", "\x01\x02Sea"},
	"abort":           {"K\x01\x01", "K\x01\x41"},
	"endless-output":  {"W\x05\x20", "W\x05\x00"},
}

func mutated(t *testing.T, bug string) []byte {
	t.Helper()
	edit, seed := faults[bug], string(Seed())
	if edit[0] == "" || strings.Count(seed, edit[0]) != 1 {
		t.Fatalf("%s: the seed holds %q %d times", bug, edit[0], strings.Count(seed, edit[0]))
	}
	return []byte(strings.Replace(seed, edit[0], edit[1], 1))
}

func target(t *testing.T, input []byte) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, input, 0o644); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, Command, in)
	cmd.Env = []string{"LLMFUZZ_OUT_DIR=" + dir}
	return cmd, filepath.Join(dir, "scroll.json")
}

func TestSeedIsSound(t *testing.T) {
	cmd, result := target(t, Seed())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var v struct{ OK bool }
	if b, err := os.ReadFile(result); err != nil || json.Unmarshal(b, &v) != nil || !v.OK {
		t.Fatalf("%q %v", b, err)
	}
}

// Damage that hits no bug is an answer, not a failure.
func TestDamageIsNoFailure(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("SCR"), []byte("SCRX\x01"), Seed()[:50], append(Seed(), 'T', 9)} {
		cmd, result := target(t, b)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", b, err, out)
		}
		if out, err := os.ReadFile(result); err != nil || !json.Valid(out) {
			t.Errorf("%q: result %q, %v", b, out, err)
		}
	}
}

// plantedBug is a planted bug.
type plantedBug struct {
	Name   string
	Class  string // class of the cause that finds it: see package engine/crash
	Expect string // words that the finding's title or kind holds
}

// plantedBugs lists the planted bugs.
func plantedBugs() []plantedBug {
	return []plantedBug{
		{"index", "panic", "index out of range"},
		{"nil-map", "panic", "assignment to entry in nil map"},
		{"nil-dereference", "panic", "nil pointer dereference"},
		{"endless-loop", "timeout", "timeout"},
		{"exit-code", "exit", "exit"},
		{"bad-json", "output", "JSON"},
		{"memory", "memory-limit", "out of memory"},
		{"stack-overflow", "stack-overflow", "stack overflow"},
		{"abort", "signal", "SIGABRT"},
		{"endless-output", "output-limit", "output"},
	}
}

func TestPlantedBugs(t *testing.T) {
	layers := map[string]string{}
	for _, bug := range plantedBugs() {
		t.Run(bug.Name, func(t *testing.T) {
			input := mutated(t, bug.Name)
			switch bug.Class {
			case crash.ClassTimeout:
				t.Skip("needs a runner that ends it")
			case crash.ClassOutputLimit:
				floods(t, input)
				return
			}
			cmd, result := target(t, input)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if bug.Class == "output" {
				if b, readErr := os.ReadFile(result); err != nil || readErr != nil || json.Valid(b) {
					t.Fatalf("%v, %v: %q", err, readErr, b)
				}
				return
			}
			d := crash.Death{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
			exit := (*exec.ExitError)(nil)
			if !errors.As(err, &exit) {
				t.Fatalf("no failure: %v", err)
			}
			if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
				d.Signal = int(status.Signal())
			} else {
				d.ExitCode = status.ExitStatus()
			}
			c := crash.Analyze(d)
			if c.Class != bug.Class || !strings.Contains(c.Kind+c.Title, bug.Expect) {
				t.Errorf("cause %+v, want %+v\n%s", c, bug, stderr.Bytes())
			}
			key := strings.Join(c.Layers, "\n")
			if other, ok := layers[key]; ok {
				t.Errorf("same cause as %s: %q", other, c.Layers)
			}
			layers[key] = bug.Name
		})
	}
}

// floods checks that far more is written than a sound scroll has to say.
func floods(t *testing.T, input []byte) {
	t.Helper()
	cmd, _ := target(t, input)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4<<20)
	n := 0
	for n < len(b) && err == nil {
		var k int
		k, err = out.Read(b[n:])
		n += k
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if n < len(b) {
		t.Errorf("only %d bytes", n)
	}
}

func TestSpec(t *testing.T) {
	spec, seed := Spec("/x/y", "/opt/thresh")
	var v struct {
		Target struct {
			Command []string
			Root    string `json:"work_root_base"`
		}
		Seed struct{ Path string }
	}
	if err := json.Unmarshal(spec, &v); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.Target.Command, " "); got != "/opt/thresh "+Command+" <input_path>" || v.Target.Root != "/x/y/work" || v.Seed.Path != "/x/y/"+SeedName {
		t.Errorf("%+v", v)
	}
	if !bytes.Equal(seed, Seed()) {
		t.Error("not the seed")
	}
}
