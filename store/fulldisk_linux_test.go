package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func platformJobs() map[string]func(string) error {
	return map[string]func(string) error{"file-limit": childFileLimit, "tmpfs": childTmpfs, "unwritable": childUnwritable}
}

// writeUntilFull writes a run until it cannot, makes room, and takes it up.
func writeUntilFull(s *Store, w *Writer, makeRoom func() error) error {
	taken := int64(0)
	var full error
	for full == nil {
		if full = w.Append(outcome(taken)); full == nil {
			taken++
		}
		if taken > 10_000_000 {
			return errors.New("the disk was never full")
		}
	}
	switch {
	case diag.ExitCode(full) != diag.ExitEnvironment, !strings.Contains(diag.Hint(full), "resume run "+w.RunID()):
		return fmt.Errorf("full: exit code %d, hint %q: %w", diag.ExitCode(full), diag.Hint(full), full)
	case w.Append(outcome(taken)) != full, w.Sync() != full:
		return errors.New("after a failed write, later calls do not return its error")
	case !errors.Is(w.Close(), full):
		return errors.New("Close does not tell that the write failed")
	}
	if err := makeRoom(); err != nil {
		return err
	}
	w, j, err := s.Resume(w.RunID())
	if err != nil {
		return err
	}
	if j.Torn != 0 {
		return fmt.Errorf("the journal was not cut back: %d bytes torn", j.Torn)
	}
	next := int64(0)
	for e, err := range j.Entries() {
		if err != nil {
			return err
		}
		if e.Kind == KindOutcome {
			if e.Case.Index != next {
				return fmt.Errorf("case %d where %d was due", e.Case.Index, next)
			}
			next++
		}
	}
	if next == 0 || next > taken {
		return fmt.Errorf("%d outcomes kept of %d taken", next, taken)
	}
	if err := w.Append(outcome(next)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Println("kept", next, "of", taken)
	return j.Close()
}

// childFileLimit makes the kernel refuse to let files grow.
func childFileLimit(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := s.Begin(manifest("demo"))
	if err != nil {
		return err
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	// An odd limit, so that the last write ends within a record.
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 200_003, Max: old.Max}); err != nil {
		return err
	}
	return writeUntilFull(s, w, func() error { return unix.Setrlimit(unix.RLIMIT_FSIZE, &old) })
}

// childTmpfs fills a small file system of its own.
func childTmpfs(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		fmt.Println("skip: cannot mount a tmpfs:", err)
		return nil
	}
	ballast := dir + "/ballast"
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o666); err != nil {
		return err
	}
	s, err := Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := s.Begin(manifest("demo"))
	if err != nil {
		return err
	}
	return writeUntilFull(s, w, func() error {
		// What the failed write left free goes too.
		filler, err := os.Create(dir + "/filler")
		if err != nil {
			return err
		}
		defer filler.Close()
		for err == nil {
			_, err = filler.Write(make([]byte, 512))
		}
		// While it is full, nothing else is harmed either: a new run is refused
		// and leaves nothing behind.
		if _, err := s.Begin(manifest("other")); !errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("begin on a full disk: %v", err)
		}
		if _, err := s.PutBlob(make([]byte, 100)); !errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("put a blob on a full disk: %v", err)
		}
		if entries, err := os.ReadDir(dir + "/runs"); len(entries) != 1 || err != nil {
			return fmt.Errorf("left behind: %v, %v", entries, err)
		}
		return errors.Join(os.Remove(filler.Name()), os.Remove(ballast))
	})
}

// childUnwritable lists, shows and collects where nothing can be written: on a
// full disk and on one that is mounted to be read, with outlines and without.
func childUnwritable(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		fmt.Println("skip: cannot mount a tmpfs:", err)
		return nil
	}
	want, err := unwritableStore(dir)
	if err != nil {
		return err
	}
	ask := func(when string) error {
		s, err := Open(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", when, err)
		}
		defer s.Close()
		got, err := tellAll(s)
		if err != nil || got != want || len(s.Notices()) > 0 {
			return fmt.Errorf("%s: %q, %v, notices %q; want %q", when, got, err, s.Notices(), want)
		}
		if when == "read-only" {
			if _, err := s.Begin(manifest("more")); !errors.Is(err, unix.EROFS) {
				return fmt.Errorf("begin on a read-only disk: %v", err)
			}
		}
		return nil
	}
	fill := func() error {
		filler, err := os.Create(dir + "/filler")
		for size := 1 << 16; err == nil && size > 0; size /= 2 {
			for err == nil {
				_, err = filler.Write(make([]byte, size))
			}
			if errors.Is(err, unix.ENOSPC) {
				err = nil
			}
		}
		return errors.Join(err, filler.Close())
	}
	readOnly := func() error { return unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "") }
	writable := func() error { return unix.Mount("", dir, "", unix.MS_REMOUNT, "") }
	strip := func() error {
		files, err := filepath.Glob(dir + "/runs/*/outline")
		for _, f := range append(files, dir+"/lock", dir+"/filler") {
			err = errors.Join(err, os.Remove(f))
		}
		return err
	}
	return errors.Join(fill(), ask("full"), readOnly(), ask("read-only"), writable(), strip(), fill(),
		ask("full, without outlines"), readOnly(), ask("read-only, without outlines"))
}

func unwritableStore(dir string) (string, error) {
	s, err := Open(dir)
	if err != nil {
		return "", err
	}
	defer s.Close()
	w, err := s.Begin(manifest("demo"))
	if err != nil {
		return "", err
	}
	rec := campaign.Record{RunID: w.RunID(), Verdict: "fail", Complete: true, Findings: []campaign.Finding{finding("F-1", 3)}}
	if err := errors.Join(w.Append(outcome(9)), w.Finish(rec, "done", 0), w.Close()); err != nil {
		return "", err
	}
	if w, err = s.Begin(aged("cut", 5)); err != nil {
		return "", err
	}
	if err := errors.Join(w.Append(outcome(9)), w.Close()); err != nil {
		return "", err
	}
	return tellAll(s)
}

// tellAll is what a store says of its runs.
func tellAll(s *Store) (string, error) {
	runs, err := s.Runs(RunQuery{})
	out := fmt.Sprint(runs)
	for _, r := range runs {
		rec, err := s.Record(r.RunID)
		if err != nil {
			return "", err
		}
		outline, err := s.Outline(r.RunID)
		if err != nil {
			return "", err
		}
		out += fmt.Sprintf("%+v %+v", rec, outline)
	}
	f, ferr := s.FindingOf(runs[1].RunID, "F-1")
	h, herr := s.History(runs[1].RunID, f, 5)
	return out + fmt.Sprint(f.Title, h), errors.Join(err, ferr, herr)
}

func TestFullDisk(t *testing.T) {
	t.Run("file-limit", func(t *testing.T) {
		out, err := child(t, "file-limit", t.TempDir(), "").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("%s", out)
	})
	for _, job := range []string{"tmpfs", "unwritable"} {
		t.Run(job, func(t *testing.T) { inNameSpace(t, child(t, job, t.TempDir(), "")) })
	}
}

// inNameSpace runs a child that mounts what nobody else is to see.
func inNameSpace(t *testing.T, cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// The mount is seen by the child alone and goes when it does.
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skipf("no name spaces of one's own here: %v", err)
	}
	err := cmd.Wait()
	if reason, skip := strings.CutPrefix(out.String(), "skip: "); skip {
		t.Skip(reason)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	t.Log(out.String())
}
