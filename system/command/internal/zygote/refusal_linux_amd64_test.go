package zygote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a program does before it looks at its input decides where it is held,
// and its cases stay equal to spawned ones.
func TestEarlierPoint(t *testing.T) {
	program := build(t, "gcc", "awkward.c", "-pthread")
	for _, c := range []struct{ what, point, reason string }{
		{"plain", PointInput, ""},
		{"held", PointInput, ""},
		{"thread", PointMain, "it starts threads before it touches its input"},
		{"process", PointMain, "it starts other processes before it touches its input"},
		{"timer", PointMain, "it sets a timer before"},
		{"pipe", PointMain, "it opens pipe:["},
		{"pipe closed", PointInput, ""},
		{"output", PointMain, "it writes output before"},
		{"file", PointMain, "it opens a file for writing or changes the file system before"},
		{"shared", PointMain, "it shares memory before"},
		{"pid", PointMain, "it asks for its process id before"},
		{"usr1", PointInput, ""},
		{"exec", PointMain, "it executes another program before"},
		{"closeall", PointMain, "it closes descriptors that it did not open before"},
		{"die", PointMain, "it ends (exit status 7) before"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBench(t, false, program, c.what, "@@")
			s := b.start()
			if s.Point() != c.point || !strings.HasPrefix(s.Reason(), c.reason) || c.reason == "" && s.Reason() != "" {
				t.Errorf("held at %s, because %q; want %s because %q", s.Point(), s.Reason(), c.point, c.reason)
			}
			for _, in := range []string{"one\n", "", "two"} {
				if warm, cold := b.warm(s, []byte(in)), b.cold([]byte(in)); warm != cold {
					t.Fatalf("input %q:\nforked  %v\nspawned %v", in, warm, cold)
				}
			}
		})
	}
}

func TestStoppedProgram(t *testing.T) {
	b := newBench(t, false, build(t, "gcc", "awkward.c", "-pthread"), "stop", "@@")
	s := b.start()
	if want := "it is stopped by SIGSTOP before it touches its input"; s.Reason() != want {
		t.Errorf("reason %q, want %q", s.Reason(), want)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, path, want string }{
		{"setuid", file("setuid", "#!/bin/sh\n", 0o755|os.ModeSetuid), "it is setuid"},
		{"setgid", file("setgid", "#!/bin/sh\n", 0o755|os.ModeSetgid), "it is setgid"},
		{"absent", filepath.Join(dir, "absent"), "no such file"},
		{"no program", file("text", "hello", 0o755), "exec format error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, false, c.path, "@@")
			s, err := Start(b.cfg)
			if err == nil {
				s.Close()
				t.Fatal("Start succeeded")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

func Test32Bit(t *testing.T) {
	// A freestanding program, so that no 32-bit C library is needed.
	path := build(t, "gcc", "bare.c", "-m32", "-static", "-nostdlib", "-ffreestanding", "-no-pie", "-fno-pie")
	b := newBench(t, false, path, "@@")
	if s, err := Start(b.cfg); err == nil {
		s.Close()
		t.Error("Start succeeded")
	} else if err.Error() != "it is not an amd64 program" {
		t.Errorf("error %q", err)
	}
}

// A program that does not come to its fork point is not waited for, and
// nothing is left of it.
func TestDeadline(t *testing.T) {
	b := newBench(t, false, build(t, "gcc", "awkward.c", "-pthread"), "wait", "@@")
	b.cfg.Timeout = 300 * time.Millisecond
	s := b.start()
	if s.Point() != PointMain || !strings.Contains(s.Reason(), "takes longer than 300ms before it touches its input") {
		t.Errorf("held at %s: %s", s.Point(), s.Reason())
	}
}

func TestForkAfterDeath(t *testing.T) {
	b := newBench(t, false, build(t, "gcc", "reader.c"), "@@")
	s := b.start()
	unix.Kill(s.pid, unix.SIGKILL)
	for range 2 {
		if _, err := s.Fork(); !errors.Is(err, ErrDied) {
			t.Errorf("Fork: %v, want ErrDied", err)
		}
	}
}

// Cases are killed by process group from the moment that Fork returns, and
// Close leaves no process behind.
func TestKillGroupAndClose(t *testing.T) {
	b := newBench(t, false, tool(t, "sleep"), "1000")
	b.cfg.Timeout = 300 * time.Millisecond
	s := b.start()
	pid, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(-pid, unix.SIGKILL); err != nil {
		t.Errorf("kill the group: %v", err)
	}
	if r := b.finish(pid); !r.status.Signaled() {
		t.Errorf("the case ended with %v", r)
	}
	held := s.pid
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(held, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("the held program is still there: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// Servers do not disturb each other.
func TestManyAtOnce(t *testing.T) {
	program := build(t, "gcc", "reader.c")
	var all sync.WaitGroup
	for lane := range 4 {
		b := newBench(t, false, program, "@@")
		s := b.start()
		all.Go(func() {
			in := []byte(strings.Repeat("x", lane+1))
			for range 100 {
				b.feed(in)
				pid, err := s.Fork()
				if err != nil {
					t.Errorf("Fork: %v", err)
					return
				}
				if r := b.finish(pid); r.status != 0 || !strings.HasSuffix(r.out, string(in)) {
					t.Errorf("lane %d: %v", lane, r)
					return
				}
			}
		})
	}
	all.Wait()
}
