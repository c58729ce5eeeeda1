package fuzzspec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/process"
)

// The small corpus reaches all that the whole does, by the shortest inputs.
func TestFavoured(t *testing.T) {
	list := []input{
		{name: "long", data: []byte("xxxx"), edges: []uint32{1 << 8, 2 << 8}}, {name: "short", data: []byte("x"), edges: []uint32{1 << 8, 2 << 8}},
		{name: "more", data: []byte("xxxxx"), edges: []uint32{1<<8 | 1, 2 << 8, 3 << 8, 4 << 8}}, {name: "crash", data: []byte("y"), edges: nil},
	}
	var names []string
	small := favoured(list)
	for _, x := range small {
		names = append(names, x.name)
	}
	edges, tuples := reached(small)
	if !slices.Equal(names, []string{"more", "short"}) || edges != 4 || tuples != 5 {
		t.Errorf("%v: %d edges, %d tuples", names, edges, tuples)
	}
}

// corpusDesk is where the commands of corpora find documents and files.
type corpusDesk struct {
	campaign.Desk
	dir      string
	open     process.Opener
	out, err bytes.Buffer
}

func (d *corpusDesk) Out() io.Writer { return &d.out }
func (d *corpusDesk) Err() io.Writer { return &d.err }

func (d *corpusDesk) Settings() campaign.Settings {
	return campaign.Settings{Stored: true, Read: os.ReadFile, Digest: func(string) (string, error) { return "0", nil }}
}

func (d *corpusDesk) Document(path string) (campaign.Spec, error) {
	if path != "spec.json" {
		return campaign.Spec{}, diag.Refused("%s: no such document", path)
	}
	return campaign.Spec{Path: path, Data: []byte(toyDocument(d.dir))}, nil
}

func (d *corpusDesk) Compile(ctx context.Context, docs []campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List, error) {
	all, list := New(d.open).Compile(ctx, docs[0], set)
	if list.HasErrors() {
		return nil, nil, diag.Refused("%s", list)
	}
	return all, list, nil
}

func (d *corpusDesk) Files(path string) (list []string, folder bool, err error) {
	found, err := os.ReadDir(path)
	for _, f := range found {
		list = append(list, filepath.Join(path, f.Name()))
	}
	return list, true, err
}

func (d *corpusDesk) Open(file string) (io.ReadCloser, error) { return os.Open(file) }
func (d *corpusDesk) MakeFolder(dir string) error             { return os.MkdirAll(dir, 0o755) }

func (d *corpusDesk) Write(file string, write func(io.Writer) error) error {
	return replaceFile(file, write)
}

// texts are the flags of a command that are texts.
type texts struct {
	campaign.Flags
	of map[string]*string
}

func (f texts) StringVar(p *string, name, _, _ string) { f.of[name] = p }

// broken is a program that can no longer be run.
type broken struct{ *toy }

func (broken) Run(context.Context, process.Case) (process.Result, error) {
	return process.Result{}, errors.New("no such program")
}

// Corpora are measured and made small on the program of a document: each input by what it
// reaches, those that do not end well by nothing.
func TestCorporaAreMeasured(t *testing.T) {
	dir := t.TempDir()
	inputs := map[string]string{"a": "xxABC", "b": "ABC", "c": "AB", "d": "CBA", "e": "ABCBA", "f": "quiet", "g": "XAZ", "h": "FAZ", "i": "SAZ"}
	for name, text := range inputs {
		if err := errors.Join(os.MkdirAll(dir+"/in", 0o755), os.WriteFile(dir+"/in/"+name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(dir+"/seed", []byte("seed"), 0o644), os.MkdirAll(dir+"/bad", 0o755), os.WriteFile(dir+"/bad/x", []byte("X"), 0o644), os.WriteFile(dir+"/file", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	var plans []process.Plan
	toys := func(_ context.Context, plan process.Plan, _, _ int, _ bool) (process.Runner, error) {
		plans = append(plans, plan)
		return &toy{plan: plan, runs: new(int)}, nil
	}
	for _, c := range []struct {
		name     string
		command  campaign.Command
		open     process.Opener
		in, to   string
		spec     string
		out, err string
		ends     int
		written  []string
	}{
		{"coverage", coverageCommand(), toys, "in", "", "spec.json", "     3 edges,      3 new  a\n     3 edges,      0 new  b\n     2 edges,      0 new  c\n     3 edges,      2 new  d\n     4 edges,      0 new  e\n" +
			"     0 edges,      0 new  f\n     0 edges,      0 new  g\n     0 edges,      0 new  h\n     0 edges,      0 new  i\n     5 edges, 5 edge/hit-count tuples in all\n",
			"3 inputs crashed or ran too long, and have no coverage\n", 0, nil},
		{"minimize", minimizeCommand(), toys, "in", "small", "spec.json", "2 of 9 inputs in {dir}/small: 5 edges, 5 edge/hit-count tuples\n", "3 inputs crashed or ran too long, and have no coverage\n", 0, []string{"ABCBA", "CBA"}},
		{"nothing is reached", minimizeCommand(), toys, "bad", "none", "spec.json", "0 of 1 input in {dir}/none: 0 edges, 0 edge/hit-count tuples\n", "1 input crashed or ran too long, and have no coverage\n", 0, []string{}},
		{"no place for it", minimizeCommand(), toys, "bad", "file", "spec.json", "", "1 input crashed or ran too long, and have no coverage\n", 1, nil},
		{"no document", coverageCommand(), toys, "in", "", "none.json", "", "", diag.ExitRefused, nil},
		{"no document to make it small by", minimizeCommand(), toys, "in", "x", "none.json", "", "", diag.ExitRefused, nil},
		{"no inputs", coverageCommand(), toys, "nowhere", "", "spec.json", "", "", 1, nil},
		{"no program", coverageCommand(), func(context.Context, process.Plan, int, int, bool) (process.Runner, error) {
			return nil, errors.New("no such program")
		}, "in", "", "spec.json", "", "", diag.ExitEnvironment, nil},
		{"a program that is gone", coverageCommand(), func(context.Context, process.Plan, int, int, bool) (process.Runner, error) { return broken{}, nil }, "in", "", "spec.json", "", "", diag.ExitEnvironment, nil},
	} {
		d := &corpusDesk{dir: dir, open: c.open}
		flags := texts{of: map[string]*string{}}
		c.command.Flags(flags)
		*flags.of["spec"] = c.spec
		if to := flags.of["to"]; to != nil {
			*to = filepath.Join(dir, c.to)
		}
		err := c.command.Run(t.Context(), d, []string{filepath.Join(dir, c.in)})
		if out := strings.ReplaceAll(d.out.String(), dir, "{dir}"); out != c.out || d.err.String() != c.err || (err == nil) != (c.ends == 0) || c.ends > 1 && diag.ExitCode(err) != c.ends {
			t.Errorf("%s: %v\n%s%s", c.name, err, out, d.err.String())
		}
		if c.written == nil {
			continue
		}
		files, _, err := d.Files(filepath.Join(dir, c.to))
		got := []string{}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil || filepath.Base(f) != digest(data)[:16] {
				t.Errorf("%s: %v", f, err)
			}
			got = append(got, string(data))
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, c.written) {
			t.Errorf("%s: %v %q", c.name, err, got)
		}
	}
	for _, p := range plans {
		if p.Executor != process.AFL || p.Calibrate != nil || !p.Coverage {
			t.Errorf("a corpus is measured with %+v", p)
		}
	}
}
