package forkline

import (
	"os/exec"
	"testing"
	"time"
)

func TestGraceIsWhatWasWaitedSinceAndBounded(t *testing.T) {
	const s = time.Second
	before := Standing{Used: 7 * s, Waited: 3 * s}
	for name, steps := range map[string][]struct {
		now  Standing // since then
		more time.Duration
	}{
		"it waited": {
			{Standing{}, 0}, {Standing{Waited: s / 21}, 0}, {Standing{Waited: 2 * s}, 2 * s}, {Standing{Waited: 2 * s}, 0}, {Standing{Waited: 5 * s}, 3 * s},
			{Standing{Waited: 2000 * s}, 995 * s}, {Standing{Waited: 3000 * s}, 0},
		},
		"it waits, and the kernel has not counted it": {
			{Standing{Ready: true}, s}, {Standing{Ready: true, Used: s / 4}, 3 * s / 4}, {Standing{Waited: 2 * s, Used: s / 2}, s / 4}, {Standing{Used: s / 2}, 0},
		},
		"it runs all the time":               {{Standing{Ready: true, Used: s}, 0}, {Standing{Ready: true, Used: s - s/21}, 0}},
		"its threads wait for another":       {{Standing{Ready: true, Used: 2 * s, Waited: s}, s}, {Standing{Ready: true, Used: 20 * s, Waited: 9 * s}, 0}},
		"it has used what it may, and waits": {{Standing{Ready: true, Used: s, Waited: s}, s}, {Standing{Ready: true, Used: s, Waited: s}, 0}},
	} {
		var g Grace
		g.Begin(s)
		g.Since(before)
		for i, c := range steps {
			now := Standing{before.Used + c.now.Used, before.Waited + c.now.Waited, c.now.Ready}
			if more := g.More(func() Standing { return now }); more != c.more {
				t.Errorf("%s, look %d: %s more, want %s", name, i, more, c.more)
			}
		}
	}
}

// A process that runs, and one that has ended and was not waited for, are not to blame for
// the time that passes; one that sleeps is.
func TestLook(t *testing.T) {
	for script, want := range map[string]bool{"while :; do :; done": true, ":": true, "sleep 60": false} {
		cmd := exec.Command("/bin/sh", "-c", "exec 2>/dev/null; echo; "+script)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 1))
		ready := false
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if ready = Look(cmd.Process.Pid).Ready; ready == want {
				break
			}
		}
		if ready != want {
			t.Errorf("%s: ready %t", script, ready)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
