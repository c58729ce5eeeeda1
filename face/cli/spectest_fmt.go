package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/unidiff"
)

func (a *application) spectestFmt() *cobra.Command {
	var check, write bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "fmt PATH...",
		Short: "Put the blocks of documents into their authoring form",
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
  thresh spectest fmt --check docs/     for CI`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if check && write {
				return usagef("--check and --write exclude each other")
			}
			if len(args) == 1 && args[0] == "-" {
				return a.formatStdin()
			}
			return a.formatDocuments(args, &options, check, write)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "name the documents that are not in form; exit code 1 if there are any")
	c.Flags().BoolVarP(&write, "write", "w", false, "write the documents")
	options.register(c.Flags(), a.only("spectest"))
	return c
}

func (a *application) formatStdin() error {
	data, err := io.ReadAll(io.LimitReader(a.io.In, app.MaxDocument+1))
	if err != nil {
		return diag.Environment("reading standard input: %w", err)
	}
	if len(data) > app.MaxDocument {
		return diag.Refused("the document on standard input is larger than %d MiB", app.MaxDocument>>20)
	}
	form, left := spectest.Format("-", data)
	a.warn(left)
	_, err = a.io.Out.Write(form)
	return err
}

func (a *application) formatDocuments(paths []string, options *optionFlags, check, write bool) error {
	docs, err := a.foundDocuments(paths, options)
	if err != nil {
		return err
	}
	changed := false
	var left diag.List
	for _, d := range docs {
		form, unread := spectest.Format(d.Path, d.Data)
		left = append(left, unread...)
		if string(form) == string(d.Data) {
			continue
		}
		changed = true
		switch {
		case write:
			if err := a.rewrite(d.Path, form); err != nil {
				return err
			}
			fallthrough
		case check:
			_, err = fmt.Fprintln(a.io.Out, printable(d.Path))
		default:
			_, err = io.WriteString(a.io.Out, unidiff.Format(d.Path, d.Path, string(d.Data), string(form)))
		}
		if err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
	}
	a.warn(left)
	if check && (changed || len(left) > 0) {
		return exitError(diag.ExitFindings)
	}
	return nil
}

// foundDocuments are the documents of a command that runs none of them; to find
// none is refused.
func (a *application) foundDocuments(paths []string, options *optionFlags) ([]app.Document, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	set := (&runFlags{options: *options}).settings()
	docs, err := a.spectestDocuments(paths, set)
	if err == nil && len(docs) == 0 {
		err = diag.WithHint(diag.Refused("there is no document in %s", paths[0]), "-r searches folders within it, --case-file-pattern names other documents")
	}
	return docs, err
}

// rewrite puts a text in place of a document, with the document's permissions.
func (a *application) rewrite(path string, text []byte) error {
	info, err := os.Stat(path)
	if err == nil {
		err = app.WriteWhole(path, text, info.Mode().Perm())
	}
	if err != nil {
		return diag.Environment("writing %s: %s", path, app.Reason(err))
	}
	return nil
}
