package cli

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
)

func (a *application) openCommand() *cobra.Command {
	var dir string
	var show bool
	c := &cobra.Command{
		Use:   "open [FINDING|RUN]",
		Short: "Open a finding or a run in a browser",
		Long: `Open serves the pages of the store, as thresh ui does, and opens the page of a
finding or run: of the newest run if none is named. It serves until interrupted.`,
		Example: `  thresh open F-3fa9c1d2e0
  thresh open latest~1`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.inStore(&dir, func(c *cobra.Command, st *app.Store, args []string) error {
			page, err := pageOf(st, runOf(args))
			if err != nil {
				return err
			}
			p, err := a.listen(c.Context(), st, pagesAt{store: dir, addr: loopback, promote: promoteFolder})
			if err != nil {
				return err
			}
			fmt.Fprintln(a.io.Out, p.address(page))
			fmt.Fprintln(a.io.Err, "serving until interrupted (Ctrl-C)")
			if !show {
				if err := openBrowser(p.address(page)); err != nil {
					fmt.Fprintf(a.io.Err, "note: no browser could be opened (%s); the address is above\n", printable(err.Error()))
				}
			}
			return p.wait()
		}),
	}
	registerStore(c, &dir)
	c.Flags().BoolVar(&show, "print", false, "print the address and open no browser")
	return c
}

// pageOf returns the path of the page of a finding or run.
func pageOf(st *app.Store, what string) (string, error) {
	if !app.IsFinding(what) {
		id, err := st.ResolveRun(what)
		return "runs/" + url.PathEscape(id), err
	}
	rec, f, err := st.Finding(what)
	return "runs/" + url.PathEscape(rec.RunID) + "/findings/" + url.PathEscape(f.ID), err
}
