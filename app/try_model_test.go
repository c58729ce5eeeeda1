package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app"
	wasm "github.com/thresh-dev/thresh/examples/wasmemit"
)

const refunds = `{"action": "place", "args": {"amount": 40}, "returns": 17}
{"action": "refund", "args": {"order": 17, "amount": 15}, "returns": 25}
{"action": "place", "args": {"amount": 9}, "returns": 18}
{"action": "refund", "args": {"order": 18, "amount": 9}, "returns": 0}
{"action": "refund", "args": {"order": 17, "amount": 5}, "returns": 20}
`

// exampleModule is one of the modules of the examples.
func exampleModule(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile("../examples/fresnelfir/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// boundedModule is a stack that refuses a thirteenth number, beside a function that answers 0 to
// all arguments but two.
func boundedModule() []byte {
	m := wasm.New()
	m.Memory(1, 1)
	depth := m.Global(wasm.I32, true, 0)
	move := func(name string, params []wasm.Type, bound int32, by int32) {
		f := m.Func(name, params, wasm.Results(wasm.I32))
		f.GlobalGet(depth).I32(bound).Op(wasm.I32Eq).If(wasm.Empty, func() { f.I32(-1).Op(wasm.Return) }, nil)
		f.GlobalGet(depth).I32(by).Op(wasm.I32Add).GlobalSet(depth).GlobalGet(depth)
	}
	move("stack_push", wasm.Params(wasm.I32), 12, 1)
	move("stack_pop", nil, 0, -1)
	m.Func("stack_depth", nil, wasm.Results(wasm.I32)).GlobalGet(depth)
	f := m.Func("post", wasm.Params(wasm.I32, wasm.I32), wasm.Results(wasm.I32))
	f.Get(0).I32(77_777).Op(wasm.I32Eq).Get(1).I32(88_888).Op(wasm.I32Eq).Op(wasm.I32And)
	return m.Bytes()
}

// A drafted model holds for the system that it is drafted from, says what it guesses,
// and finds a fault in another build.
func TestDraftModels(t *testing.T) {
	for _, x := range []struct {
		file  string
		data  []byte
		says  []string
		fault []byte
	}{
		{"bank.wasm", exampleModule(t, "bank.wasm"), []string{"a.balance += deposit_2", "require(a.is_frozen <= 0)", "a.is_frozen = 1", `"answer": "in `, "# Skipped: transfer"}, nil},
		{"queue.wasm", exampleModule(t, "queue.wasm"), []string{"require(q.queue_size <= 2)", "q.queue_back = queue_push_2"}, exampleModule(t, "faulty/queue/a-fourth-number-is-taken.wasm")},
		{"cache.wasm", exampleModule(t, "cache.wasm"), nil, nil},
		{"article.wasm", exampleModule(t, "article.wasm"), nil, nil},
		{"bounded.wasm", boundedModule(), []string{"require(actor.stack_depth <= 11)", "require(actor.stack_depth >= 1)", "answer = actor.stack_depth + 1", "# Skipped: post: "}, nil},
		{"trace.jsonl", []byte(refunds), []string{"o.amount -= amount2", "answer = o.amount - amount2"}, nil},
	} {
		t.Run(x.file, func(t *testing.T) {
			if testing.Short() && x.file != "bank.wasm" {
				t.Skip("what goes on at the same time is the same for every module")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, x.file)
			if err := os.WriteFile(path, x.data, 0o644); err != nil {
				t.Fatal(err)
			}
			a := app.New()
			d, err := a.Draft(t.Context(), app.Try{Words: []string{path}, Format: "fresnelfir", Folder: filepath.Join(dir, "draft"), Lanes: 2})
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(d.Path())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range append(x.says, "guess = {") {
				if !strings.Contains(string(text), s) {
					t.Errorf("%q is not in\n%s", s, text)
				}
			}
			job := app.Job{Paths: []string{d.Path()}, Store: t.TempDir(), Cases: 2000}
			rec, err := a.Run(t.Context(), job)
			if err != nil || len(rec.Findings) > 0 {
				t.Fatalf("a system differs from the model that is drafted from it: %v %+v", err, rec.Findings)
			}
			if x.fault == nil {
				return
			}
			other := filepath.Join(dir, "other.wasm")
			if err := os.WriteFile(other, x.fault, 0o644); err != nil {
				t.Fatal(err)
			}
			job.Options, job.Store = map[string][]string{"module": {other}}, t.TempDir()
			if rec, err := a.Run(t.Context(), job); err != nil || len(rec.Findings) == 0 {
				t.Errorf("the fault is not found: %v", err)
			}
		})
	}
}
