package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/zygote"
	"golang.org/x/sys/unix"
)

// shells forks the shells of cases from one that is held before its main function, when it has read
// nothing but its arguments; that is six times as fast as starting one. The arguments name a file
// with the commands of the case's shell, so a case has its own process id, session and limits, like
// a started one.
type shells struct {
	*laneState
	server     *zygote.Server // nil: none
	generation int
	path, file string
	env        []string
	name       string
	script     int // descriptor of the script file; -1: none yet
	unsuited   int // cases since the last start that the held shell could not run
	starts     int
}

// The number of cases a lane runs before it holds a shell, since preparing one takes as long as
// starting some eight; and how often it prepares one for cases with other environments.
const (
	shellFrom   = 12
	shellStarts = 4
)

// fork forks the shell of the prepared case, if possible.
func (s *shells) fork() (child, bool) {
	c := &s.image.command
	if len(c.Argv) != 4 || c.Argv[1] != "-c" || c.Argv[0] != c.Argv[3] {
		return child{}, false
	}
	if s.server == nil || s.generation != s.laneState.generation || s.path != c.Path || s.name != c.Argv[0] || !slices.Equal(s.env, c.Env) {
		if s.unsuited++; s.unsuited <= shellFrom || s.starts == shellStarts {
			return child{}, false
		}
		s.unsuited = 0
		if s.starts++; !s.start() {
			s.starts = shellStarts // do not retry a failure for every case
			return child{}, false
		}
	}
	pid, err := s.forkOf(c.Dir, c.Argv[2])
	if err != nil {
		s.end()
		return child{}, false
	}
	return forked(pid), true
}

// start holds a shell for commands like the prepared one, and checks that a forked shell behaves
// like a started one.
func (s *shells) start() bool {
	s.end()
	c := &s.image.command
	if s.script < 0 {
		fd, err := highFD(unix.MemfdCreate("script", unix.MFD_CLOEXEC))
		if err != nil {
			return false
		}
		s.script, s.file = fd, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	}
	server, err := zygote.Start(zygote.Config{
		Path: c.Path, Argv: []string{c.Argv[0], "-c", ". " + s.file, c.Argv[0]}, Env: c.Env,
		Dir: s.folder.run, Files: s.files(), InputPath: s.folder.path(s.plan.Input), Stdin: s.plan.Stdin,
		Limits: s.limits, Timeout: serverTimeout,
	})
	if err != nil {
		return false
	}
	s.server, s.generation, s.path, s.name, s.env = server, s.laneState.generation, c.Path, c.Argv[0], slices.Clone(c.Env)
	s.shieldFromReaper()
	s.group.serves()
	if !s.forksFaithfully() {
		s.end()
		return false
	}
	return true
}

// shellProbe exercises what may differ between a shell with its commands in an argument and one
// with them in a file: names and line numbers in messages, parameters, return.
const shellProbe = "exec 2>&1\neval 'no-such-command-'\neval 'echo \"$0 $# $- $? $PWD ${OLDPWD-none}\"'\neval 'cd /; pwd'\ntrap 'echo ends $?' EXIT\neval 'f() { return 3; }; f'\neval 'echo \"'\n"

// forksFaithfully reports whether a forked shell prints and ends as a started one does.
func (s *shells) forksFaithfully() bool {
	dir := s.folder.run
	pid, err := s.forkOf(dir, shellProbe)
	if err != nil {
		return false
	}
	bound := time.AfterFunc(serverTimeout, func() { _ = unix.Kill(pid, unix.SIGKILL) })
	ws, err := reap(pid, nil)
	bound.Stop()
	if err != nil {
		return false
	}
	forked, _, err := s.out.read(s.keepSize)
	if err != nil || s.out.rewind() != nil || s.err.rewind() != nil {
		return false
	}
	var out bytes.Buffer
	cmd := exec.Cmd{Path: s.path, Args: []string{s.name, "-c", shellProbe, s.name}, Env: s.env, Dir: dir, Stdout: &out, Stderr: &out}
	_ = cmd.Run() // its error is the exit code, which is compared below
	return cmd.ProcessState != nil && ws.Exited() && ws.ExitStatus() == cmd.ProcessState.ExitCode() && bytes.Equal(forked, out.Bytes())
}

// forkOf forks a shell that changes to a folder and runs a script.
func (s *shells) forkOf(dir, script string) (int, error) {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return 0, fmt.Errorf("the folder of the case: %w", os.ErrNotExist)
	}
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	old := "unset OLDPWD; "
	for _, e := range s.env {
		if value, had := strings.CutPrefix(e, "OLDPWD="); had {
			old = "OLDPWD=" + quoted(value) + "; "
		}
	}
	text := "cd " + quoted(dir) + "; " + old + script // on one line, because messages contain line numbers
	if err := unix.Ftruncate(s.script, 0); err != nil {
		return 0, err
	}
	for at := 0; at < len(text); {
		n, err := unix.Pwrite(s.script, []byte(text[at:]), int64(at))
		if err != nil {
			return 0, err
		}
		at += n
	}
	return s.server.Fork()
}

func (s *shells) end() {
	if s.server != nil {
		_ = s.server.Close() // it holds no data of a case
		s.server = nil
	}
}

func (s *shells) close() {
	s.end()
	if s.script >= 0 {
		unix.Close(s.script)
		s.script = -1
	}
}
