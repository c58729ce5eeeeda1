package cli

import (
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
)

// self returns a command of this program.
func self(args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	cmd := exec.Command(path, args...)
	cmd.Args[0] = os.Args[0]
	return cmd
}

// tryCaseCommand is used only by runs: they execute a case that killed them twice in a process that
// may be killed.
func (a *application) tryCaseCommand() *cobra.Command {
	var dir, input string
	var k int
	var index int64
	c := &cobra.Command{
		Use: app.TryVerb + " RUN", Short: "Execute one case of a stored run, and say nothing", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: a.inStore(&dir, func(c *cobra.Command, st *app.Store, args []string) error {
			return a.app.Try(c.Context(), st, args[0], k, index, input)
		}),
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&k, "campaign", 0, "index of the campaign in the run")
	c.Flags().Int64Var(&index, "case", -1, "index of the case; -1: open the target alone")
	c.Flags().StringVar(&input, "input", "", "blob of the case's explicit input")
	return c
}
