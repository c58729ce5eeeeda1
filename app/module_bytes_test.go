package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	wasm "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/internal/golden"
)

// textModule has a function that reads the text at an address and of a length, and traps if it
// ends with "}".
func textModule(more func(*wasm.Module)) []byte {
	m := wasm.New()
	m.Memory(1, 1)
	f := m.Func("parse", wasm.Params(wasm.I32, wasm.I32), wasm.Results(wasm.I32))
	f.Get(1).Op(wasm.I32Eqz).If(wasm.Empty, func() { f.I32(0).Op(wasm.Return) }, nil)
	f.Get(0).Memory(wasm.I32Load8U, 0).Op(wasm.Drop)
	f.Get(0).Get(1).Op(wasm.I32Add).I32(1).Op(wasm.I32Sub).Memory(wasm.I32Load8U, 0).I32('}').Op(wasm.I32Eq).If(wasm.Empty, func() { f.Op(wasm.Unreachable) }, nil)
	f.I32(1)
	a := m.Func("alloc", wasm.Params(wasm.I32), wasm.Results(wasm.I32))
	a.I32(1024)
	if more != nil {
		more(m)
	}
	return m.Bytes()
}

// What is drafted for modules: texts for one whose function takes a text, a model for others,
// and for those of which nothing can be called a reason.
func TestDraftsOfModules(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := wasm.New()
	start.Memory(1, 1)
	start.Func("_start", nil, nil)
	numbers := wasm.New()
	numbers.Memory(1, 1)
	numbers.Func("half", wasm.Params(wasm.F64), wasm.Results(wasm.F64)).Get(0)
	put("parse.wasm", textModule(nil))
	put("twice.wasm", textModule(func(m *wasm.Module) {
		f := m.Func("twice", wasm.Params(wasm.I32), wasm.Results(wasm.I32))
		f.Get(0).Get(0).Op(wasm.I32Add)
	}))
	put("start.wasm", start.Bytes())
	put("half.wasm", numbers.Bytes())
	put("broken.wasm", []byte("\x00asm\x01\x00\x00\x00\x01"))
	put("seed", []byte("{1, 2]"))
	var got strings.Builder
	for i, x := range []Try{
		{Words: []string{"parse.wasm"}},
		{Words: []string{"parse.wasm"}, Seeds: []string{"seed"}},
		{Words: []string{"parse.wasm"}, Seeds: []string{"none"}},
		{Words: []string{"twice.wasm"}},
		{Words: []string{"twice.wasm"}, Seeds: []string{"seed"}},
		{Words: []string{"start.wasm"}},
		{Words: []string{"half.wasm"}},
		{Words: []string{"broken.wasm"}},
		{Words: []string{"none.wasm"}},
	} {
		x.Folder, x.Lanes = fmt.Sprint("draft", i), 2
		fmt.Fprintln(&got, "==", x.Words, x.Seeds)
		d, err := New().Draft(t.Context(), x)
		if err != nil {
			fmt.Fprintln(&got, "refused:", err)
			continue
		}
		fmt.Fprintf(&got, "%s %s %v\n%s\n", d.Format, d.Document, d.Options, strings.Join(d.Why, "\n"))
		for _, f := range d.Files {
			if strings.HasSuffix(f.Name, ".system.yaml") {
				fmt.Fprintf(&got, "-- %s --\n%s", f.Name, f.Data)
			}
		}
		if i == 1 {
			job := Job{Paths: []string{d.Path()}, Store: filepath.Join(dir, "store"), Cases: 100, Workers: 2, Shrink: -1, Options: map[string][]string{}}
			for _, o := range d.Options {
				job.Options[o.Name] = append(job.Options[o.Name], o.Value)
			}
			rec, err := New().Run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range rec.Findings {
				fmt.Fprintln(&got, "found:", f.Title)
			}
		}
	}
	golden.Check(t, "testdata/golden/modules.txt", strings.ReplaceAll(got.String(), dir, "DIR"))
}
