package spectest

import (
	"context"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

func (k *Contract) fmtCommand() campaign.Command {
	var check, write bool
	c := campaign.Command{
		Use:     "fmt PATH...",
		Summary: "Format the blocks of documents",
		Long: `Fmt lays blocks out: two columns of indentation a level, one blank behind a dash,
evaluate expressions in brackets, broken at 60 columns, and yaml spec-test behind
the fence. It changes neither what a block means nor comments, order or the text
around blocks. Blocks that are laid out already stay as they are, byte for byte;
so do blocks that cannot be read, which are reported.

Without a flag it prints what would change, as a diff. PATH - is a document on
standard input, which goes to standard output laid out.

Exit codes: 0 done, with --check 1 if a document is not in form or a block cannot
be read, 2 usage.`,
		Example: `  thresh spectest fmt docs/
  thresh spectest fmt --write docs/
  thresh spectest fmt --check docs/     # for CI`,
		Least: 1, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			if check && write {
				return diag.Refused("--check and --write exclude each other")
			}
			if len(args) == 1 && args[0] == "-" {
				return formatStdin(d)
			}
			return k.formatDocuments(d, args, check, write)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.BoolVar(&check, "check", false, "list documents that are not formatted; exit code 1 if there are any")
		fs.BoolVarP(&write, "write", "w", false, "write the documents")
	}
	c.Options = true
	return c
}

func formatStdin(d campaign.Desk) error {
	data, err := io.ReadAll(io.LimitReader(d.In(), campaign.MaxDocument+1))
	if err != nil {
		return diag.Environment("reading standard input: %w", err)
	}
	if len(data) > campaign.MaxDocument {
		return diag.Refused("the document on standard input is larger than %d MiB", campaign.MaxDocument>>20)
	}
	form, left := Format("-", data)
	d.Warn(left)
	_, err = d.Out().Write(form)
	return err
}

func (k *Contract) formatDocuments(d campaign.Desk, paths []string, check, write bool) error {
	docs, err := k.foundDocuments(d, paths)
	if err != nil {
		return err
	}
	changed := false
	var left diag.List
	for _, doc := range docs {
		form, unread := Format(doc.Path, doc.Data)
		left = append(left, unread...)
		if string(form) == string(doc.Data) {
			continue
		}
		changed = true
		switch {
		case write:
			if err := campaign.WriteFile(d, doc.Path, form); err != nil {
				return err
			}
			fallthrough
		case check:
			_, err = fmt.Fprintln(d.Out(), diag.Printable(doc.Path))
		default:
			_, err = io.WriteString(d.Out(), textdiff.Format(doc.Path, doc.Path, string(doc.Data), string(form)))
		}
		if err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
	}
	d.Warn(left)
	if check && (changed || len(left) > 0) {
		return diag.ExitError(diag.ExitFindings)
	}
	return nil
}
