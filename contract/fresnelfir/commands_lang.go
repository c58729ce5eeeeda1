package fresnelfir

import (
	"context"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// modelFile reads the model that a command is given.
func modelFile(d campaign.Desk, path string) ([]byte, error) {
	text, err := d.Settings().Read(path)
	if err != nil {
		return nil, diag.Refused("reading the model: %w", err)
	}
	return text, nil
}

func compileCommand() campaign.Command {
	var out string
	return campaign.Command{
		Use:     "compile MODEL",
		Summary: "Translate a model into FresnelFir IR (JSON)",
		Long: `Compile prints the JSON that a model in the language (NAME.model.star) stands for. The
JSON explores exactly as the model does: a run of either has the same digest.

What the published format cannot hold goes into keys that its existing readers ignore, or,
if it is arithmetic, into values that they do not evaluate. Compile lists each on standard
error, with its place in the model.

Exit codes: 0 compiled, 2 the model was refused.`,
		Example: `  thresh fresnelfir compile shop.model.star > shop.json
  thresh fresnelfir compile shop.model.star -o shop.json`,
		Least: 1, Most: 1,
		Flags: func(fs campaign.Flags) {
			fs.StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
		},
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			text, err := modelFile(d, args[0])
			if err != nil {
				return err
			}
			_, _, list := load(args[0], text)
			if list.HasErrors() {
				return list
			}
			d.Warn(list)
			_, _, data, _ := decode(args[0], text)
			if written(args[0]) {
				m, _ := lang.Compile(args[0], text)
				for _, x := range m.Beyond {
					fmt.Fprintf(d.Err(), "%s:%d:%d: beyond the published format: %s, in %s\n", args[0], x.Pos.Line, x.Pos.Col, x.What, x.Key)
				}
			}
			return d.Write(out, func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			})
		},
	}
}

func formatCommand() campaign.Command {
	var out string
	return campaign.Command{
		Use:     "format MODEL",
		Summary: "Write a model in the language (NAME.model.star)",
		Long: `Format prints a model in the language, from JSON or from the language itself (without
its comments). Compiling what it prints gives the same document back.

Exit codes: 0 written, 2 the model was refused.`,
		Example: `  thresh fresnelfir format model.json > model.model.star
  thresh fresnelfir format model.json -o model.model.star`,
		Least: 1, Most: 1,
		Flags: func(fs campaign.Flags) {
			fs.StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
		},
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			text, err := modelFile(d, args[0])
			if err != nil {
				return err
			}
			told, list := formatted(args[0], text)
			if list.HasErrors() {
				return list
			}
			d.Warn(list)
			return d.Write(out, func(w io.Writer) error {
				_, err := io.WriteString(w, told)
				return err
			})
		},
	}
}

// formatted writes a document in the language.
func formatted(path string, text []byte) (string, diag.List) {
	_, _, list := load(path, text)
	if list.HasErrors() {
		return "", list
	}
	_, _, data, _ := decode(path, text)
	tree, err := doctree.ParseJSON(data, jsontree.Options{})
	if err == nil {
		var out string
		if out, err = lang.Format(&tree.Root); err == nil {
			return out, list
		}
	}
	return "", append(list, diag.Diagnostic{Code: "fresnelfir.expression", Pos: diag.Pos{File: path}, Message: err.Error()})
}
