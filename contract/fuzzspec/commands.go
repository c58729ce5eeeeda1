package fuzzspec

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Commands implements [campaign.Commander]: the verbs that users of the format know, with their
// flags, output lines and exit codes, and commands for mutations and corpora.
func (k *Contract) Commands() []campaign.Command {
	return []campaign.Command{{
		Use:     "fuzzspec",
		Summary: "FuzzSpec v1: validate, mutate, and the format's own commands",
		Long: `Commands for FuzzSpec v1. The commands validate, run, run-one,
campaign, eval-run and triage-campaign take the flags, print the lines and give
the exit codes that users of the format know. campaign takes the flags of thresh
run as well.

These commands exit with 0 when bugs are found, unless --fail-on (of run, run-one
and campaign) says otherwise. To begin with, use thresh run.`,
		Commands: []campaign.Command{
			validateCommand(), mutateCommand(), schemaCommand(), runCommand("run"), runCommand("run-one"), campaignCommand(), evalCommand(), triageCommand(), corpusCommand(), k.ccCommand("cc"), k.ccCommand("c++"),
			{Use: "replay", Verb: "replay"},
		},
	}}
}

func validateCommand() campaign.Command {
	var spec string
	var strict bool
	c := campaign.Command{
		Use:     "validate --spec FILE",
		Summary: "Check a document as existing scripts expect; see thresh check",
		Long: `Validate prints the first rule that the document breaks, in the words and with the
exit code that scripts know: 0 accepted, 2 refused. thresh check reports all
faults at once, with their places.`,
		Example: `  thresh fuzzspec validate --spec spec.json --strict`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			if err := validated(d, spec, strict); err != nil {
				fmt.Fprintln(d.Err(), err)
				return diag.ExitError(diag.ExitRefused)
			}
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&spec, "spec", "", "the document")
		fs.BoolVar(&strict, "strict", false, "refuse reserved fields that ask for something")
	}
	c.Required = []string{"spec"}
	return c
}

// validated reads and validates a document as existing tools do, and prints a warning if there is
// one.
func validated(d campaign.Desk, path string, strict bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return readRefusal(path, err)
	}
	_, warning, err := Validate(text, Disk{}, strict)
	if warning != "" {
		fmt.Fprintln(d.Err(), warning)
	}
	return err
}

// readRefusal is the line that scripts expect for a document that cannot be read.
func readRefusal(path string, err error) error {
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return &Refusal{Line: "spec: unexpected error (IsADirectoryError)", Unexpected: true}
	}
	if os.IsNotExist(err) {
		return &Refusal{Line: "spec: file not found"}
	}
	if os.IsPermission(err) {
		return &Refusal{Line: "spec: unexpected error (PermissionError)", Unexpected: true}
	}
	return &Refusal{Line: "spec: unexpected error (OSError)", Unexpected: true}
}

func schemaCommand() campaign.Command {
	return campaign.Command{
		Use:     "schema",
		Summary: "Print the JSON Schema of the format",
		Example: `  thresh fuzzspec schema > fuzzspec.schema.json`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			_, err := d.Out().Write(Schema())
			return err
		},
	}
}

// parseBool reads a yes or no as scripts write it.
func parseBool(name, v string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true", "1", "yes", "y", "on":
		return true, nil
	case "false", "0", "no", "n", "off":
		return false, nil
	}
	return false, diag.Refused("--%s must be true or false, got %q", name, v)
}

func evalCommand() campaign.Command {
	var base, id string
	var patch bool
	c := campaign.Command{
		Use:     "eval-run --work-root-base DIR --run-id ID",
		Summary: "Judge a kept run folder again",
		Long: `Eval-run reads <work_root_base>/runs/<run id>, writes its llmfuzz/eval.json and
prints its signature. Nothing is run.

Exit codes: 0 the verdict was written, whatever it is, 1 it could not be.`,
		Example: `  thresh fuzzspec eval-run --work-root-base work \
      --run-id cmp_1234abcd_s0_case_000007`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			signature, err := EvaluateFolder(base, id, patch)
			if signature != "" {
				fmt.Fprintln(d.Out(), signature)
			}
			if err != nil {
				fmt.Fprintf(d.Err(), "eval-run: unexpected error (%s): %v\n", pyClass(err), err)
				return diag.ExitError(1)
			}
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&base, "work-root-base", "", "folder that holds runs/")
		fs.StringVar(&id, "run-id", "", "run to judge")
		fs.BoolVar(&patch, "patch-failure-record", false, "add the result to eval/failure_record.json")
	}
	c.Required = []string{"work-root-base", "run-id"}
	return c
}

func triageCommand() campaign.Command {
	var base, id, includePass, writeMD, patchSummary string
	var topK int
	c := campaign.Command{
		Use:     "triage-campaign --work-root-base DIR --campaign-id ID",
		Summary: "Group the cases of a kept campaign by signature",
		Long: `Triage-campaign reads <work_root_base>/llmfuzz/campaigns/<campaign id>/cases.jsonl
and writes triage/triage.json, triage/triage.md and the top clusters in
summary.json. Nothing is run and nothing is printed.

Exit codes: 0 the files were written, 1 they could not be.`,
		Example: `  thresh fuzzspec triage-campaign --work-root-base work \
      --campaign-id cmp_1234abcd_s0`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
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
			folder, err := NewCampaignFolder(base, id)
			note := ""
			if err == nil {
				_, note, err = folder.Triage(TriageOptions{TopK: topK, IncludePass: pass}, md, patch)
			}
			if note != "" {
				fmt.Fprintln(d.Err(), "note: "+note)
			}
			if err != nil {
				fmt.Fprintf(d.Err(), "triage-campaign: unexpected error (%s): %v\n", pyClass(err), err)
				return diag.ExitError(1)
			}
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&base, "work-root-base", "", "folder that holds llmfuzz/campaigns/")
		fs.StringVar(&id, "campaign-id", "", "campaign to group")
		fs.IntVar(&topK, "top-k", DefaultTopK, "clusters in the table and the summary")
		fs.StringVar(&includePass, "include-pass", "false", "show clusters of passing cases")
		fs.StringVar(&writeMD, "write-md", "true", "write triage.md")
		fs.StringVar(&patchSummary, "patch-summary", "true", "add the top clusters to summary.json")
	}
	c.Required = []string{"work-root-base", "campaign-id"}
	return c
}

// pyClass is the Python class name that scripts expect for an error.
func pyClass(err error) string {
	switch {
	case os.IsNotExist(err):
		return "FileNotFoundError"
	case os.IsPermission(err):
		return "PermissionError"
	}
	return "ValueError"
}
