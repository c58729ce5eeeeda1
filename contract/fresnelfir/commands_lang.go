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

// translation returns a command that writes a model in another form.
func translation(x campaign.Command, write func(d campaign.Desk, path string, text []byte) (string, diag.List)) campaign.Command {
	var out string
	x.Least, x.Most = 1, 1
	x.Flags = func(fs campaign.Flags) {
		fs.StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
	}
	x.Run = func(_ context.Context, d campaign.Desk, args []string) error {
		text, err := modelFile(d, args[0])
		if err != nil {
			return err
		}
		written, list := write(d, args[0], text)
		if list.HasErrors() {
			return list
		}
		d.Warn(list)
		return d.Write(out, func(w io.Writer) error {
			_, err := io.WriteString(w, written)
			return err
		})
	}
	return x
}

func compileCommand() campaign.Command {
	return translation(campaign.Command{
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
	}, func(d campaign.Desk, path string, text []byte) (string, diag.List) {
		_, list := load(path, text)
		if list.HasErrors() {
			return "", list
		}
		if written(path) {
			for _, x := range lang.Beyond(path, text) {
				fmt.Fprintf(d.Err(), "%s:%d:%d: beyond the published format: %s, in %s\n", path, x.Pos.Line, x.Pos.Col, x.What, x.Key)
			}
		}
		data, _ := asJSON(path, text)
		return string(data), list
	})
}

func formatCommand() campaign.Command {
	return translation(campaign.Command{
		Use:     "format MODEL",
		Summary: "Write a model in the language (NAME.model.star)",
		Long: `Format prints a model in the language, from JSON or from the language itself (without
its comments). Compiling what it prints gives the same document back.

Exit codes: 0 written, 2 the model was refused.`,
		Example: `  thresh fresnelfir format model.json > model.model.star
  thresh fresnelfir format model.json -o model.model.star`,
	}, func(_ campaign.Desk, path string, text []byte) (string, diag.List) { return formatted(path, text) })
}

// formatted writes a document in the language.
func formatted(path string, text []byte) (string, diag.List) {
	_, list := load(path, text)
	if list.HasErrors() {
		return "", list
	}
	data, _ := asJSON(path, text)
	tree, err := doctree.ParseJSON(data, jsontree.Options{})
	if err == nil {
		var out string
		if out, err = lang.Format(&tree.Root); err == nil {
			return out, list
		}
	}
	return "", append(list, diag.Diagnostic{Code: "fresnelfir.expression", Pos: diag.Pos{File: path}, Message: err.Error()})
}
