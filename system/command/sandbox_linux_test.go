package command

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
)

func TestSandbox(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	dir := t.TempDir()
	readable := filepath.Join(dir, "readable")
	if err := os.WriteFile(readable, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	free := openBench(t, nil)
	if res := free.run("connect " + l.Addr().String()); res.ExitCode != 0 {
		t.Fatalf("without a sandbox: %s", res.Stderr)
	}
	if res := free.run("write " + filepath.Join(dir, "free")); res.ExitCode != 0 {
		t.Fatalf("without a sandbox: %s", res.Stderr)
	}

	b := openBench(t, func(p *process.Plan) { p.Sandbox = true })
	notes := strings.Join(b.lane.Notes(), "\n")
	t.Log(notes)
	if !strings.Contains(notes, "sandbox: ") {
		t.Error("notes do not tell of the sandbox")
	}
	if b.state().box == nil {
		t.Skip("this system grants no sandbox")
	}
	if res := b.run("connect " + l.Addr().String()); res.ExitCode == 0 {
		t.Error("the network can be reached")
	}
	if res := b.run("write " + filepath.Join(dir, "caught")); res.ExitCode == 0 {
		t.Error("a file outside of the run folder can be written")
	}
	b.mustPrint("read "+readable, "content")
	b.mustPrint("file inside", "")
	if res := b.run("write out/more"); res.ExitCode != 0 {
		t.Errorf("the output folder cannot be written: %s", res.Stderr)
	}
	for _, device := range []string{"/dev/null", "/dev/zero"} {
		if res := b.run("write " + device); res.ExitCode != 0 {
			t.Errorf("%s cannot be written: %s", device, res.Stderr)
		}
	}
	for _, kind := range []string{"plain", "session", "orphan"} {
		if res := b.run("linger " + kind); res.Leftovers != 1 {
			t.Errorf("linger %s: %d leftovers", kind, res.Leftovers)
		}
	}
	if res := b.run("exit 3"); res.ExitCode != 3 || res.Leftovers != 0 {
		t.Errorf("exit %d, %d leftovers", res.ExitCode, res.Leftovers)
	}
}
