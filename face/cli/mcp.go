package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/face/mcp"
)

// mcpTokenVariable sets the token, which is random otherwise.
const mcpTokenVariable = "THRESH_MCP_TOKEN"

func (a *application) mcpCommand() *cobra.Command {
	var dir, root, addr string
	workers := runtime.NumCPU()
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve coding agents over MCP: check, run, follow, explain, replay",
		Long: `Mcp speaks the Model Context Protocol on standard input and output, for a program
that starts it. With --http it serves this machine over HTTP instead, with a
token, random or from THRESH_MCP_TOKEN.

Documents and modules that a client names are files below --root. Documents can
run programs, as with thresh run, so serve only clients that may run programs.
Runs continue in the background and are stored; they end with the server.`,
		Example: `  thresh mcp
  thresh mcp --http 127.0.0.1:7801`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if workers < 1 || workers > 1024 {
				return usagef("--workers must be from 1 to 1024, got %d", workers)
			}
			st, err := a.app.OpenStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			// Runs outlive the calls that begin them, but not the server.
			ctx, end := context.WithCancel(context.WithoutCancel(c.Context()))
			defer end()
			srv := mcp.New(mcp.Config{Store: st, Version: app.Version, Contracts: a.app.Contracts, Use: mcp.Over(a.app.Remote(ctx, st, dir, root, workers))})
			defer srv.Close()
			if addr != "" {
				return a.mcpOverHTTP(c.Context(), srv, addr)
			}
			err = srv.Serve(c.Context(), mcp.Stdio(a.io.In, a.io.Out))
			if err != nil && c.Context().Err() == nil && !errors.Is(err, io.EOF) {
				return diag.Environment("serving on standard input and output: %w", err)
			}
			return nil
		},
	}
	registerStore(c, &dir)
	c.Flags().StringVar(&root, "root", ".", "`FOLDER` that clients may name files in")
	c.Flags().StringVar(&addr, "http", "", "serve on `HOST:PORT` of this machine, in place of standard input and output; port 0 is a free one")
	c.Flags().IntVarP(&workers, "workers", "j", workers, "cases that a run executes in parallel; does not change the result")
	_ = c.MarkFlagDirname("root")
	return c
}

// mcpOverHTTP serves this machine until ctx ends. It prints the address to standard output and the
// token to standard error.
func (a *application) mcpOverHTTP(ctx context.Context, srv *mcp.Server, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return diag.WithHint(usagef("--http must be HOST:PORT, got %q", addr), "for example --http "+loopback)
	}
	if near, err := onLoopback(addr); err != nil || !near {
		return diag.WithHint(usagef("--http serves this machine alone, and %q is reached from others", host), "for example --http "+loopback)
	}
	token, given, err := a.token(mcpTokenVariable)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return diag.Environment("serve on %s: %w", addr, err)
	}
	u := url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/mcp"}
	fmt.Fprintln(a.io.Out, u.String())
	if !given {
		fmt.Fprintln(a.io.Err, "token, for the header Authorization: Bearer TOKEN or for ?token=TOKEN: "+token)
	}
	fmt.Fprintln(a.io.Err, "serving until interrupted (Ctrl-C)")
	mux := http.NewServeMux()
	mux.Handle("/mcp", srv.Handler(token))
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	over := make(chan error, 1)
	go func() { over <- h.Serve(l) }()
	select {
	case err := <-over:
		return diag.Environment("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	_ = h.Close() // cuts clients' event streams, which never end by themselves
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		return diag.Environment("serve on %s: %w", l.Addr(), err)
	}
	return nil
}
