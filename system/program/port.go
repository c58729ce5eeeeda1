package program

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
)

// Ports of services lie below those that systems hand out to whoever asks for any
// port (32768 to 60999 on Linux, from 49152 by RFC 6335): until the service listens,
// its port would else be anyone's, and what waits for the service would meet them.
const (
	firstPort = 20000
	portCount = 32768 - firstPort
)

// portCursor is where the next port is looked for. It begins anywhere, as other
// processes look for ports too, and moves on, so that no two services of this
// process have one port.
var portCursor = func() *atomic.Uint32 {
	c := new(atomic.Uint32)
	c.Store(rand.Uint32N(portCount))
	return c
}()

// FreePort is a TCP port of this machine that nothing listens on, for a service.
func FreePort(ctx context.Context) (string, error) {
	var err error
	for range portCount {
		port := strconv.Itoa(firstPort + int(portCursor.Add(1)%portCount))
		if err = vacant(ctx, port); err == nil {
			return port, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("finding a free port: %w", err)
}

// vacant is nil if a port can be listened on. Linux lets a process that is started
// meanwhile keep the port until it executes its program: a client would connect, and
// then be cut off. So no process is started meanwhile. (Elsewhere Listen takes the lock
// itself.)
func vacant(ctx context.Context, port string) error {
	if runtime.GOOS == "linux" {
		syscall.ForkLock.Lock()
		defer syscall.ForkLock.Unlock()
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return err
	}
	return l.Close()
}
