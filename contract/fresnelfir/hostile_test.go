package fresnelfir

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// What a module does to Thresh itself is nothing: hostile modules are refused or
// give findings.
func TestHostileModules(t *testing.T) {
	g := engine(t)
	build := func(change func(*wasmemit.Module)) []byte {
		m := wasmemit.New()
		m.Memory(1, 1)
		i32 := wasmemit.Params(wasmemit.I32)
		m.Func("queue_open", nil, i32).I32(1)
		for _, name := range []string{"queue_pop", "queue_peek", "queue_size", "queue_back"} {
			m.Func(name, i32, i32).I32(0)
		}
		change(m)
		return m.Bytes()
	}
	two, one := wasmemit.Params(wasmemit.I32, wasmemit.I32), wasmemit.Results(wasmemit.I32)
	push := func(body func(*wasmemit.Func)) []byte {
		return build(func(m *wasmemit.Module) { body(m.Func("queue_push", two, one)) })
	}
	for name, c := range map[string]struct {
		module []byte
		want   string // how the finding's kind, or the error, begins
	}{
		"endless loop":      {push(func(f *wasmemit.Func) { f.Loop(wasmemit.Empty, func() { f.Br(0) }).I32(0) }), kindTimeout},
		"endless recursion": {push(func(f *wasmemit.Func) { f.Get(0).Get(1).Call(f.Index) }), kindCrash},
		"growing memory": {push(func(f *wasmemit.Func) {
			f.Loop(wasmemit.Empty, func() { f.I32(1).MemoryGrow().Op(wasmemit.Drop).Br(0) }).I32(0)
		}), kindTimeout},
		"memory beyond": {push(func(f *wasmemit.Func) { f.I32(-8).Memory(wasmemit.I32Load, 0) }), kindCrash},
		"endless start": {build(func(m *wasmemit.Module) {
			m.Func("queue_push", two, one).I32(0)
			f := m.Func("", nil, nil)
			f.Loop(wasmemit.Empty, func() { f.Br(0) })
			m.Start(f.Index)
		}), "opening the module"},
		"ten thousand exports": {build(func(m *wasmemit.Module) {
			f := m.Func("queue_push", two, one)
			f.I32(0)
			for i := range 10_000 {
				m.Export("e"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26), f.Index)
			}
		}), kindDiscrepancy},
	} {
		c1 := withModuleNamed(t, g, "queue.json", readExample(t, "queue.json"), c.module)
		c1.budget = 200
		if _, err := c1.Probe(context.Background()); err != nil {
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		x := open(t, c1)
		kinds := map[string]bool{}
		for i := range int64(40) {
			o, err := x.Execute(context.Background(), c1.Start(campaign.Facts{}), campaign.Case{Index: i})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
			kinds[o.Kind] = true
		}
		if !kinds[c.want] && !(c.want == kindCrash && kinds[kindTimeout]) {
			t.Errorf("%s: %v, want %s", name, kinds, c.want)
		}
	}
}

// endures compiles a model with a module and, if that is taken, runs some of its
// cases: whatever the module does, that ends with an error or an outcome. It
// returns the errors of the check, and the kinds of the outcomes.
func endures(t *testing.T, open dut.Opener, name, text string, module []byte) (refused string, kinds map[string]bool) {
	t.Helper()
	list, diags := New(open).Compile(context.Background(), campaign.Spec{Path: name, Data: []byte(text)}, campaign.Settings{
		Read: func(string) ([]byte, error) { return module, nil },
	})
	if diags.HasErrors() {
		return diags.Error(), nil
	}
	c, _ := campaign.As[*Campaign](list[0])
	if _, err := c.Probe(context.Background()); err != nil {
		return err.Error(), nil
	}
	x, err := c.open(context.Background())
	if err != nil {
		return err.Error(), nil
	}
	defer x.Close()
	kinds = map[string]bool{}
	for i := range int64(6) {
		o, err := x.Execute(context.Background(), c.Start(campaign.Facts{}), campaign.Case{Index: i})
		if err != nil {
			return err.Error(), kinds
		}
		kinds[o.Kind] = true
	}
	return "", kinds
}

// An allocator that gives nonsense is a finding.
func TestHostileAllocators(t *testing.T) {
	g := engine(t)
	text := `{
  "entities": {"User": {"fields": {"name": {"type": "string"}}}}, "refinements": {}, "functions": {}, "properties": {}, "generators": {},
  "protocols": {"greeting": {"root": {"type": "call", "action": "greet"}}}, "effects": {"greet": {}},
  "exploration": {"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
    "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0.05,
    "concurrency": {"mode": "deterministic_interleaving", "threads": 1}},
  "inputs": {"domains": {}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}},
  "bindings": {"runtime": "wasm", "entry": "m.wasm", "actions": {"greet": {"function": "greet", "args": ["actor_name"], "returns": null,
    "mutates": true, "idempotent": false, "reads": [], "writes": []}}, "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}
}`
	i32 := wasmemit.Params(wasmemit.I32)
	for name, c := range map[string]struct {
		alloc func(*wasmemit.Func)
		want  string
	}{
		"good":     {func(f *wasmemit.Func) { f.I32(1024) }, ""},
		"nothing":  {func(f *wasmemit.Func) { f.I32(0) }, kindCrash},
		"beyond":   {func(f *wasmemit.Func) { f.I32(-8) }, kindCrash},
		"the end":  {func(f *wasmemit.Func) { f.I32(1<<16 - 1) }, kindCrash},
		"a trap":   {func(f *wasmemit.Func) { f.Op(wasmemit.Unreachable) }, kindCrash},
		"no end":   {func(f *wasmemit.Func) { f.Loop(wasmemit.Empty, func() { f.Br(0) }).I32(0) }, kindTimeout},
		"the deep": {func(f *wasmemit.Func) { f.Get(0).Call(f.Index) }, kindCrash},
	} {
		m := wasmemit.New()
		m.Memory(1, 1)
		c.alloc(m.Func("malloc", i32, wasmemit.Results(wasmemit.I32)))
		m.Func("greet", wasmemit.Params(wasmemit.I32, wasmemit.I32), nil)
		if why, kinds := endures(t, g.Open, "m.json", text, m.Bytes()); why != "" || !kinds[c.want] && !(name == "the deep" && kinds[kindTimeout]) {
			t.Errorf("%s: %s, %v, want %q", name, why, kinds, c.want)
		}
	}
}

// section is a section of a module.
type section struct {
	id   byte
	body []byte
}

// sections takes a module apart.
func sections(module []byte) (list []section) {
	for rest := module[8:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		list = append(list, section{rest[0], rest[1+n : 1+n+int(size)]})
		rest = rest[1+n+int(size):]
	}
	return list
}

// joined is the module that sections make.
func joined(list ...section) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range list {
		b = append(binary.AppendUvarint(append(b, s.id), uint64(len(s.body))), s.body...)
	}
	return b
}

// malformed makes modules of a good one that are wrong in one way each.
func malformed(good []byte) map[string][]byte {
	out := map[string][]byte{}
	for i := range good {
		out[fmt.Sprintf("cut at %d", i)] = good[:i]
		b := bytes.Clone(good)
		b[i] ^= []byte{0x01, 0x80, 0xff, 0x40}[i%4]
		out[fmt.Sprintf("byte %d is another", i)] = b
	}
	all := sections(good)
	with := func(i int, s ...section) []section {
		return append(append(append([]section{}, all[:i]...), s...), all[i+1:]...)
	}
	for i, s := range all {
		add := func(what string, list ...section) { out[fmt.Sprintf("section %d %s", s.id, what)] = joined(list...) }
		content := func(what string, body ...byte) { add(what, with(i, section{s.id, body})...) }
		add("is missing", with(i)...)
		add("stands twice", with(i, s, s)...)
		add("stands first", append([]section{s}, with(i)...)...)
		add("stands last", append(with(i), s)...)
		add("has another number", with(i, section{77, s.body})...)
		content("is empty")
		content("has none", 0)
		content("counts one more", append([]byte{s.body[0] + 1}, s.body[1:]...)...)
		content("counts one less", append([]byte{s.body[0] - 1}, s.body[1:]...)...)
		content("counts four thousand million", append([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, s.body[1:]...)...)
		content("counts in too many bytes", append([]byte{s.body[0] | 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, s.body[1:]...)...)
		content("counts beyond 32 bits", append([]byte{0xff, 0xff, 0xff, 0xff, 0x7f}, s.body[1:]...)...)
		content("goes on", append(bytes.Clone(s.body), 0)...)
		content("ends early", s.body[:len(s.body)-1]...)
		for what, size := range map[string]uint64{"is longer than the module": uint64(len(s.body)) + 1000, "is longer than can be": 1 << 40} {
			b := binary.AppendUvarint(append(joined(all[:i]...), s.id), size)
			out[fmt.Sprintf("section %d %s", s.id, what)] = append(append(b, s.body...), joined(all[i+1:]...)[8:]...)
		}
	}
	for name, body := range map[string]string{
		"has no name": "", "has a name beyond its end": "\x7fname", "has a name that is not text": "\x04\xff\xfe\xfd\xfc", "names nothing": "\x04name",
		"names what there is not": "\x04name\x01\x05\x01\xff\x01\x01a", "names twice": "\x04name\x01\x07\x02\x00\x01a\x00\x01b",
		"names without an end": "\x04name\x01\xff\xff\xff\xff\x0f",
	} {
		out["a custom section "+name] = joined(append([]section{{0, []byte(body)}}, all...)...)
		out["a last custom section "+name] = joined(append(slices.Clone(all), section{0, []byte(body)})...)
	}
	return out
}

// A malformed module is refused, or it is none and explored.
func TestMalformedModules(t *testing.T) {
	g, text := engine(t), readExample(t, "queue.json")
	refused := 0
	for name, b := range malformed(exampleModule("queue", "")) {
		if testing.Short() && len(b)%8 != 0 {
			continue
		}
		why, _ := endures(t, g.Open, "queue.json", text, b)
		if why != "" {
			refused++
		}
		if strings.HasPrefix(name, "cut at") && why == "" {
			t.Errorf("%s: it is taken", name)
		}
	}
	t.Logf("%d refused", refused)
}

// anyModule is a model of whatever a module exports.
func anyModule(exports map[string]api.FunctionDefinition) string {
	effects, actions, domains, branches := map[string]any{}, map[string]any{}, map[string]any{}, []any{}
	for name, f := range exports {
		if len(actions) == 4 || len(f.ResultTypes()) > 1 {
			continue
		}
		args := []string{}
		for i := range f.ParamTypes() {
			arg := fmt.Sprint("n", i)
			args = append(args, arg)
			domains[arg] = map[string]any{"type": "int", "min": -3, "max": 70000}
		}
		var returns any
		if len(f.ResultTypes()) == 1 {
			returns = map[string]string{"type": "int"}
		}
		a := fmt.Sprint("a", len(actions))
		effects[a] = map[string]any{}
		actions[a] = map[string]any{"function": name, "args": args, "returns": returns, "mutates": true, "idempotent": false, "reads": []string{}, "writes": []string{}}
		branches = append(branches, map[string]any{"id": a, "weight": 1, "body": map[string]string{"type": "call", "action": a}})
	}
	text, err := json.Marshal(map[string]any{
		"entities": map[string]any{}, "refinements": map[string]any{}, "functions": map[string]any{}, "properties": map[string]any{}, "generators": map[string]any{},
		"effects": effects, "protocols": map[string]any{"p": map[string]any{"root": map[string]any{
			"type": "repeat", "min": 1, "max": 6, "body": map[string]any{"type": "alt", "branches": branches},
		}}},
		"exploration": json.RawMessage(`{"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
			"strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0.05,
			"concurrency": {"mode": "deterministic_interleaving", "threads": 1}}`),
		"inputs":   map[string]any{"domains": domains, "constraints": []any{}, "coverage": map[string]any{"targets": []any{}, "seed": 1, "reproducible": true}},
		"bindings": map[string]any{"runtime": "wasm", "entry": "m.wasm", "actions": actions, "event_hooks": map[string]any{"mode": "function_intercept", "observe": []string{}, "capture": []string{}}},
	})
	if err != nil {
		panic(err) // there is nothing in it that cannot be written
	}
	return string(text)
}

// The modules of the WebAssembly specification's own tests, which come with
// wazero's source: malformed, invalid, trapping, endless and growing ones.
func TestSpecificationModules(t *testing.T) {
	if testing.Short() {
		t.Skip("one module at a time; what goes on side by side is tried elsewhere")
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Skip("the go command is not here to find wazero's source: ", err)
	}
	nth := 20
	if os.Getenv("THRESH_TEST_LONG") != "" {
		nth = 1
	}
	g, ctx := engine(t), context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	seen, refused, outcomes := 0, 0, map[string]int{}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(dir)), "internal", "integration_test", "spectest"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".wasm" {
			return err
		}
		if seen++; seen%nth != 0 {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := readExample(t, "queue.json")
		if m, err := r.CompileModule(ctx, b); err == nil {
			if exports := m.ExportedFunctions(); len(exports) > 0 {
				text = anyModule(exports)
			}
			m.Close(ctx)
		}
		why, kinds := endures(t, g.Open, "m.json", text, b)
		if why != "" {
			refused++
		}
		for k := range kinds {
			outcomes[k]++
		}
		return nil
	})
	if err != nil {
		t.Skip("wazero's source has no specification tests here: ", err)
	}
	t.Logf("%d of %d modules, %d refused, outcomes %v", seen/nth, seen, refused, outcomes)
	if refused == 0 || outcomes[""] == 0 || outcomes[kindCrash] == 0 {
		t.Errorf("%d refused, outcomes %v: all of them are wanted", refused, outcomes)
	}
}
