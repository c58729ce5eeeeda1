//go:build unix

package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// played is a host and its child that a test plays.
type played struct {
	t       *testing.T
	lane    *lane
	host    link
	child   link
	streams [3]int // stdin, stdout, stderr as the child has them
}

// play returns a lane whose host is the test.
func play(t *testing.T) *played {
	t.Helper()
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	neverBlock(theirs)
	z := &zygote{link: link{fd: ours}, cmd: exec.Command("sleep", "600"), exited: make(chan struct{}), subreaper: true}
	if err := z.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { z.cmd.Wait(); close(z.exited) }()
	p := &played{t: t, lane: &lane{path: "/no/such/python", zygote: z}, host: link{fd: theirs}, child: link{fd: -1}, streams: [3]int{-1, -1, -1}}
	if err := pipe(p.lane.wake[:]); err != nil {
		t.Fatal(err)
	}
	for _, fd := range p.lane.wake {
		neverBlock(fd)
	}
	if p.lane.folder, err = newFolder(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.lane.close(); err != nil {
			t.Error(err)
		}
		for _, fd := range append(p.streams[:], p.host.fd, p.child.fd) {
			unix.Close(fd)
		}
	})
	return p
}

// fork takes the order for a child.
func (p *played) fork(stdin string, limit int64, sinks *[2]*os.File) *session {
	p.t.Helper()
	s, err := p.lane.open(p.t.Context(), stdin, limit, sinks)
	if err != nil {
		p.t.Fatal(err)
	}
	rights := make([]byte, unix.CmsgSpace(4*4))
	order := make([]byte, 2)
	n, m, _, _, err := unix.Recvmsg(p.host.fd, order, rights, 0)
	if err != nil || string(order[:n]) != "F" {
		p.t.Fatalf("%q, %v", order[:max(0, n)], err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) != 1 {
		p.t.Fatal(messages, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 4 {
		p.t.Fatal(fds, err)
	}
	copy(p.streams[:], fds)
	p.child = link{fd: fds[3]}
	neverBlock(p.child.fd)
	return s
}

func (p *played) says(l *link, frames ...string) {
	p.t.Helper()
	for _, frame := range frames {
		if err := l.send(json.RawMessage(frame), time.Now().Add(patience)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *played) prints(stream int, text string) {
	p.t.Helper()
	if _, err := unix.Write(p.streams[stream], []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// obeys has the host kill its child when it is told to.
func (p *played) obeys(s *session) *session {
	done := make(chan struct{})
	poll := []unix.PollFd{{Fd: int32(p.host.fd), Events: unix.POLLIN}}
	go func() {
		defer close(done)
		for {
			if _, err := unix.Poll(poll, -1); err != unix.EINTR {
				break
			}
		}
		var order [2]byte
		if n, _ := unix.Read(p.host.fd, order[:]); string(order[:max(0, n)]) == "K" {
			_ = p.host.send(map[string]int{"status": 9}, time.Now().Add(patience))
		}
	}()
	p.t.Cleanup(func() {
		p.lane.drop() // which ends the wait
		<-done
	})
	return s
}

// heard is what the host has been told since.
func (p *played) heard() string {
	var order [8]byte
	n, _ := unix.Read(p.host.fd, order[:])
	return string(order[:max(0, n)])
}

func wantFrame(t *testing.T, s *session, want string) {
	t.Helper()
	if data, err := s.next(t.Context(), time.Now().Add(patience), true); err != nil || string(data) != want {
		t.Errorf("%q, %v, want %q", data, err, want)
	}
}

// What a child gives is heard to the last, and comes before its end.
func TestChildrenAreHeard(t *testing.T) {
	p := play(t)
	s := p.fork("text", 5, nil)
	var given [8]byte
	if n, err := unix.Read(p.streams[0], given[:]); string(given[:max(0, n)]) != "text" {
		t.Errorf("stdin: %q, %v", given[:max(0, n)], err)
	}
	if err := s.wait(0); err != nil || s.end != nil || s.closed {
		t.Errorf("nothing was said: %v, %+v, %t", err, s.end, s.closed)
	}
	p.says(&p.child, "1", "2")
	wantFrame(t, s, "1")
	wantFrame(t, s, "2")
	p.prints(1, "fives")
	p.prints(2, "two")
	if got := s.printed(); got != "fives" {
		t.Errorf("%q", got)
	}
	if got := s.printed(); got != "" {
		t.Errorf("printed again: %q", got)
	}
	p.says(&p.host, `{"status":768,"leftovers":2}`)
	if _, err := s.next(t.Context(), time.Now().Add(patience), true); err != errEnded || s.end.status.ExitStatus() != 3 || s.end.leftovers != 2 || s.end.host {
		t.Errorf("%v, %+v", err, s.end)
	}
	if end := s.finish(0); end != s.end || p.heard() != "" || p.lane.zygote == nil {
		t.Errorf("%+v", end)
	}

	// All that was there when it ended is read with the note of its end.
	s = p.fork("", 100_000, nil)
	long := `"` + strings.Repeat("a", 40_000) + `"`
	p.says(&p.child, long)
	p.prints(1, strings.Repeat("b", 60_000))
	p.prints(2, "c")
	p.says(&p.host, `{"status":0}`)
	if err := s.hearEnd(); err != nil || s.end == nil || len(s.out[0].buf) != 60_000 || string(s.out[1].buf) != "c" {
		t.Errorf("%v, %+v, %d bytes, %q", err, s.end, len(s.out[0].buf), s.out[1].buf)
	}
	wantFrame(t, s, long)
	s.finish(0)

	// What comes after a freeze is dropped, of both.
	s = p.fork("", 100, nil)
	p.prints(1, "a")
	p.prints(2, "b")
	s.freeze()
	p.prints(1, "c")
	p.prints(2, "d")
	s.drain()
	if string(s.out[0].buf) != "a" || string(s.out[1].buf) != "b" {
		t.Errorf("%q, %q", s.out[0].buf, s.out[1].buf)
	}
	p.says(&p.host, `{"status":0}`)
	s.finish(patience)
}

// Output goes to files where there are some, and a descriptor is inherited by nobody.
func TestDescriptorsOfSessions(t *testing.T) {
	p := play(t)
	var sinks [2]*os.File
	for i := range sinks {
		var err error
		if sinks[i], err = p.lane.folder.anonymous(); err != nil {
			t.Fatal(err)
		}
		defer sinks[i].Close()
	}
	s := p.fork("", 0, &sinks)
	p.prints(1, "out")
	p.prints(2, "errs")
	for i, want := range []string{"out", "errs"} {
		var got [8]byte
		if n, _ := sinks[i].ReadAt(got[:], 0); string(got[:n]) != want || s.out[i].fd >= 0 {
			t.Errorf("%q, want %q; descriptor %d", got[:n], want, s.out[i].fd)
		}
	}
	if n, err := unix.Read(p.streams[0], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("an empty stdin gave %d bytes, %v", n, err)
	}
	p.says(&p.host, `{"status":0}`)
	s.finish(patience)
	s = p.fork("", 1, nil)
	all := []int{s.channel.fd, s.out[0].fd, s.out[1].fd, p.lane.wake[0], p.lane.wake[1], p.lane.zygote.link.fd}
	for _, text := range []string{"", "text"} {
		fd, err := p.lane.input(text)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		all = append(all, fd)
	}
	for i, fd := range all {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d is inherited: %x, %v", i, flags, err)
		}
	}
	p.says(&p.host, `{"status":0}`)
	s.finish(patience)
}

// A wait is over when there is too much output, if that is asked for, when its context ends
// and at its limit, in this order.
func TestEndsOfWaits(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	past, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for stream := 1; stream <= 2; stream++ {
		p := play(t)
		s := p.obeys(p.fork("", 4, nil))
		p.prints(stream, "four")
		if err := s.wait(0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.next(t.Context(), past, true); err != errDeadline {
			t.Errorf("stream %d: as much as is taken: %v", stream, err)
		}
		p.prints(stream, "5")
		if err := s.wait(0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.next(over, later, true); err != errTooMuch {
			t.Errorf("stream %d: %v", stream, err)
		}
		if _, err := s.next(over, past, false); err != context.Canceled {
			t.Errorf("stream %d: %v", stream, err)
		}
		if _, err := s.next(t.Context(), past, false); err != errDeadline {
			t.Errorf("stream %d: %v", stream, err)
		}
		if end := s.finish(0); end.status != 9 || end.host || p.lane.zygote == nil {
			t.Errorf("%+v", end)
		}
	}

	p := play(t)
	s := p.obeys(p.fork("", 4, nil))
	stop := p.lane.follow(over)
	if _, err := s.next(over, later, false); err != context.Canceled {
		t.Error(err)
	}
	stop()
	if _, err := unix.Write(p.lane.wake[1], []byte{0}); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(0); err != nil {
		t.Error(err)
	}
	if n, err := unix.Read(p.lane.wake[0], make([]byte, 1)); err != unix.EAGAIN {
		t.Errorf("the next wait is woken for nothing: %d bytes, %v", n, err)
	}
	// Nonsense is as good as silence, and so is a closed channel.
	if err := p.child.write([]byte("nonsense"), later); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(0); err != nil || s.closed {
		t.Errorf("%t, %v", s.closed, err)
	}
	if _, err := s.next(t.Context(), past, false); err != errDeadline || !s.closed {
		t.Errorf("%t, %v", s.closed, err)
	}
	s.finish(0)
	p = play(t)
	s = p.obeys(p.fork("", 4, nil))
	unix.Close(p.child.fd)
	p.child.fd = -1
	if err := s.wait(0); err != nil || !s.closed || s.end != nil {
		t.Errorf("%t, %+v, %v", s.closed, s.end, err)
	}
	p.prints(1, "out")
	p.prints(2, "err")
	if err := s.wait(0); err != nil || string(s.out[0].buf) != "out" || string(s.out[1].buf) != "err" {
		t.Errorf("its output is still heard: %q, %q, %v", s.out[0].buf, s.out[1].buf, err)
	}
	s.finish(0)
}

// Of a host, a note of an end counts, also if it is its last word; one that is gone or says
// what cannot be is given up with its child.
func TestLastWordsOfHosts(t *testing.T) {
	for said, want := range map[string]ending{
		`00000010{"status":1792 }`: {status: 7 << 8},
		`0000000c{"status":0}`:     {status: 0},
		"":                         {status: 9, host: true},
		"0000":                     {status: 9, host: true},
		"nonsense":                 {status: 9, host: true},
		"00000002[]":               {status: 9, host: true},
		"00000002{}":               {status: 9, host: true},
		`00000010{"refused":"no"}`: {refused: "no"},
	} {
		for _, goes := range []bool{true, false} {
			if !goes && len(said) < 8 { // it may go on
				continue
			}
			p := play(t)
			s := p.fork("", 1, nil)
			if err := p.host.write([]byte(said), time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if goes {
				unix.Close(p.host.fd)
				p.host.fd = -1
			}
			if _, err := s.next(t.Context(), time.Now().Add(patience), false); err == nil || (err == errEnded) != (want.refused == "") {
				t.Errorf("%s: %v", said, err)
			}
			if *s.end != want || (p.lane.zygote == nil) != want.host {
				t.Errorf("%s: %+v", said, s.end)
			}
			s.release()
		}
	}
	p := play(t)
	s := p.fork("", 1, nil)
	for _, part := range []string{"0000", `000c{"stat`, `us":5}`} {
		if s.end != nil || p.lane.zygote == nil {
			t.Errorf("before %s: %+v", part, s.end)
		}
		if err := p.host.write([]byte(part), time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if err := s.wait(0); err != nil {
			t.Error(err)
		}
	}
	if end := s.finish(0); end.status != 5 || p.heard() != "" {
		t.Errorf("%+v", end)
	}

	// A host that cannot be told to kill, or goes when it is told, is given up.
	p = play(t)
	s = p.fork("", 1, nil)
	unix.Close(p.host.fd)
	p.host.fd = -1
	if end := s.finish(0); !end.host || end.status != 9 || p.lane.zygote != nil {
		t.Errorf("%+v", end)
	}
	p = play(t)
	s = p.fork("", 1, nil)
	p.says(&p.child, "1", "2") // which nobody waits for
	p.says(&p.host, `{"refused":"no"}`)
	if end := s.finish(patience); end.refused != "no" || end.host || p.lane.zygote == nil {
		t.Errorf("%+v", end)
	}
}

// A host that ends within its first words is no reason to wait.
func TestHostsThatEndEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nprintf 0000 >&3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if c, err := OpenCommander(t.Context(), path); err == nil || !strings.Contains(err.Error(), "the Python host is gone: it ended") {
		t.Errorf("%v, %v", c, err)
	}
}

// The end of a command is its own, or what stopped it.
func TestConclusions(t *testing.T) {
	other := errors.New("other")
	for name, x := range map[string]struct {
		over    [2]bool
		stopped error
		end     ending
		want    pyhost.CommandResult
		err     error
	}{
		"finished":     {want: pyhost.CommandResult{Ending: pyhost.Raised, Fault: &pyhost.Fault{}}},
		"out":          {over: [2]bool{true, false}, want: pyhost.CommandResult{Ending: pyhost.OutputLimit}},
		"err":          {over: [2]bool{false, true}, stopped: errDeadline, want: pyhost.CommandResult{Ending: pyhost.OutputLimit}},
		"late":         {stopped: errDeadline, end: ending{status: 9}, want: pyhost.CommandResult{Ending: pyhost.TimedOut, Fault: &pyhost.Fault{}}},
		"other":        {stopped: other, want: pyhost.CommandResult{Ending: pyhost.Raised, Fault: &pyhost.Fault{}}, err: other},
		"a signal":     {stopped: errEnded, end: ending{status: 15}, want: pyhost.CommandResult{Ending: pyhost.Signaled, Signal: 15, Fault: &pyhost.Fault{}}},
		"the host too": {stopped: errEnded, end: ending{status: 9, host: true}, want: pyhost.CommandResult{Ending: pyhost.Signaled, Signal: 9, Fault: &pyhost.Fault{Class: "HostKilled"}}},
		"a code":       {stopped: errEnded, end: ending{status: 5 << 8}, want: pyhost.CommandResult{Ending: pyhost.Exited, ExitCode: 5, Fault: &pyhost.Fault{}}},
	} {
		res := pyhost.CommandResult{Ending: pyhost.Raised, Fault: &pyhost.Fault{}}
		s := &session{}
		s.out[0].over, s.out[1].over = x.over[0], x.over[1]
		err := conclude(&res, x.stopped, &x.end, s)
		if err != x.err || res.Ending != x.want.Ending || res.ExitCode != x.want.ExitCode || res.Signal != x.want.Signal || (res.Fault == nil) != (x.want.Fault == nil) || res.Fault != nil && res.Fault.Class != x.want.Fault.Class {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

// Phases, codes and faults of a command are those of its frames, up to the last.
func TestFramesOfCommands(t *testing.T) {
	p := play(t)
	s := p.obeys(p.fork("", 9, nil))
	p.prints(1, "a")
	p.says(&p.child, `{"phase":"main"}`, `{"captured":true}`, `{"wanted":true}`, `{"exit":4}`, `{"end":true,"exit":3,"fault":{"class":"E"}}`, `{"phase":"load"}`)
	res := pyhost.CommandResult{Phase: pyhost.PhaseSetup}
	if err := s.follow(t.Context(), &res, time.Now().Add(patience)); err != nil || res.Phase != "main" || res.ExitCode != 3 || res.Ending != pyhost.Raised || res.Fault.Class != "E" || !s.out[0].frozen || !s.out[1].frozen {
		t.Errorf("%+v, %v", res, err)
	}
	for range 2 {
		var text []byte
		for text == nil {
			if err := p.child.fill(); err != nil {
				t.Fatal(err)
			}
			var err error
			if text, err = p.child.take(); err != nil {
				t.Fatal(err)
			}
		}
		if string(text) != `{"stderr":"","stdout":"a"}` {
			t.Errorf("its hooks hear %s", text)
		}
	}
	if err := p.child.fill(); err != nil || len(p.child.buf) != 0 {
		t.Errorf("nobody asked for %s, %v", p.child.buf, err)
	}
	p.says(&p.child, "[]")
	if err := s.follow(t.Context(), &res, time.Now().Add(patience)); err != nil { // the frame after the end
		if err != errEnded {
			t.Error(err)
		}
	}
	s.finish(0)
}

// An agent's reply is late by what it says itself; nonsense in its place is its end.
func TestRepliesOfAgents(t *testing.T) {
	for said, want := range map[string]pyhost.AgentReply{
		`{"end":"x","text":"t","latency":1000000000}`: {End: "x", Text: "t", Latency: time.Second, Printed: "ou"},
		`{"end":"x","text":"t","latency":1000000001}`: {End: pyhost.AgentHung, Latency: time.Second + 1, Printed: "ou"},
		`[]`: {End: pyhost.AgentDied, Fresh: true, Printed: "ou"},
	} {
		p := play(t)
		a := &agent{lane: p.lane, session: p.obeys(p.fork("", 2, nil))}
		p.prints(1, "out")
		if err := a.session.wait(0); err != nil || !a.session.out[0].over {
			t.Errorf("%+v, %v", a.session.out[0], err)
		}
		p.says(&p.child, `{"called":{"tool":"a"}}`, `{"returned":{"tool":"a"}}`, said)
		got, err := a.call(t.Context(), agentOrder{}, time.Second, nil)
		if want.Fresh {
			got.Latency = 0
			if got.Fault == nil || got.Fault.Class != "ProcessEnded" || got.Fault.Message != "the process ended: signal 9 (killed)" || a.hung != 1 || a.session != nil {
				t.Errorf("%+v", got)
			}
			got.Fault = nil
		}
		if err != nil || got.End != want.End || got.Text != want.Text || got.Latency != want.Latency || got.Printed != want.Printed || got.Fresh != want.Fresh || got.Fault != nil {
			t.Errorf("%s: %+v, %v", said, got, err)
		}
		a.drop()
	}
	// So is a reset's.
	for said, want := range map[string]string{
		`{"latency":1000000001}`:              "reset the agent by m:f: TimeLimit: no answer within 1s",
		`{"latency":1,"fault":{"class":"E"}}`: "reset the agent by m:f: E",
		`{"latency":1}`:                       "",
		`{"called":{"tool":"a"}}`:             "reset the agent by m:f: context canceled",
	} {
		p := play(t)
		a := &agent{lane: p.lane, session: p.obeys(p.fork("", agentPrinted, nil)), plan: pyhost.AgentPlan{Reset: "m:f"}}
		p.says(&p.child, said)
		ctx, cancel := context.WithCancel(t.Context())
		if strings.HasSuffix(want, "canceled") {
			cancel()
		}
		err := a.Reset(ctx, time.Second)
		cancel()
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", said, err, want)
		}
		a.drop()
	}
}

// A system that is late or talks nonsense gets a new process.
func TestAnswersThatAreNone(t *testing.T) {
	for said, want := range map[string]sut.Observation{
		"":           {End: sut.Hung},
		"[]":         {End: sut.Crashed, Why: "the process ended: signal 9 (killed)", Signal: 9},
		`{"value":}`: {End: sut.Crashed, Why: "the process ended: signal 9 (killed)", Signal: 9},
	} {
		p := play(t)
		c := &callable{lane: p.lane, session: p.obeys(p.fork("", 9, nil)), plan: &sut.Plan{Entry: "m.py:f"}, ops: []sut.Operation{{Name: "f"}}}
		timeout := patience
		if said == "" {
			timeout = -time.Second
		} else if err := p.child.write(fmt.Appendf(nil, "%08x%s", len(said), said), time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		o, err := c.Call(t.Context(), sut.Call{Operation: "f", Positional: []json.RawMessage{[]byte("1")}, Timeout: timeout})
		if err != nil || o.End != want.End || want.Why != "" && o.Why != want.Why || o.Signal != want.Signal || c.session != nil {
			t.Errorf("%q: %+v, %v", said, o, err)
		}
	}
}

// A plan says what its operations take, or else the code does.
func TestOperationsOfPlans(t *testing.T) {
	python(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.py"), []byte(`
class Shop:
    def buy(self, item: str, n: int = 1):
        "buys it"
    def sell(self, item: bytes):
        "sells it"
    def look(self):
        "looks"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	own := []sut.Argument{{Name: "thing", Type: "string"}}
	x, err := OpenSystem(t.Context(), system.Site{Plan: &sut.Plan{Kind: sut.Python, Dir: dir, Entry: "shop.py:Shop", Operations: []sut.Operation{{Name: "sell"}, {Name: "buy", Arguments: own}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	ops := x.Operations()
	if len(ops) != 3 || ops[0].Name != "buy" || !slices.Equal(ops[0].Arguments, own) || ops[1].Name != "look" || len(ops[1].Arguments) != 0 || ops[1].Description != "looks" ||
		ops[2].Name != "sell" || !slices.Equal(ops[2].Arguments, []sut.Argument{{Name: "item", Type: "string", Required: true}}) {
		t.Errorf("%+v", ops)
	}
	if notes := x.(*callable).Notes(); len(notes) == 0 || !strings.HasPrefix(notes[0], "Python ") {
		t.Errorf("%q", notes)
	}
}

// As many calls of operators go in one frame as are not too long together: it is sent again
// after a death.
func TestBatchesOfOperators(t *testing.T) {
	for name, x := range map[string]struct {
		call pyhost.OperatorCall
		want int
	}{
		"short":    {pyhost.OperatorCall{}, 256},
		"texts":    {pyhost.OperatorCall{Seed: strings.Repeat("a", batchBytes/2)}, 2},
		"a text":   {pyhost.OperatorCall{Seed: strings.Repeat("a", batchBytes-1)}, 2},
		"contexts": {pyhost.OperatorCall{Context: json.RawMessage(`"` + strings.Repeat("a", batchBytes/4) + `"`)}, 4},
		"states":   {pyhost.OperatorCall{State: make([]byte, 4*stateWords)}, 153},
	} {
		p := play(t)
		o := &operators{lane: p.lane, session: p.obeys(p.fork("", 0, nil)), modules: make([]pyhost.OperatorModule, 1), lost: map[pyhost.CallEnd]int{}, set: pyhost.OperatorSet{CallLimit: patience}}
		sent := make(chan int)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel() // there are no replies
			poll := []unix.PollFd{{Fd: int32(p.child.fd), Events: unix.POLLIN}}
			for {
				_, _ = unix.Poll(poll, -1)
				gone := p.child.fill() != nil
				frame, err := p.child.take()
				var order struct{ Calls []json.RawMessage }
				if frame != nil {
					err = json.Unmarshal(frame, &order)
				}
				if frame != nil || gone || err != nil {
					go func() { sent <- len(order.Calls) }()
					return
				}
			}
		}()
		stop := p.lane.follow(ctx)
		if n, err := o.batch(ctx, slices.Repeat([]pyhost.OperatorCall{x.call}, 300), nil); n != 0 || err != context.Canceled {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		stop()
		if n := <-sent; n != x.want {
			t.Errorf("%s: %d calls in one frame, want %d", name, n, x.want)
		}
	}
}

// An operator that does not load a second time is no fault of the module's, and one that says
// something else then is what it was.
func TestOperatorsThatChange(t *testing.T) {
	dir := t.TempDir()
	const text = `
import os
MARK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mark")
again = os.path.exists(MARK)
open(MARK, "w").close()
OPERATOR_META = {"again": again}
if again and %s:
    os._exit(4)
def apply(seed_text, ctx, rng):
    os._exit(3)
`
	for dies, want := range map[string]string{"False": "", "True": ": the process ended: exit status 4"} {
		if err := os.RemoveAll(filepath.Join(dir, "mark")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "op_"+dies+".py")
		if err := os.WriteFile(file, []byte(strings.Replace(text, "%s", dies, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		o := openOperators(t, pyhost.OperatorSet{Files: []string{file}})
		if want != "" {
			want = "load " + file + " again" + want
		}
		ends := 0
		err := o.Apply(t.Context(), wild("a", "b"), func(_ int, r *pyhost.OperatorReply) error {
			if r.End == pyhost.Died && r.Fault.File == file && r.Fault.Line > 0 {
				ends++
			}
			return nil
		})
		if want == "" && (err != nil || ends != 2) || want != "" && (err == nil || err.Error() != want || ends != 1) {
			t.Errorf("%d, %v, want %s", ends, err, want)
		}
		if m := o.Modules()[0]; string(m.Meta) != `{"again": false}` || m.Fault != nil {
			t.Errorf("%s: %+v", m.Meta, m)
		}
	}
}

// few leaves this process so many descriptors that it may open, or, below 0, not even those
// that it has. Not beside parallel tests.
func few(t *testing.T, n int) (restore func()) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("limits of descriptors are tried on Linux")
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	limit := was
	limit.Cur = 0
	for free := 0; n >= 0; limit.Cur++ {
		if _, err := unix.FcntlInt(uintptr(limit.Cur), unix.F_GETFD, 0); err != nil {
			if free++; free > n {
				break
			}
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}
}

// Without descriptors nothing can be started, which is said, and costs none.
func TestFewDescriptors(t *testing.T) {
	python(t)
	dir := code(t)
	p := play(t)
	refuses := func(name string, least int, open func() error) {
		t.Helper()
		for n := 0; ; n++ {
			before := openFiles(t)
			restore := few(t, n)
			err := open()
			restore()
			if after := openFiles(t); after != before {
				t.Errorf("%s, with %d: %d files are open, %d were before", name, n, after, before)
			}
			if errors.Is(err, syscall.EMFILE) {
				continue
			}
			if n < least {
				t.Errorf("%s, with %d: %v", name, n, err)
			}
			return // it works, or Python has too few
		}
	}
	for _, text := range []string{"", "text"} {
		refuses("input", 1, func() error {
			fd, err := p.lane.input(text)
			if err != nil && fd >= 0 {
				t.Errorf("descriptor %d, %v", fd, err)
			}
			unix.Close(fd)
			return err
		})
	}
	refuses("a session", 7, func() error {
		s, err := p.lane.fork("text", 1, nil)
		if err == nil {
			p.heard()
			s.release()
		} else if s != nil {
			t.Errorf("%+v, %v", s, err)
		}
		return err
	})
	refuses("commands", 4, func() error {
		c, err := OpenCommander(t.Context(), "")
		if err == nil {
			return c.Close()
		}
		return err
	})
	refuses("a system", 4, func() error {
		x, err := OpenSystem(t.Context(), system.Site{Plan: &sut.Plan{Kind: sut.Python, Dir: dir, Entry: "agents.py:plain"}})
		if err == nil {
			return x.Close()
		}
		return err
	})
}

// openFiles is how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}

// That the kernel refuses to wait is an error of the machine, not the end of a case, and what
// comes after it is as good as ever. With a limit of no descriptors it refuses.
func TestWaitsThatFail(t *testing.T) {
	python(t)
	dir := code(t)
	none := func(do func() error) {
		t.Helper()
		restore := few(t, -1)
		err := do()
		restore()
		if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "wait for Python code: ") {
			t.Errorf("%v", err)
		}
	}
	a := openAgent(t, agentPlan(t, "agents:plain"))
	none(func() error {
		_, err := a.Call(t.Context(), pyhost.AgentCall{Input: []byte(`"hi"`), Timeout: patience})
		return err
	})
	if r, err := a.Call(t.Context(), pyhost.AgentCall{Input: []byte(`"ho"`), Timeout: patience}); err != nil || r.Text != "plain: ho" || len(a.Notes()) != 2 {
		t.Errorf("%+v, %v, %q", r, err, a.Notes())
	}
	o := openOperators(t, pyhost.OperatorSet{Files: []string{filepath.Join(dir, "bad/op_wild.py")}})
	none(func() error { return o.Apply(t.Context(), wild("fine"), nil) })
	if r := apply(t, o, wild("fine")...); r[0].Child != "fine 1" {
		t.Errorf("%+v", r)
	}
	x, err := OpenSystem(t.Context(), system.Site{Plan: &sut.Plan{Kind: sut.Python, Dir: dir, Entry: "agents.py:plain"}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	call := sut.Call{Operation: "plain", Positional: []json.RawMessage{[]byte(`"hi"`)}, Timeout: patience}
	if o, err := x.Call(t.Context(), call); o.End != sut.Answered {
		t.Fatalf("%+v, %v", o, err)
	}
	none(func() error {
		_, err := x.Call(t.Context(), call)
		return err
	})
	call.Positional[0] = []byte(`"ho"`)
	if o, err := x.Call(t.Context(), call); err != nil || string(o.Value) != `"plain: ho"` {
		t.Errorf("%+v, %v", o, err)
	}
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ours)
	defer unix.Close(theirs)
	restore := few(t, -1)
	err = (&link{fd: ours}).send(strings.Repeat("a", 8<<20), time.Now().Add(patience))
	_, mute := (&zygote{link: link{fd: ours}}).readNote(t.Context(), time.Now().Add(patience))
	restore()
	if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "write a frame: ") || !errors.Is(mute, unix.EINVAL) || !strings.Contains(mute.Error(), "wait for the Python host: ") {
		t.Errorf("%v, %v", err, mute)
	}
	p := play(t)
	s := p.fork("", 1, nil)
	none(func() error { return s.wait(patience) })
	none(func() error {
		_, err := s.next(t.Context(), time.Now().Add(patience), false)
		if end := s.finish(patience); !end.host || end.status != 9 || p.lane.zygote != nil {
			t.Errorf("%+v", end)
		}
		return err
	})
}

// What is given in folders relative to one that is gone cannot be found.
func TestFoldersThatAreGone(t *testing.T) {
	python(t)
	c, err := OpenCommander(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	gone := t.TempDir()
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip(err)
	}
	if _, err := filepath.Abs("x"); err == nil {
		t.Skip("it can be found")
	}
	if a, err := OpenAgent(t.Context(), pyhost.AgentPlan{Target: "m:f", SearchPath: []string{"x"}, LoadLimit: patience}); a != nil || err == nil || !strings.Contains(err.Error(), "find the folder x: ") {
		t.Errorf("%v, %v", a, err)
	}
	if x, err := OpenSystem(t.Context(), system.Site{Plan: &sut.Plan{Kind: sut.Python, Dir: "x", Entry: "y.py:z"}}); x != nil || err == nil || !strings.Contains(err.Error(), "find the folder x: ") {
		t.Errorf("%v, %v", x, err)
	}
	if r, err := c.Run(t.Context(), pyhost.Command{Entrypoint: "m:f", SearchPath: []string{"x"}, Timeout: patience}); err == nil || !strings.Contains(err.Error(), "find the folder x: ") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A command is asked for with this process's environment where it has none of its own, and
// lists that are empty, not absent.
func TestRequestsOfCommands(t *testing.T) {
	t.Setenv("THRESH_TEST_MARK", "1")
	r, err := newRequest(pyhost.Command{Limits: process.Limits{FileSize: 7}}, "/tmp/x")
	if err != nil || !slices.Contains(r.Environ, "THRESH_TEST_MARK=1") || string(r.Kwargs) != "{}" || r.Temp != "/tmp/x" || r.Limits["file"] != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	for i, l := range [][]string{r.Argv, r.Path, r.Stubs, r.Blocked} {
		if l == nil || len(l) != 0 {
			t.Errorf("list %d: %v", i, l)
		}
	}
}

// The end of a run is no fault of the module that is being loaded.
func TestLoadsThatAreCancelled(t *testing.T) {
	p := play(t)
	o := &operators{lane: p.lane, session: p.obeys(p.fork("", 0, nil)), modules: make([]pyhost.OperatorModule, 1), lost: map[pyhost.CallEnd]int{}, set: pyhost.OperatorSet{LoadLimit: patience}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.load(ctx, 0); err != context.Canceled || o.modules[0].Fault != nil || len(o.lost) != 0 || o.session != nil {
		t.Errorf("%v, %+v, %v", err, o.modules[0], o.lost)
	}
}
