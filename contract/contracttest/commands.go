package contracttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Commands runs the command lines of testdata/commands.txt, those that begin with "$ ",
// in a copy of the folder testdata/commands. Below each the file has what it printed ("  "),
// what it said on standard error ("! "), the files that it wrote ("> ") and how it ended
// ("= "). Words may be in single quotes, and "< FILE" at the end is standard input. What needs
// a store is left to the tests of the command line.
func Commands(t *testing.T, k campaign.Contract, update bool) {
	golden, err := filepath.Abs("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/commands")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if documents, err := filepath.Glob("*.json"); err == nil {
		for _, name := range documents {
			data, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, bytes.ReplaceAll(data, []byte(place), []byte(filepath.ToSlash(dir))), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") {
			got.WriteString(line)
		}
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			d := &desk{t: t, contract: k}
			err := d.run(strings.TrimSpace(command))
			d.show("= ", ending(err))
			got.WriteString(rate.ReplaceAllString(strings.ReplaceAll(d.said.String(), filepath.ToSlash(dir), place), ", N$1"))
		}
	}
	if update {
		err = os.WriteFile(golden, []byte(got.String()), 0o644)
	} else if got.String() != string(text) {
		t.Errorf("%s: got\n%s", golden, got.String())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// place stands for the folder in JSON documents and in what is printed.
const place = "{dir}"

// rate is a number that depends on the machine.
var rate = regexp.MustCompile(`, \d+( [a-z ]+ a second)`)

// ending is how a command ended.
func ending(err error) string {
	if err == nil {
		return ""
	}
	if code, ok := errors.AsType[diag.ExitError](err); ok {
		return fmt.Sprintf("exit %d", int(code))
	}
	return strings.TrimSpace(fmt.Sprintf("exit %d: %v\n%s", diag.ExitCode(err), err, diag.Hint(err)))
}

// desk is where a command finds its files and leaves what it says.
type desk struct {
	campaign.Desk
	t        *testing.T
	contract campaign.Contract
	options  map[string]*[]string
	in       io.Reader
	said     bytes.Buffer
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

// run runs a command line.
func (d *desk) run(line string) error {
	line, input, _ := strings.Cut(line, " < ")
	d.in = strings.NewReader("")
	if input != "" {
		data, err := os.ReadFile(input)
		if err != nil {
			d.t.Fatal(err)
		}
		d.in = bytes.NewReader(data)
	}
	words := word.FindAllString(line, -1)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	x := campaign.Command{Commands: d.contract.(campaign.Commander).Commands()}
	for x.Run == nil {
		name, list := words[0], x.Commands
		words, x = words[1:], campaign.Command{}
		for _, c := range list {
			if use, _, _ := strings.Cut(c.Use, " "); use == name {
				x = c
			}
		}
		if x.Run == nil && x.Commands == nil {
			d.t.Fatalf("%s: there is no command %s", line, name)
		}
	}
	flags := pflag.NewFlagSet(x.Use, pflag.ContinueOnError)
	d.options = make(map[string]*[]string)
	if x.Flags != nil {
		x.Flags(flags)
	}
	for _, o := range d.contract.Options() {
		if x.Options && flags.Lookup(o.Name) == nil {
			d.options[o.Name] = flags.StringArrayP(o.Name, o.Short, nil, o.Usage)
			if o.Bool {
				flags.Lookup(o.Name).NoOptDefVal = "true"
			}
		}
	}
	if err := flags.Parse(words); err != nil {
		d.t.Fatalf("%s: %v", line, err)
	}
	return x.Run(d.t.Context(), d, flags.Args())
}

// show notes the lines of a text behind a mark.
func (d *desk) show(mark, text string) {
	for line := range strings.Lines(text) {
		d.said.WriteString(strings.TrimRight(mark+strings.ToValidUTF8(line, "\uFFFD"), " \n") + "\n")
	}
}

// lines is a stream whose lines are marked.
type lines struct {
	d    *desk
	mark string
}

func (l lines) Write(p []byte) (int, error) {
	l.d.show(l.mark, string(p))
	return len(p), nil
}

func (d *desk) In() io.Reader        { return d.in }
func (d *desk) Out() io.Writer       { return lines{d, "  "} }
func (d *desk) Err() io.Writer       { return lines{d, "! "} }
func (d *desk) Getenv(string) string { return "" }

func (d *desk) Warn(list diag.List) {
	for _, x := range list {
		d.show("! ", x.String())
	}
}

func (d *desk) Settings() campaign.Settings {
	set := Fixture{Contract: d.contract}.settings()
	for name, values := range d.options {
		if len(*values) > 0 {
			set.Options[name] = *values
		}
	}
	return set
}

func (d *desk) Files(path string) (list []string, folder bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, diag.Refused("%s: %s", path, diag.Reason(err))
	}
	err = filepath.WalkDir(path, func(name string, x fs.DirEntry, err error) error {
		if err == nil && !x.IsDir() {
			list = append(list, filepath.ToSlash(name))
		}
		return err
	})
	return list, info.IsDir(), err
}

func (d *desk) Document(path string) (campaign.Spec, error) {
	data, err := os.ReadFile(path)
	return campaign.Spec{Path: path, Data: data}, err
}

func (d *desk) Compile(ctx context.Context, docs []campaign.Spec, set campaign.Settings) (all []campaign.Any, warned diag.List, err error) {
	for _, doc := range docs {
		list, said := d.contract.Compile(ctx, doc, set)
		if said.HasErrors() {
			return nil, nil, said
		}
		all, warned = append(all, list...), append(warned, said...)
	}
	return all, warned, nil
}

func (d *desk) Open(file string) (io.ReadCloser, error) { return os.Open(file) }
func (d *desk) MakeFolder(dir string) error             { return os.MkdirAll(dir, 0o755) }

func (d *desk) Write(file string, write func(io.Writer) error) error {
	if file == "-" {
		return write(d.Out())
	}
	var b bytes.Buffer
	err := cmp.Or(write(&b), os.WriteFile(file, b.Bytes(), 0o644))
	d.show("> ", filepath.ToSlash(file))
	d.show("> ", b.String())
	return err
}
