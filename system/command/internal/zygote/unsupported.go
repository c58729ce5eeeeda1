//go:build !linux || !amd64

package zygote

import (
	"errors"
	"runtime"
)

// Server is unavailable on this platform.
type Server struct{}

var errPlatform = errors.New("forking a started program is not supported on " + runtime.GOOS + "/" + runtime.GOARCH)

// Start returns an error: the injected instructions exist only for Linux on amd64.
func Start(Config) (*Server, error) { return nil, errPlatform }

// Fork returns an error.
func (*Server) Fork() (int, error) { return 0, errPlatform }

// Point returns "".
func (*Server) Point() string { return "" }

// Reason returns "".
func (*Server) Reason() string { return "" }

// Close does nothing.
func (*Server) Close() error { return nil }
