//go:build !linux

package http

import (
	"context"
	"net"
)

// dialQuick connects to a server.
func dialQuick(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, address)
}
