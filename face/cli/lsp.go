package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/face/lsp"
	"github.com/thresh-dev/thresh/report"
)

func (a *application) lspCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: diagnostics, completion, fixes, runs and findings",
		Long: `Lsp speaks the Language Server Protocol on standard input and output, for an
editor that starts it. It checks documents of all formats as you type, completes
and explains their keys, offers fixes, runs a document or one of its cases, and
jumps from a finding to its place. It ignores other files.

docs/editors.md shows how to set up VS Code, Neovim and Helix.`,
		Example: `  thresh lsp
  thresh lsp --store build/thresh`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := lsp.Serve(c.Context(), a.io.In, a.io.Out, lsp.Config{
				Editor: a.app.Editor(dir), Version: app.Version, Enter: os.Chdir,
				Show: func(id string) (string, error) { return a.findingText(dir, id) },
			})
			if err != nil && c.Context().Err() == nil {
				return diag.Environment("%w", err)
			}
			return nil
		},
	}
	registerStore(c, &dir)
	return c
}

func (a *application) findingText(dir, id string) (string, error) {
	st, err := a.app.ExistingStore(dir)
	if err != nil {
		return "", err
	}
	defer st.Close()
	rec, f, err := st.Finding(id)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = report.FindingText(&b, rec, f, a.reportOptions(st, false))
	return b.String(), err
}
