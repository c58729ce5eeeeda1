package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/process"
)

func TestRatio(t *testing.T) {
	if os.Getenv("RATIO") == "" {
		t.Skip()
	}
	pin := os.Getenv("RATIO")
	for _, prog := range []string{"/tmp/tiny"} {
		for _, w := range []int{1, 2} {
			var cs, gs []float64
			for range 5 {
				n := 1500 * w
				out, err := exec.Command("/tmp/climit", strconv.Itoa(n), strconv.Itoa(w), pin, prog, "/dev/shm/in.bin").Output()
				if err != nil {
					t.Fatal(err)
				}
				c, _ := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
				cs = append(cs, c)
				gs = append(gs, loop(t, prog, n, w))
			}
			fmt.Println(pin, prog, w, "C", med(cs), "go", med(gs), "ratio", med(gs)/med(cs))
		}
	}
	_ = runtime.NumCPU
}

func med(x []float64) float64 {
	y := append([]float64{}, x...)
	for i := range y {
		for j := i; j > 0 && y[j] < y[j-1]; j-- {
			y[j], y[j-1] = y[j-1], y[j]
		}
	}
	return y[len(y)/2]
}

func loop(t *testing.T, path string, n, w int) float64 {
	plan := process.Plan{
		Command: func(p process.Paths) process.Command {
			return process.Command{Path: path, Argv: []string{path, p.InputPath}, Env: []string{"LLMFUZZ_RUN_ID=" + p.RunID}}
		},
		Input: "input/seed.bin", OutDir: "out", Timeout: 5 * time.Second, Executor: process.Spawn,
	}
	ctx := context.Background()
	var rs []process.Runner
	for i := range w {
		r, err := Open(ctx, plan, i, lanesFor(w), false)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for wi, r := range rs {
		_ = wi
		wg.Go(func() {
			xpin(wi)
			input := make([]byte, 256)
			for i := range n / w {
				input[0] = byte(i)
				if _, err := r.Run(ctx, process.Case{Index: int64(i), RunID: probeID, Input: input}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	d := time.Since(start)
	for wi, r := range rs {
		_ = wi
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return float64(n/w*w) / d.Seconds()
}
func lanesFor(w int) int {
	if os.Getenv("RATIO") == "pinned" {
		return 2
	}
	return w
}
