package stage

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// What a program prints around a key that interrupts it is there, once and in order,
// however busy the machine is; one that prints without end is interrupted, too.
func TestKeyThatInterrupts(t *testing.T) {
	// A shell cannot catch what was ignored when it started, as for commands in the background.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	run := func(after, script string) string {
		t.Helper()
		terminal, err := OpenTerminal(80, 24, 1<<10, []Key{{after, "\x03"}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(terminal.Path, os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("sh", "-c", script)
		c.Stdin, c.Stdout, c.Stderr = f, f, f
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		_ = c.Run() // the interrupt ends some
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		printed, left, err := terminal.Close()
		if err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		return string(printed)
	}
	run("y", "while :; do echo y; done")
	for range 300 { // a flush or an end that comes early shows in one of some hundreds
		// read would wait for ever where the signal comes just before it, which the shell does not look for then.
		if got := run("on", "trap 'echo S; exit' INT; echo on; while :; do :; done"); got != "on\r\n^CS\r\n" {
			t.Fatalf("printed %q", got)
		}
	}
}
