package fault

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// shimPath is the URL path at which shims connect to a port.
const shimPath = "/shim"

// The channels of a shim's connection, named after the sender of their bytes. A frame consists of a
// channel, a four-byte length and that many bytes; length 0 ends the channel.
const (
	ofAgent  = 'a'
	ofServer = 's'
)

const maxFrame = 64 << 10

// wrap returns the command of a shim.
func (d *agentPort) wrap(server string, argv []string, token string) ([]string, error) {
	switch {
	case len(d.proxy.shim) == 0:
		return nil, errors.New("this program has no command that stands between an agent and its MCP servers")
	case len(argv) == 0:
		return nil, fmt.Errorf("MCP server %s has no command", server)
	}
	return append(d.before(server, token), argv...), nil
}

// before returns the part of a shim's command that precedes the server's.
func (d *agentPort) before(server, token string) []string {
	u := url.URL{Scheme: "http", Host: d.listen.Addr().String(), Path: shimPath, RawQuery: url.Values{"server": {server}, "token": {token}}.Encode()}
	return append(slices.Clone(d.proxy.shim), u.String())
}

// Shim implements fault.Port.
func (d *agentPort) Shim(server string, argv []string) ([]string, error) {
	return d.wrap(server, argv, "")
}

// Shim runs an MCP server for an agent that believes it has started the server itself. All their
// messages pass through the port at the address in the first argument; the other arguments are the
// server's command. It returns the server's exit code (for a signal, 128 and its number), or 3 with
// a message on stderr if the port cannot be reached or the server cannot be run.
func Shim(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	code, err := shim(ctx, args, stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "fault shim:", err)
		return 3
	}
	return code
}

func shim(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	if len(args) < 2 {
		return 0, errors.New("want the address of a port and the command of a server")
	}
	conn, reader, err := dialDoor(ctx, args[0])
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := exec.CommandContext(ctx, args[1], args[2:]...)
	server.Stderr = stderr
	server.WaitDelay = time.Second
	in, inErr := server.StdinPipe()
	out, err := server.StdoutPipe()
	if err = cmp.Or(inErr, err); err == nil {
		err = server.Start()
	}
	if err != nil {
		return 0, fmt.Errorf("start the server: %w", err)
	}
	frames := &frameWriter{w: conn}
	go frames.copyFrom(ofAgent, stdin) // ends with the process, because a read of stdin cannot be interrupted
	served := make(chan struct{})
	go func() {
		defer close(served)
		frames.copyFrom(ofServer, out)
	}()
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		split(reader, stdout, in)
		in.Close()
	}()
	select {
	case <-relayed: // the port has cut the connection, or both sides are done
	case <-served:
		<-relayed
	}
	timer := time.AfterFunc(2*time.Second, cancel) // in case the server does not exit when its input ends
	defer timer.Stop()
	<-served
	err = server.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("run the server: %w", err)
	}
	return ending(ctx, server.ProcessState), nil
}

// ending returns the exit code that says how a server ended: 128 and the number of a signal, as shells have it.
// The signal by which the shim itself ends a server that outlives its connection says nothing about the server.
func ending(ctx context.Context, state *os.ProcessState) int {
	if how, ok := state.Sys().(syscall.WaitStatus); ok && how.Signaled() && ctx.Err() == nil {
		return 128 + int(how.Signal())
	}
	return max(0, state.ExitCode())
}

// split distributes what the port sends to the agent and the server.
func split(from io.Reader, toAgent io.Writer, toServer io.WriteCloser) {
	for {
		channel, data, err := readFrame(from)
		switch {
		case err != nil:
			return
		case channel == ofServer && len(data) == 0:
			return // nothing more for the agent
		case channel == ofServer:
			toAgent.Write(data)
		case len(data) == 0:
			toServer.Close()
		default:
			toServer.Write(data)
		}
	}
}

func dialDoor(ctx context.Context, address string) (net.Conn, *bufio.Reader, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, fmt.Errorf("the address of the port: %w", err)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, nil, fmt.Errorf("reach the port: %w", err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: thresh-shim\r\n\r\n", u.RequestURI(), u.Host)
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("reach the port: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		conn.Close()
		return nil, nil, fmt.Errorf("the port answered %s", resp.Status)
	}
	return conn, reader, nil
}

// shimmed serves a shim's connection.
func (d *agentPort) shimmed(w http.ResponseWriter, r *http.Request) {
	server, token := r.URL.Query().Get("server"), r.URL.Query().Get("token")
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: thresh-shim\r\n\r\n")); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	fromAgent, agentWrites := io.Pipe()
	fromServer, serverWrites := io.Pipe()
	frames := &frameWriter{w: conn}
	relay := &relay{
		server: server, context: ctx, pending: map[string]*pendingCall{}, waiting: map[string]*pendingCall{},
		cell: func() *cell { return d.attribute(token, r.Header, "MCP server "+server) },
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer agentWrites.Close()
		defer serverWrites.Close()
		for {
			channel, data, err := readFrame(buffered)
			if err != nil {
				return
			}
			to := agentWrites
			if channel == ofServer {
				to = serverWrites
			}
			if len(data) == 0 {
				to.Close()
			} else {
				to.Write(data)
			}
		}
	})
	relay.run(fromAgent, fromServer, &channel{frames, ofServer}, &channel{frames, ofAgent})
	conn.Close()
	fromAgent.Close()
	fromServer.Close()
	reading.Wait()
}

// frameWriter writes frames; several channels share it.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) write(channel byte, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	head := []byte{channel, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	_, err := f.w.Write(append(head, data...))
	return err
}

// copyFrom sends everything a reader yields, then its end.
func (f *frameWriter) copyFrom(channel byte, r io.Reader) {
	buffer := make([]byte, maxFrame)
	for {
		n, err := r.Read(buffer)
		if n > 0 && f.write(channel, buffer[:n]) != nil {
			return
		}
		if err != nil {
			f.write(channel, nil)
			return
		}
	}
}

// channel is a writer to one channel.
type channel struct {
	frames *frameWriter
	name   byte
}

func (c *channel) Write(b []byte) (int, error) {
	for at := 0; at < len(b); {
		n := min(maxFrame, len(b)-at)
		if err := c.frames.write(c.name, b[at:at+n]); err != nil {
			return at, err
		}
		at += n
	}
	return len(b), nil
}

func (c *channel) Close() error { return c.frames.write(c.name, nil) }

func readFrame(r io.Reader) (channel byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", n)
	}
	data = make([]byte, n)
	_, err = io.ReadFull(r, data)
	return head[0], data, err
}
