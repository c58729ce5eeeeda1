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

// lane is what a runner of any kind needs: a zygote, made when it is needed and
// made anew when it is hurt, and a place for files.
type lane struct {
	path     string   // interpreter
	load     *preload // nil: nothing
	zygote   *zygote
	folder   folder
	wake     [2]int // a pipe: written to when a context ends, read in waits
	replaced int    // zygotes that had to be
}

func newLane(ctx context.Context, setting string, load *preload) (*lane, error) {
	path, err := Interpreter(setting)
	if err != nil {
		return nil, err
	}
	l := &lane{path: path, load: load}
	if err := pipe(l.wake[:]); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	for _, fd := range l.wake {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, errors.Join(fmt.Errorf("make a pipe: %w", err), l.close())
		}
	}
	if l.folder, err = newFolder(); err == nil {
		l.zygote, err = startZygote(ctx, path, load)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// follow wakes the lane's waits when ctx ends, until stop is called: once, and before
// the lane is closed.
func (l *lane) follow(ctx context.Context) (stop func()) {
	written := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() { unix.Write(l.wake[1], []byte{0}); close(written) })
	return func() {
		if !unhook() {
			// Else the byte wakes a later wait for nothing, or goes to whatever file has the pipe's descriptor by then.
			<-written
			var drain [16]byte
			unix.Read(l.wake[0], drain[:])
		}
	}
}

// open forks a child, on a new zygote if the old one is gone.
// Its output is kept up to a limit or, with sinks, stdout and stderr go to these files.
func (l *lane) open(ctx context.Context, stdin string, limit int64, sinks *[2]*os.File) (*session, error) {
	for attempt := 0; ; attempt++ {
		if l.zygote == nil {
			var err error
			if l.zygote, err = startZygote(ctx, l.path, l.load); err != nil {
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

// drop gives a zygote up.
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

// notes are what is common to the notes of all runners.
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

// ending is what the kernel says of a child's end.
type ending struct {
	status    syscall.WaitStatus
	leftovers int
	host      bool   // the zygote died with it; status is made up
	refused   string // why there was no child
}

// stream is one captured output.
type stream struct {
	fd     int
	buf    []byte
	limit  int64 // bytes that are kept
	over   bool  // more was written
	frozen bool  // what comes now is dropped
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
		if err := unix.SetNonblock(ends[0], true); err != nil {
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
	}
	if s.channel.fd, given[3], err = socketpair(); err != nil {
		return nil, err
	}
	return s, l.zygote.fork(given)
}

// input returns a descriptor of a text to be read.
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

// release closes what the session holds. The child is dead or not there.
func (s *session) release() {
	for _, fd := range []int{s.channel.fd, s.out[0].fd, s.out[1].fd} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// Why a wait was over.
var (
	errDeadline = errors.New("the time limit was reached")
	errTooMuch  = errors.New("the output is over its limit")
	errEnded    = errors.New("the process has ended")
)

// next waits for the child's next frame. Other ends of the wait are errDeadline,
// errTooMuch (if loud), errEnded and the error of ctx.
func (s *session) next(ctx context.Context, deadline time.Time, loud bool) ([]byte, error) {
	for {
		// Frames come first: what the child wrote before it died counts.
		if frame, err := s.channel.take(); frame != nil {
			return frame, nil
		} else if err != nil {
			s.closed = true // nonsense in place of a frame: as good as silence
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

// wait reads whatever comes, for at most the given time.
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
	for i := range s.out {
		if s.out[i].fd < 0 {
			poll[3+i].Fd = -1
		}
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
			s.out[i].read(pipeRoom)
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

// hearEnd reads the zygote's note of the child's end, or sees the zygote's own.
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
		// The child has killed its parent, or somebody did. What it was doing
		// cannot be known any more, nor be left running.
		s.lane.drop()
		s.end = &ending{status: syscall.WaitStatus(unix.SIGKILL), host: true}
	default:
		return nil
	}
	// All that could write is dead; what it has written is there.
	if !s.closed && s.channel.fill() != nil {
		s.closed = true
	}
	s.drain()
	return nil
}

// pipeRoom is more than a pipe holds: who has read so much has all that was
// written before.
const pipeRoom = 1<<20 + 64<<10

// drain reads all output that is there now.
func (s *session) drain() {
	for i := range s.out {
		s.out[i].read(pipeRoom)
	}
}

// freeze drains, and drops what comes later.
func (s *session) freeze() {
	s.drain()
	s.out[0].frozen, s.out[1].frozen = true, true
}

// read reads what there is, up to about a number of bytes.
func (o *stream) read(most int64) {
	if o.fd < 0 {
		return
	}
	var chunk [32 << 10]byte
	for done := int64(0); done < most; {
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

// finish waits a while for the child to end by itself, has it killed if it does
// not, and returns how it ended. The session is over then.
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
