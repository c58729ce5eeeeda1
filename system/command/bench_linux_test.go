package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// tinyProgram builds the program that an executor's own cost shows best with.
func tinyProgram(b *testing.B) string {
	b.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		b.Skip("no C compiler")
	}
	dir := b.TempDir()
	src, bin := filepath.Join(dir, "tiny.c"), filepath.Join(dir, "tiny")
	code := "#include <stdio.h>\nint main(int n,char**v){FILE*f=fopen(v[1],\"r\");char b[64];if(f)fread(b,1,64,f);puts(\"ok\");return 0;}\n"
	if err := os.WriteFile(src, []byte(code), 0o644); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O2", "-w", "-static", "-o", bin, src).CombinedOutput(); err != nil {
		b.Skipf("cannot link a static program: %s", out)
	}
	return bin
}

func benchmark(b *testing.B, path string, x process.Executor, sandbox bool) {
	plan := process.Plan{
		Command: func(p process.Paths) process.Command {
			return process.Command{Path: path, Argv: []string{path, p.InputPath}, Env: []string{"LLMFUZZ_RUN_ID=" + p.RunID}}
		},
		Input: "input/seed.bin", OutDir: "out", Timeout: 5 * time.Second,
		Executor: x, Sandbox: sandbox, Calibrate: []byte("seed"),
	}
	ctx := context.Background()
	r, err := Open(ctx, plan, 0, 1, false)
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	input := make([]byte, 256)
	b.ReportAllocs()
	i := int64(checkedFirst + 1)
	for b.Loop() {
		i++
		input[0] = byte(i)
		if _, err := r.Run(ctx, process.Case{Index: i, RunID: probeID, Input: input}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}

func BenchmarkSpawn(b *testing.B) {
	b.Run("static", func(b *testing.B) { benchmark(b, tinyProgram(b), process.Spawn, false) })
	b.Run("true", func(b *testing.B) { benchmark(b, "/bin/true", process.Spawn, false) })
}

func BenchmarkSandbox(b *testing.B) { benchmark(b, tinyProgram(b), process.Spawn, true) }

func BenchmarkZygote(b *testing.B) { benchmark(b, tinyProgram(b), process.Zygote, false) }
