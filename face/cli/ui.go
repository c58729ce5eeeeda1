package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/report"
)

const (
	// loopback is the default address of pages: a free port that only this machine reaches.
	loopback = "127.0.0.1:0"
	// tokenVariable sets the token, which is random otherwise.
	tokenVariable = "THRESH_UI_TOKEN"
	// promoteFolder is the folder for findings promoted from a page.
	promoteFolder = "regressions"
)

func (a *application) uiCommand() *cobra.Command {
	var dir, addr, to string
	var open bool
	var hosts []string
	var access accessFlags
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show stored and live runs in a browser",
		Long: `Ui serves pages of the stored runs: what is broken, whether it is new, how to
reproduce it, and whether things got better. Live runs of any process are followed.
A page lists the documents in the working directory; you can check, edit, run and
stop them there. Ui prints its address and serves until it is interrupted. With
--fleet, a page shows the workers and runs of a fleet, as thresh top does.

The default address is reachable from this machine only. Every address asks for a
token, random or from THRESH_UI_TOKEN; the printed address contains it, and the
browser keeps it in a cookie.`,
		Example: `  thresh ui --open
  thresh ui --addr 0.0.0.0:8080 --host builder.example.org`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			st, err := a.app.OpenStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			at := pagesAt{store: dir, addr: addr, hosts: hosts, promote: to}
			if access.on() {
				var unwatch func()
				if at.fleet, unwatch, err = a.watchFleet(c.Context(), &access, "ui"); err != nil {
					return err
				}
				defer unwatch()
			}
			work := a.app.Desk(c.Context(), st, dir, ".")
			at.desk = workDesk{work}
			p, err := a.listen(c.Context(), st, at)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.io.Out, p.address(""))
			fmt.Fprintln(a.io.Err, "serving until interrupted (Ctrl-C)")
			if open {
				if err := openBrowser(p.address("")); err != nil {
					fmt.Fprintf(a.io.Err, "note: no browser could be opened (%s); the address is above\n", printable(err.Error()))
				}
			}
			err = p.wait()
			work.Wait()
			return err
		},
	}
	registerStore(c, &dir)
	c.Flags().StringVar(&addr, "addr", loopback, "`HOST:PORT` to serve on; port 0 is a free one")
	c.Flags().StringArrayVar(&hosts, "host", nil, "`NAME` that the server may be called by, besides addresses and localhost; repeatable")
	c.Flags().BoolVar(&open, "open", false, "open the pages in a browser")
	access.register(c, "show the fleet at the `URL` of a NATS server as well")
	c.Flags().StringVar(&to, "promote-to", promoteFolder, "`FOLDER` for findings that are promoted in a page")
	return c
}

// pagesAt says what to serve and where.
type pagesAt struct {
	store   string // as the user named it
	addr    string
	hosts   []string
	promote string
	fleet   *app.FleetWatcher // nil: no fleet is watched
	desk    web.Desk          // nil: pages run no documents
}

// pages is a running server of pages.
type pages struct {
	url  url.URL // of the list of runs, with the token
	done chan error
}

// address returns the address of a page.
func (p *pages) address(page string) string {
	u := p.url
	u.Path += page
	return u.String()
}

// wait returns when the server has ended, which happens when its context ends.
func (p *pages) wait() error { return <-p.done }

// listen starts to serve the pages of a store until ctx ends.
func (a *application) listen(ctx context.Context, st *app.Store, at pagesAt) (*pages, error) {
	near, err := onLoopback(at.addr)
	if err != nil {
		return nil, err
	}
	token, _, err := a.token(tokenVariable)
	if err != nil {
		return nil, err
	}
	cfg := web.Config{Store: st, Use: uses{a.app, st, at}, Version: app.Version, KnownFile: app.KnownFile, Token: token, Hosts: at.hosts, Desk: at.desk}
	if at.fleet != nil {
		cfg.Fleet = func() []web.Member { return members(at.fleet.Rows()) }
	}
	if h := app.HostName(); h != "" && !near {
		cfg.Hosts = append(cfg.Hosts, h)
	}
	for _, c := range a.app.Contracts {
		cfg.Contract = append(cfg.Contract, c.Name())
	}
	srv, err := web.New(cfg)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at.addr)
	if err != nil {
		err = diag.Environment("serve pages on %s: %w", at.addr, err)
		if errors.Is(err, syscall.EADDRINUSE) {
			err = diag.WithHint(err, "--addr 127.0.0.1:0 takes a free port")
		}
		return nil, err
	}
	u := url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
	if ip, err := netip.ParseAddrPort(u.Host); err == nil && ip.Addr().IsUnspecified() && app.HostName() != "" {
		u.Host = net.JoinHostPort(app.HostName(), fmt.Sprint(ip.Port())) // "all addresses" is not an address that a browser can open
	}
	u.RawQuery = url.Values{"token": {token}}.Encode()
	p := &pages{url: u, done: make(chan error, 1)}
	go func() { p.done <- srv.Serve(ctx, l) }()
	return p, nil
}

// token returns the token from a variable, or else a random one.
func (a *application) token(variable string) (token string, given bool, err error) {
	switch token = a.io.Getenv(variable); {
	case token == "":
		return rand.Text(), false, nil
	case len(token) < app.MinToken:
		return "", false, usagef("the token in %s has %d characters; a token needs at least %d", variable, len(token), app.MinToken)
	}
	return token, true, nil
}

// members returns a fleet's members as pages show them.
func members(rows []app.FleetRow) []web.Member {
	list := make([]web.Member, len(rows))
	for i, r := range rows {
		list[i] = web.Member{
			Role: r.Role, ID: r.ID, Host: r.Host, Runs: r.Runs, Labels: r.Labels, Lanes: r.Lanes, Busy: r.Busy, Cases: r.Cases, Rate: r.Rate,
			Leases: r.Leases, InFlight: r.InFlight, Retries: r.Retries, Stolen: r.Stolen, Quarantined: r.Quarantined,
		}
	}
	return list
}

// onLoopback reports whether only this machine reaches an address.
func onLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, diag.WithHint(usagef("--addr must be HOST:PORT, got %q", addr), "for example --addr "+loopback)
	}
	if host == "localhost" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback(), nil
}

// openBrowser opens an address the way the system does.
func openBrowser(address string) error {
	argv := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		argv[0] = "open"
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	c := exec.Command(argv[0], argv[1:]...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // the browser outlives this command
	return nil
}

// uses is what pages can do besides showing; see [web.UseCases].
type uses struct {
	app *app.App
	st  *app.Store
	at  pagesAt
}

func (u uses) PromoteCommand(runID string, f *campaign.Finding) []string {
	if !u.app.Promotes(f) {
		return nil
	}
	return app.PromoteCommand(u.at.store, runID+"/"+f.ID)
}

func (u uses) ResumeCommand(runID string) []string { return app.ResumeCommand(u.at.store, runID) }

func (u uses) ReplayCommand(runID string, index int64) []string {
	return append(app.ReplayCommand(u.at.store), fmt.Sprintf("%s#%d", runID, index))
}

func (u uses) Compare(a, b string) (app.Comparison, error) { return u.app.Compare(u.st, a, b, true) }

func (u uses) Since(runID string) (*report.Since, error) { return u.app.SinceStored(u.st, runID) }

func (u uses) Cases(rec campaign.Record, format string) report.Cases {
	return u.app.Cases(u.st, rec, format)
}

func (u uses) Promote(ctx context.Context, runID, findingID string) ([]string, error) {
	return u.app.Promote(ctx, u.st, runID+"/"+findingID, u.at.promote)
}

func (u uses) KeptCase(runID, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error) {
	return u.app.KeptCase(u.st, runID, contract, name, index)
}

func (uses) FindingID(contract, name string, o *campaign.Outcome) string {
	return app.FindingID(contract, name, o)
}

func (uses) Shows(f *campaign.Finding, o *campaign.Outcome) bool { return app.Shows(f, o) }

func (uses) KnownEntry(f *campaign.Finding) string { return app.KnownEntry(f) }

func (u uses) RunCase(ctx context.Context, runID, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error) {
	return u.app.RunCase(ctx, u.st, runID, contract, name, index, "")
}

// workDesk is what pages do with documents; see [web.Desk].
type workDesk struct{ *app.Desk }

func (d workDesk) Documents() ([]web.Document, error) {
	docs, err := d.Desk.Documents()
	list := make([]web.Document, len(docs))
	for i, x := range docs {
		list[i] = web.Document{Path: x.Path, Contract: x.Contract.Name(), Named: x.Named}
	}
	return list, err
}

func (d workDesk) Text(path string) ([]byte, string, error) {
	text, err := d.Desk.Text(path)
	if errors.Is(err, app.ErrLong) {
		return nil, "", nil
	}
	return text, app.TextVersion(text), err
}

func (d workDesk) Check(ctx context.Context, path string, text []byte) (diag.List, []string, error) {
	c, err := d.CheckText(ctx, path, text)
	var names []string
	for _, x := range c.Campaigns {
		names = append(names, strings.TrimSuffix(x.Name+", "+x.InWords, ", "))
	}
	return c.Diagnostics, names, err
}

// whileRunning serves the pages of a running run from a store handle of their own, with its fleet
// if it has one. Call the returned function after everything about the run has been printed: on a
// terminal it keeps serving until interrupted.
func (a *application) whileRunning(ctx context.Context, dir string, b app.Begun) (over func(), err error) {
	st, err := a.app.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	at := pagesAt{store: dir, addr: loopback, promote: promoteFolder}
	if b.Watch != nil {
		if at.fleet, err = b.Watch(); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	pctx, end := context.WithCancel(context.WithoutCancel(ctx))
	p, err := a.listen(pctx, st, at)
	if err != nil {
		end()
		return nil, errors.Join(err, st.Close())
	}
	fmt.Fprintf(a.io.Err, "pages: %s\n", p.address("runs/"+b.RunID))
	return func() {
		defer st.Close()
		if a.io.ErrTTY && a.io.Getenv("CI") == "" && ctx.Err() == nil {
			fmt.Fprintln(a.io.Err, "the pages are served until interrupted (Ctrl-C)")
			select {
			case <-ctx.Done():
			case err := <-p.done:
				p.done <- err
			}
		}
		end()
		if err := p.wait(); err != nil {
			printError(*a.io, err)
		}
	}, nil
}
