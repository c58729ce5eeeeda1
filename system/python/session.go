//go:build unix

package python

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/diag"
)

// lane is what a runner of any kind needs: a zygote, which is replaced when it is damaged, and a
// folder.
type lane struct {
	path     string   // interpreter
	hashSeed string   // "": that of every run
	load     *preload // nil: nothing
	zygote   *zygote
	folder   folder
	wake     [2]int // a pipe, written when a context ends and polled by waits
	replaced int    // number of replaced zygotes
}

func newLane(ctx context.Context, setting, hashSeed string, load *preload) (*lane, error) {
	path, err := Interpreter(setting)
	if err != nil {
		return nil, err
	}
	l := &lane{path: path, hashSeed: hashSeed, load: load}
	if err := pipe(l.wake[:]); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	for _, fd := range l.wake {
		neverBlock(fd)
	}
	if l.folder, err = newFolder(); err == nil {
		l.zygote, err = startZygote(ctx, path, hashSeed, load)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// follow wakes the lane's waits when ctx ends, until stop is called. stop must be called exactly
// once, before the lane is closed.
func (l *lane) follow(ctx context.Context) (stop func()) {
	written := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() { unix.Write(l.wake[1], []byte{0}); close(written) })
	return func() {
		if !unhook() {
			// Otherwise the byte would wake a later wait or go to whatever file has the pipe's
			// descriptor by then.
			<-written
			var drain [16]byte
			unix.Read(l.wake[0], drain[:])
		}
	}
}

// open forks a child, from a new zygote if the old one is gone. It keeps up to limit bytes of each
// output or, with sinks, sends stdout and stderr to these files.
func (l *lane) open(ctx context.Context, stdin string, limit int64, sinks *[2]*os.File) (*session, error) {
	for attempt := 0; ; attempt++ {
		if l.zygote == nil {
			var err error
			if l.zygote, err = startZygote(ctx, l.path, l.hashSeed, l.load); err != nil {
				return nil, err
			}
			l.replaced++
		}
		s, err := l.fork(stdin, limit, sinks)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l.drop()
		if !errors.Is(err, errHost) || attempt > 0 {
			return nil, err
		}
	}
}

// drop ends the zygote.
func (l *lane) drop() {
	if l.zygote != nil {
		l.zygote.close()
		l.zygote = nil
	}
}

func (l *lane) close() error {
	l.drop()
	for _, fd := range l.wake {
		unix.Close(fd)
	}
	l.wake = [2]int{-1, -1}
	if l.folder.Folder != nil {
		return l.folder.Close()
	}
	return nil
}

// notes returns the notes common to all runners.
func (l *lane) notes() []string {
	var notes []string
	if z := l.zygote; z != nil {
		notes = append(notes, fmt.Sprintf("Python %s (%s)", z.version, z.path))
		if !z.subreaper {
			notes = append(notes, "processes that leave their process group outlive the case: this system or this Python cannot adopt orphans")
		}
	}
	if l.replaced > 0 {
		notes = append(notes, "the Python host was replaced "+diag.Plural(l.replaced, "time"))
	}
	return notes
}

// session is one child: its channel, and the read ends of its output.
type session struct {
	lane    *lane
	channel link
	out     [2]stream // stdout, stderr
	closed  bool      // the child has closed its end of the channel
	end     *ending
}

// ending is how a child ended.
type ending struct {
	status    syscall.WaitStatus
	leftovers int
	host      bool   // the zygote died with it; status is synthetic
	refused   string // why there was no child
}

// stream is one captured output.
type stream struct {
	fd     int
	buf    []byte
	limit  int64 // bytes to keep
	over   bool  // more was written
	frozen bool  // drop further output
}

func (l *lane) fork(stdin string, limit int64, sinks *[2]*os.File) (_ *session, err error) {
	s := &session{lane: l, channel: link{fd: -1}}
	s.out[0].fd, s.out[1].fd = -1, -1
	given := [4]int{-1, -1, -1, -1} // the child's ends
	defer func() {
		for _, fd := range given {
			unix.Close(fd)
		}
		if err != nil {
			s.release()
		}
	}()
	if given[0], err = l.input(stdin); err != nil {
		return nil, err
	}
	for i := range s.out {
		if sinks != nil {
			if given[1+i], err = unix.FcntlInt(sinks[i].Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
				return nil, fmt.Errorf("copy a descriptor: %w", err)
			}
			continue
		}
		var ends [2]int
		if err := pipe(ends[:]); err != nil {
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		s.out[i].fd, given[1+i], s.out[i].limit = ends[0], ends[1], limit
		neverBlock(ends[0])
	}
	if s.channel.fd, given[3], err = socketpair(); err != nil {
		return nil, err
	}
	return s, l.zygote.fork(given)
}

// input returns a descriptor from which a text can be read.
func (l *lane) input(text string) (int, error) {
	if text == "" {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, fmt.Errorf("open %s: %w", os.DevNull, err)
		}
		return fd, nil
	}
	file, err := l.folder.anonymous()
	if err != nil {
		return -1, err
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte(text), 0); err != nil {
		return -1, fmt.Errorf("write standard input: %w", err)
	}
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("copy a descriptor: %w", err)
	}
	return fd, nil
}

// release closes the session's descriptors. The child is dead or was never created.
func (s *session) release() {
	for _, fd := range []int{s.channel.fd, s.out[0].fd, s.out[1].fd} {
		unix.Close(fd)
	}
}

// Why a wait ended.
var (
	errDeadline = errors.New("the time limit was reached")
	errTooMuch  = errors.New("the output is over its limit")
	errEnded    = errors.New("the process has ended")
)

// next waits for the child's next frame. The wait can also end with errDeadline, errTooMuch (if
// loud), errEnded or the error of ctx.
func (s *session) next(ctx context.Context, deadline time.Time, loud bool) ([]byte, error) {
	for {
		// Frames come first: what the child wrote before it died counts.
		if frame, err := s.channel.take(); frame != nil {
			return frame, nil
		} else if err != nil {
			s.closed = true // garbage counts as the end of the channel
		}
		if s.end != nil && s.end.refused != "" {
			return nil, fmt.Errorf("fork a process for Python code: %s", s.end.refused)
		}
		if s.end != nil {
			return nil, errEnded
		}
		if loud && (s.out[0].over || s.out[1].over) {
			return nil, errTooMuch
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, errDeadline
		}
		if err := s.wait(left); err != nil {
			return nil, err
		}
	}
}

// wait reads whatever arrives, for at most the given time.
func (s *session) wait(left time.Duration) error {
	poll := [5]unix.PollFd{
		{Fd: int32(s.lane.zygote.link.fd), Events: unix.POLLIN},
		{Fd: int32(s.lane.wake[0]), Events: unix.POLLIN},
		{Fd: int32(s.channel.fd), Events: unix.POLLIN},
		{Fd: int32(s.out[0].fd), Events: unix.POLLIN},
		{Fd: int32(s.out[1].fd), Events: unix.POLLIN},
	}
	if s.closed {
		poll[2].Fd = -1
	}
	_, err := unix.Poll(poll[:], milliseconds(left))
	if err == unix.EINTR {
		return nil
	}
	if err != nil {
		return fmt.Errorf("wait for Python code: %w", err)
	}
	for i := range s.out {
		if poll[3+i].Revents != 0 {
			s.out[i].read()
		}
	}
	if poll[2].Revents != 0 && s.channel.fill() != nil {
		s.closed = true
	}
	if poll[1].Revents != 0 {
		var drain [16]byte
		unix.Read(s.lane.wake[0], drain[:])
	}
	if poll[0].Revents != 0 {
		return s.hearEnd()
	}
	return nil
}

// hearEnd reads the zygote's note of the child's end, or detects the zygote's own end.
func (s *session) hearEnd() error {
	z := s.lane.zygote
	gone := z.link.fill() != nil
	n, ok, err := z.pendingNote()
	switch {
	case err == nil && ok && n.Refused != "":
		s.end = &ending{refused: n.Refused}
	case err == nil && ok && n.Status != nil:
		s.end = &ending{status: syscall.WaitStatus(*n.Status), leftovers: n.Leftovers}
	case gone || err != nil || ok:
		// The child has killed its parent, or somebody else did. The child's end can no longer be
		// known, and it must not keep running.
		s.lane.drop()
		s.end = &ending{status: syscall.WaitStatus(unix.SIGKILL), host: true}
	default:
		return nil
	}
	// All writers are dead; their output is available.
	_ = s.channel.fill()
	s.drain()
	return nil
}

// pipeRoom exceeds the capacity of a pipe: reading so many bytes yields everything written before.
const pipeRoom = 1<<20 + 64<<10

// drain reads all output available now.
func (s *session) drain() {
	for i := range s.out {
		s.out[i].read()
	}
}

// freeze drains the outputs and drops what arrives later.
func (s *session) freeze() {
	s.drain()
	s.out[0].frozen, s.out[1].frozen = true, true
}

// read reads the available output, up to about pipeRoom.
func (o *stream) read() {
	var chunk [32 << 10]byte
	for done := int64(0); done < pipeRoom; {
		n, err := unix.Read(o.fd, chunk[:])
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN {
			return
		}
		if n <= 0 {
			unix.Close(o.fd)
			o.fd = -1
			return
		}
		done += int64(n)
		if o.frozen {
			continue
		}
		room := o.limit - int64(len(o.buf))
		if int64(n) > room {
			o.over = true
		}
		o.buf = append(o.buf, chunk[:min(int64(n), room)]...)
	}
}

// finish waits for the child to end by itself, kills it after patience, and returns how it ended.
// It ends the session.
func (s *session) finish(patience time.Duration) *ending {
	defer s.release()
	ctx := context.Background()
	for deadline := time.Now().Add(patience); s.end == nil; {
		if _, err := s.next(ctx, deadline, false); errors.Is(err, errDeadline) {
			break
		} else if err != nil && !errors.Is(err, errEnded) {
			s.lane.drop()
			return &ending{status: syscall.WaitStatus(unix.SIGKILL), host: true}
		}
	}
	if s.end == nil && s.lane.zygote.killChild() == nil {
		for _, limit := range []time.Duration{time.Second, orderLimit} {
			for deadline := time.Now().Add(limit); s.end == nil; {
				if _, err := s.next(ctx, deadline, false); err != nil && !errors.Is(err, errEnded) {
					break
				}
			}
			if s.end == nil && s.lane.zygote != nil { // the case may have stopped its parent
				s.lane.zygote.cmd.Process.Signal(unix.SIGCONT)
			}
		}
	}
	if s.end == nil { // the zygote itself is stopped or stuck
		s.lane.drop()
		s.end = &ending{status: syscall.WaitStatus(unix.SIGKILL), host: true}
	}
	return s.end
}
