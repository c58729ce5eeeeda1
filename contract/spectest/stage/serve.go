package stage

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Local reports whether a name leads to something in a folder other than the folder itself.
func Local(name string) bool {
	return filepath.IsLocal(name) && filepath.Clean(name) != "." && !strings.ContainsRune(name, 0)
}

// Link makes a file or folder available in another folder, under its own name.
func Link(dir, target string) error {
	if _, err := os.Stat(target); err != nil {
		return fmt.Errorf("linking %s: %w", filepath.Base(target), err)
	}
	return os.Symlink(target, filepath.Join(dir, filepath.Base(target)))
}

// Ready waits until something listens at an address: HOST:PORT, a local port, or a URL, of which
// only host and port count.
func Ready(ctx context.Context, address string) error {
	host := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		if host = u.Host; u.Port() == "" {
			host = net.JoinHostPort(u.Hostname(), map[string]string{"https": "443"}[u.Scheme]+map[string]string{"http": "80"}[u.Scheme])
		}
	} else if !strings.Contains(address, ":") {
		host = "127.0.0.1:" + address
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", host)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing listens at %s: %w", address, err)
		case <-time.After(wait):
		}
	}
}
