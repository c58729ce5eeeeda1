package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
)

// fuzzspecCommand is the verbs that are special to FuzzSpec: those that users
// of the format know, with their flags, output lines and exit codes, and what
// mutations are about.
func (a *application) fuzzspecCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fuzzspec",
		Short: "FuzzSpec v1: validate, mutate, and the commands its users know",
		Long: `The verbs that are special to FuzzSpec v1. The commands validate, run, run-one,
campaign, eval-run and triage-campaign take the flags, print the lines and give
the exit codes that users of the format know. campaign takes the flags of thresh
run as well.

These commands exit with 0 when bugs are found, unless --fail-on (of run, run-one
and campaign) says otherwise. To begin with, use thresh run.`,
	}
	c.AddCommand(
		a.fuzzValidate(), a.fuzzMutate(), a.fuzzSchema(),
		a.fuzzRun("run"), a.fuzzRun("run-one"), a.fuzzCampaign(), a.fuzzEval(), a.fuzzTriage(), a.fuzzReplay(),
	)
	return c
}

func (a *application) fuzzValidate() *cobra.Command {
	var spec string
	var strict bool
	c := &cobra.Command{
		Use:   "validate --spec FILE",
		Short: "Check a document the way existing scripts expect (thresh check says more)",
		Long: `Validate prints the first rule that the document breaks, in the words and with the
exit code that scripts know: 0 accepted, 2 refused. thresh check reports all
faults at once, with their places.`,
		Example: `  thresh fuzzspec validate --spec spec.json --strict`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if _, err := a.validated(spec, strict); err != nil {
				fmt.Fprintln(a.io.Err, err)
				return exitError(diag.ExitRefused)
			}
			return nil
		},
	}
	c.Flags().StringVar(&spec, "spec", "", "the document")
	c.Flags().BoolVar(&strict, "strict", false, "refuse reserved fields that ask for something")
	_ = c.MarkFlagRequired("spec")
	return c
}

// validated reads and validates a document as existing tools do; the warning,
// if any, is printed.
func (a *application) validated(path string, strict bool) (*fuzzspec.Spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, readRefusal(path, err)
	}
	spec, warning, err := fuzzspec.Validate(text, fuzzspec.Disk{}, strict)
	if warning != "" {
		fmt.Fprintln(a.io.Err, warning)
	}
	return spec, err
}

// readRefusal is the line that scripts know for a document that cannot be read.
func readRefusal(path string, err error) error {
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return &fuzzspec.Refusal{Line: "spec: unexpected error (IsADirectoryError)", Unexpected: true}
	}
	if os.IsNotExist(err) {
		return &fuzzspec.Refusal{Line: "spec: file not found"}
	}
	if os.IsPermission(err) {
		return &fuzzspec.Refusal{Line: "spec: unexpected error (PermissionError)", Unexpected: true}
	}
	return &fuzzspec.Refusal{Line: "spec: unexpected error (OSError)", Unexpected: true}
}

func (a *application) fuzzSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the format",
		Example: `  thresh fuzzspec schema > fuzzspec.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.io.Out.Write(fuzzspec.Schema())
			return err
		},
	}
}

func (a *application) fuzzReplay() *cobra.Command {
	c := a.replayCommand()
	c.Example = strings.ReplaceAll(c.Example, "thresh replay", "thresh fuzzspec replay")
	return c
}

// parseBool reads a yes or no the way scripts write it.
func parseBool(name, v string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true", "1", "yes", "y", "on":
		return true, nil
	case "false", "0", "no", "n", "off":
		return false, nil
	}
	return false, usagef("--%s must be true or false, got %q", name, v)
}

func (a *application) fuzzEval() *cobra.Command {
	var base, id string
	var patch bool
	c := &cobra.Command{
		Use:   "eval-run --work-root-base DIR --run-id ID",
		Short: "Judge a kept run folder again",
		Long: `Eval-run reads <work_root_base>/runs/<run id>, writes its llmfuzz/eval.json and
prints its signature. Nothing is run.

Exit codes: 0 the verdict was written, whatever it is, 1 it could not be.`,
		Example: `  thresh fuzzspec eval-run --work-root-base /tmp/work --run-id cmp_1234abcd_s0_case_000007`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signature, err := fuzzspec.EvaluateFolder(base, id, patch)
			if signature != "" {
				fmt.Fprintln(a.io.Out, signature)
			}
			if err != nil {
				fmt.Fprintf(a.io.Err, "eval-run: unexpected error (%s): %v\n", pyClass(err), err)
				return exitError(1)
			}
			return nil
		},
	}
	c.Flags().StringVar(&base, "work-root-base", "", "folder that holds runs/")
	c.Flags().StringVar(&id, "run-id", "", "run to judge")
	c.Flags().BoolVar(&patch, "patch-failure-record", false, "add the result to eval/failure_record.json")
	_ = c.MarkFlagRequired("work-root-base")
	_ = c.MarkFlagRequired("run-id")
	return c
}

func (a *application) fuzzTriage() *cobra.Command {
	var base, id, includePass, writeMD, patchSummary string
	var topK int
	c := &cobra.Command{
		Use:   "triage-campaign --work-root-base DIR --campaign-id ID",
		Short: "Group the cases of a kept campaign by signature",
		Long: `Triage-campaign reads <work_root_base>/llmfuzz/campaigns/<campaign id>/cases.jsonl
and writes triage/triage.json, triage/triage.md and the top clusters in
summary.json. Nothing is run and nothing is printed.

Exit codes: 0 the files were written, 1 they could not be.`,
		Example: `  thresh fuzzspec triage-campaign --work-root-base /tmp/work --campaign-id cmp_1234abcd_s0`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			pass, err := parseBool("include-pass", includePass)
			if err != nil {
				return err
			}
			md, err := parseBool("write-md", writeMD)
			if err != nil {
				return err
			}
			patch, err := parseBool("patch-summary", patchSummary)
			if err != nil {
				return err
			}
			folder, err := fuzzspec.NewCampaignFolder(base, id)
			note := ""
			if err == nil {
				_, note, err = folder.Triage(fuzzspec.TriageOptions{TopK: topK, IncludePass: pass}, md, patch)
			}
			if note != "" {
				fmt.Fprintln(a.io.Err, "note: "+note)
			}
			if err != nil {
				fmt.Fprintf(a.io.Err, "triage-campaign: unexpected error (%s): %v\n", pyClass(err), err)
				return exitError(1)
			}
			return nil
		},
	}
	c.Flags().StringVar(&base, "work-root-base", "", "folder that holds llmfuzz/campaigns/")
	c.Flags().StringVar(&id, "campaign-id", "", "campaign to group")
	c.Flags().IntVar(&topK, "top-k", fuzzspec.DefaultTopK, "clusters in the table and the summary")
	c.Flags().StringVar(&includePass, "include-pass", "false", "show clusters of passing cases")
	c.Flags().StringVar(&writeMD, "write-md", "true", "write triage.md")
	c.Flags().StringVar(&patchSummary, "patch-summary", "true", "add the top clusters to summary.json")
	_ = c.MarkFlagRequired("work-root-base")
	_ = c.MarkFlagRequired("campaign-id")
	return c
}

// pyClass is the class name that scripts know for an error.
func pyClass(err error) string {
	switch {
	case os.IsNotExist(err):
		return "FileNotFoundError"
	case os.IsPermission(err):
		return "PermissionError"
	}
	return "ValueError"
}
