package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) verifyCommand() *cobra.Command {
	var dir, sample, to string
	var job app.VerifyJob
	var strict bool
	c := &cobra.Command{
		Use:   "verify [RUN|STATEMENT]",
		Short: "Check that a stored run matches its record",
		Long: `Verify checks the hash chain of a run's journal, folds the journal again and
compares the result with the run's record. It changes nothing. --sample executes
part of the cases again. Differences are printed, with exit code 1.

Without a signature this shows that nothing was damaged or partly edited, not who
ran it. --attest signs a statement about a run that verifies; verify STATEMENT
checks it, and that the stored run is the one that was signed.`,
		Example: `  thresh verify latest --sample 5%
  thresh verify latest --attest run.key --to verdict.json
  thresh verify verdict.json --trust run.key.pub --store .thresh`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if sample != "" {
				n, err := strconv.ParseFloat(strings.TrimSuffix(sample, "%"), 64)
				if err != nil || !strings.HasSuffix(sample, "%") || n <= 0 || n > 100 {
					return usagef("--sample must be a share such as 5%%, above 0%% and up to 100%%, got %q", sample)
				}
				job.Sample = n / 100
			}
			st, err := a.app.StoreAsIs(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			what := runOf(args)
			text, signed := app.ReadStatement(what)
			switch {
			case signed && job.Attest != "":
				return usagef("--attest signs a run; %s is a file", what)
			case !signed && job.Trust != "":
				return usagef("--trust is for a statement; %s is not a file", what)
			case (job.Attest != "") != (to != ""):
				return usagef("--attest and --to are given together")
			}
			var v app.Verified
			if signed {
				v, err = a.app.VerifyStatement(c.Context(), st, text, job)
			} else {
				v, err = a.app.Verify(c.Context(), st, what, job)
			}
			if err != nil {
				return err
			}
			return a.verified(&v, job, signed, strict, to)
		},
	}
	registerStore(c, &dir)
	fs := c.Flags()
	fs.StringVar(&sample, "sample", "", "execute `N%` of the cases again and compare")
	fs.StringVar(&job.Attest, "attest", "", "sign a statement with the private key in `FILE` (thresh worker --keygen makes one)")
	fs.StringVar(&to, "to", "", "`FILE` that the statement is written to")
	fs.StringVar(&job.Trust, "trust", "", "public keys in `FILE`, one of which must have signed the statement")
	fs.BoolVar(&strict, "strict", false, "exit with 3 if a case of the sample could not be compared")
	for _, name := range []string{"attest", "to", "trust"} {
		_ = c.MarkFlagFilename(name)
	}
	return c
}

// verified prints the result.
func (a *application) verified(v *app.Verified, job app.VerifyJob, signed, strict bool, to string) error {
	for _, n := range v.Notes {
		fmt.Fprintln(a.io.Err, "note: "+printable(n))
	}
	for _, p := range v.Problems {
		fmt.Fprintln(a.io.Out, "DIFFERS  "+printable(p))
	}
	if job.Sample > 0 {
		fmt.Fprintf(a.io.Out, "%d of the sample compared, %d not comparable\n", v.Compared, v.Unknown)
	}
	if len(v.Problems) > 0 {
		fmt.Fprintf(a.io.Out, "run %s does not match its record\n", printable(v.RunID))
		return exitError(diag.ExitFindings)
	}
	fmt.Fprintf(a.io.Out, "run %s holds: %s folded again, %s in the chain\n", v.RunID, diag.Plural(v.Cases, "case"), diag.Plural(int64(v.Groups), "group"))
	switch {
	case signed && job.Trust == "":
		fmt.Fprintf(a.io.Out, "signed by %s; --trust FILE checks whether you know that key\n", v.SignedBy)
	case signed:
		fmt.Fprintf(a.io.Out, "signed by %s, which is trusted\n", v.SignedBy)
	case v.Statement == nil:
		fmt.Fprintln(a.io.Out, "unsigned: this shows integrity, not who ran it")
	default:
		if err := os.WriteFile(to, v.Statement, 0o644); err != nil {
			return diag.Environment("write the statement: %w", err)
		}
		fmt.Fprintln(a.io.Out, to)
	}
	if strict && v.Unknown > 0 {
		return exitError(diag.ExitEnvironment)
	}
	return nil
}
