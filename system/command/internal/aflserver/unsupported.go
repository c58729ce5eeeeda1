//go:build !linux

package aflserver

import (
	"errors"
	"runtime"
	"syscall"
	"time"
)

// Server is not to be had on this platform.
type Server struct{}

var errPlatform = errors.New("AFL fork servers are not supported on " + runtime.GOOS)

// Start returns an error: the client exists for Linux only.
func Start(Config) (*Server, error) { return nil, errPlatform }

// Run returns an error.
func (*Server) Run([]byte, time.Duration) (status syscall.WaitStatus, timedOut bool, err error) {
	return status, false, errPlatform
}

// Kill does nothing.
func (*Server) Kill() {}

// Edges returns dst.
func (*Server) Edges(dst []uint32) []uint32 { return dst }

// SharedInput returns false.
func (*Server) SharedInput() bool { return false }

// MapSize returns 0.
func (*Server) MapSize() int { return 0 }

// Persistent returns false.
func (*Server) Persistent() bool { return false }

// Close does nothing.
func (*Server) Close() error { return nil }
