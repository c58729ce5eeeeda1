package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testproc"
)

// The test binary runs itself as another process, doing what this variable
// names in the store that the next one names.
const (
	childJob   = "THRESH_STORE_TEST_JOB"
	childStore = "THRESH_STORE_TEST_DIR"
	childRun   = "THRESH_STORE_TEST_RUN"
)

func TestMain(m *testing.M) {
	jobs := map[string]func(dir string) error{
		"write":  childWrite,
		"resume": childResume,
		"endure": childEndure,
	}
	for name, job := range platformJobs() {
		jobs[name] = job
	}
	job := os.Getenv(childJob)
	if job == "" {
		testproc.Ready(4)
		os.Exit(m.Run())
	}
	if err := jobs[job](os.Getenv(childStore)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, job, dir, run string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childJob+"="+job, childStore+"="+dir, childRun+"="+run)
	return cmd
}

// childWrite writes one run and prints its name.
func childWrite(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := s.Begin(manifest("demo"))
	if err != nil {
		return err
	}
	for i := range int64(2000) {
		if err := w.Append(outcome(i)); err != nil {
			return err
		}
		if _, err := s.PutBlob([]byte(strconv.FormatInt(i/100, 10))); err != nil {
			return err
		}
	}
	part := partial{man: w.man}
	rec := part.record(false)
	for k := range 5 {
		rec.Environment.Seconds = float64(k)
		if err := w.SaveRecord(rec, "interrupted"); err != nil {
			return err
		}
	}
	if err := w.SaveRecord(rec, "done"); err != nil {
		return err
	}
	fmt.Println(w.RunID())
	return w.Close()
}

// childResume tries to take up a run.
func childResume(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	w, j, err := s.Resume(os.Getenv(childRun))
	if err != nil {
		return err
	}
	return errors.Join(j.Close(), w.Close())
}

// childEndure writes for as long as it lives, and prints its run's name and
// then how many outcomes are safely on the disk.
func childEndure(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	w, err := s.Begin(manifest("demo"))
	if err != nil {
		return err
	}
	fmt.Println(w.RunID())
	for i := int64(0); ; i++ {
		if err := w.Append(outcome(i)); err != nil {
			return err
		}
		if i%997 == 0 {
			if err := w.Sync(); err != nil {
				return err
			}
			fmt.Println(i + 1)
		}
	}
}

func TestTwoProcessesAtOnce(t *testing.T) {
	dir := t.TempDir() // not yet a store: both create it
	var cmds [3]*exec.Cmd
	var outs [3]strings.Builder
	for i := range cmds {
		cmds[i] = child(t, "write", dir, "")
		cmds[i].Stdout, cmds[i].Stderr = &outs[i], &outs[i]
		must(t, cmds[i].Start())
	}
	seen := make(map[string]bool)
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, outs[i].String())
		}
		seen[strings.TrimSpace(outs[i].String())] = true
	}
	s := openStore(t, dir)
	if n := s.Notices(); len(n) != 0 {
		t.Errorf("notices %q", n)
	}
	runs, err := s.Runs(RunQuery{})
	if err != nil || len(runs) != 3 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		if !seen[r.RunID] || r.Status != "done" {
			t.Errorf("run %s has status %s; the processes wrote %v", r.RunID, r.Status, seen)
		}
		j, err := s.OpenJournal(r.RunID)
		must(t, err)
		if list, err := entries(t, j); len(list) != 2001 || err != nil || j.Torn != 0 {
			t.Errorf("run %s: %d entries, torn %d, %v", r.RunID, len(list), j.Torn, err)
		}
		j.Close()
	}
}

func TestRunOfALiveProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	out, err := child(t, "resume", dir, w.RunID()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), fmt.Sprintf("run %s is still being written: locked by process %d, started 20", w.RunID(), os.Getpid())) {
		t.Errorf("resuming elsewhere: %v: %s", err, out)
	}
	must(t, w.Close())
	if out, err := child(t, "resume", dir, w.RunID()).CombinedOutput(); err != nil {
		t.Errorf("resuming a run that nobody writes: %v: %s", err, out)
	}
}

func TestResumeAfterKill(t *testing.T) {
	dir := t.TempDir()
	cmd := child(t, "endure", dir, "")
	pipe, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	in := bufio.NewScanner(pipe)
	in.Scan()
	id := in.Text()
	safe := int64(0)
	for i := 0; i < 20 && in.Scan(); i++ {
		safe, err = strconv.ParseInt(in.Text(), 10, 64)
		must(t, err)
	}
	must(t, cmd.Process.Kill())
	rest, _ := io.ReadAll(pipe)
	_ = cmd.Wait()
	if lines := strings.Fields(string(rest)); len(lines) > 0 && strings.HasSuffix(string(rest), "\n") {
		safe, _ = strconv.ParseInt(lines[len(lines)-1], 10, 64)
	}
	if safe == 0 {
		t.Fatal("the child wrote nothing")
	}

	s := openStore(t, dir)
	runs, err := s.Runs(RunQuery{})
	if err != nil || len(runs) != 1 || runs[0].RunID != id || runs[0].Status != "interrupted" {
		t.Fatalf("after the kill: %+v, %v", runs, err)
	}
	w, j, err := s.Resume(id)
	must(t, err)
	next := int64(0)
	for e, err := range j.Entries() {
		must(t, err)
		if e.Kind == KindOutcome {
			if e.Case.Index != next {
				t.Fatalf("case %d where %d was due", e.Case.Index, next)
			}
			next++
		}
	}
	if next < safe {
		t.Errorf("%d outcomes were read back, %d were on the disk", next, safe)
	}
	must(t, w.Append(outcome(next)))
	must(t, errors.Join(j.Close(), w.Close()))
	j, err = s.OpenJournal(id)
	must(t, err)
	defer j.Close()
	if list, err := entries(t, j); int64(len(list)) != next+2 || err != nil || j.Torn != 0 {
		t.Errorf("written on: %d entries, want %d, torn %d, %v", len(list), next+2, j.Torn, err)
	}
}
