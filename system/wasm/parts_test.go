package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"github.com/thresh-dev/thresh/engine/wasmrewrite"
	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// bare is an instance of a module that has some pages of memory and nothing else.
func bare(t *testing.T, pages uint32, p dut.Plan) *instance {
	t.Helper()
	m := e.New()
	m.Memory(pages, pages)
	m.Func("nothing", nil, nil)
	p.Binary = m.Bytes()
	g, err := NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	d, err := g.Open(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close(); d.Close() })
	return x.(*instance)
}

// Of a module that Go made, only what is not Go's own is traced, and that is said.
func TestWhatIsTraced(t *testing.T) {
	var c cover
	if traced := c.choose([]string{"main.main", "fmt.Println"}); !traced(0) || !traced(1) || c.notes() != nil {
		t.Errorf("another's module: %q", c.notes())
	}
	names := []string{"runtime.mallocgc", "main.main", "mainly.x", "fmt.Println", "encoding/json.Marshal", "example.com/shop.Pay", "example.com", "vendor/golang.org/x/text.A"}
	traced := c.choose(names)
	var got []string
	for i, name := range names {
		if traced(i) {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, []string{"main.main", "example.com/shop.Pay"}) || !slices.Equal(c.notes(), []string{"coverage is of 2 of 8 functions: Go's own packages are left out"}) {
		t.Errorf("%q, %q", got, c.notes())
	}
}

// What a module may expect and does not get is said, each in its words.
func TestWhatIsOtherwise(t *testing.T) {
	for want, i := range map[string]dut.Import{
		"": {Module: "env", Name: "f", Kind: dut.Func, Served: true},
		"the import wasi_snapshot_preview1.f reports that it is not supported": {Module: wasiModule, Name: "f", Kind: dut.Func},
		"the import env.f is unknown; calling it is a crash":                   {Module: "env", Name: "f", Kind: dut.Func},
		"the import env.g is unknown; the global is zero":                      {Module: "env", Name: "g", Kind: dut.Global},
		"the import env.m is a memory of the module's own":                     {Module: "env", Name: "m", Kind: dut.Memory},
		"the import env.t is a table of the module's own":                      {Module: "env", Name: "t", Kind: dut.Table},
	} {
		if got := strings.Join(imports([]dut.Import{i}), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	start, begin := dut.Export{Name: "_start", Kind: dut.Func}, dut.Export{Name: "_initialize", Kind: dut.Func}
	const command = "the module is a command: its _start is run once, before the first call"
	for _, x := range []struct {
		m    wasmrewrite.Module
		want string
	}{
		{wasmrewrite.Module{}, ""},
		{wasmrewrite.Module{Exports: []dut.Export{start}}, command},
		{wasmrewrite.Module{Exports: []dut.Export{begin}}, ""},
		{wasmrewrite.Module{Exports: []dut.Export{start, begin}}, ""},
		{wasmrewrite.Module{Exports: []dut.Export{{Name: "_start", Kind: dut.Global}}}, ""},
		{wasmrewrite.Module{Volatile: []string{"a", "b"}, Exports: []dut.Export{start}}, "the module uses a, b: its state is restored by restarting it and repeating its calls, which is slow\n" + command},
	} {
		if got := strings.Join(notes(&x.m), "\n"); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// A value goes to a number if it is one that an integer holds, and to a text as it is.
func TestValuesOfParameters(t *testing.T) {
	number, text := dut.Param{Name: "n", Kind: dut.Int}, dut.Param{Name: "s", Kind: dut.String}
	for value, want := range map[string]int64{"7": 7, "-9223372036854775808": -1 << 63, "true": 1, "false": 0, "2.0": 2, "-1e3": -1000, "9007199254740991.0": 1<<53 - 1} {
		if got, err := lowered(number, json.RawMessage(value)); err != nil || got != dut.Number(dut.Int, want) {
			t.Errorf("%s: %+v, %v", value, got, err)
		}
	}
	for _, value := range []string{"2.5", "9007199254740992.0", "-9007199254740992.0", "1e300", `"7"`, "[]", "9223372036854775808", `"` + strings.Repeat("a", 70) + `"`} {
		if got, err := lowered(number, json.RawMessage(value)); err == nil || got != (dut.Value{}) || !strings.HasPrefix(err.Error(), "the argument n must be an integer, got "+value[:min(len(value), 60)]) || len(err.Error()) > 100 {
			t.Errorf("%s: %+v, %v", value, got, err)
		}
	}
	for value, want := range map[string]string{`"a\n"`: "a\n", "7": "7", `{"a":1}`: `{"a":1}`} {
		if got, err := lowered(text, json.RawMessage(value)); err != nil || got != dut.Text(want) {
			t.Errorf("%s: %+v, %v", value, got, err)
		}
	}
}

// A command begins anew with every call, so that nothing is run before the first; other notes are kept.
func TestNotesOfSystems(t *testing.T) {
	m := e.New()
	m.Import("env", "f", nil, nil)
	m.Memory(1, 1)
	m.Func("_start", nil, nil)
	p := &sut.Plan{Name: "x", Kind: sut.WASM, Module: m.Bytes(), Entry: "x.wasm"}
	x, err := systemOpener(t)(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if got := x.Notes(); !slices.Equal(got, []string{"the import env.f is unknown; calling it is a crash"}) {
		t.Errorf("%q", got)
	}
	if o, err := x.Call(t.Context(), sut.Call{Input: []byte("hi")}); err != nil || o.End != sut.Answered {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := x.Call(t.Context(), sut.Call{Operation: "none"}); err == nil || o.End != "" {
		t.Errorf("%+v, %v", o, err)
	}
}

// fakeInstance is an instance of which only the last fault is known.
type fakeInstance struct {
	dut.Instance
	fault *dut.Fault
}

func (f fakeInstance) Fault() *dut.Fault { return f.fault }

// What a module replies is an answer, a refusal or a crash, in the words of systems.
func TestRepliesOfModules(t *testing.T) {
	fault := func(c dut.Cause, code int32) *dut.Fault {
		return &dut.Fault{Cause: c, Message: "so it is", Stack: []string{"f"}, Code: code}
	}
	for _, x := range []struct {
		result       dut.Kind
		reply        dut.Reply
		fault        *dut.Fault
		out, printed string // that the module wrote
		want         sut.Observation
	}{
		{dut.Int, dut.Reply{Value: dut.Number(dut.Int, -7)}, nil, "said", "", sut.Observation{End: sut.Answered, Value: []byte("-7"), Output: []byte("said")}},
		{dut.String, dut.Reply{Value: dut.Text("[1]")}, nil, "said", " more", sut.Observation{End: sut.Answered, Value: []byte("[1]"), Output: []byte("[1]"), Printed: []byte("said more")}},
		{dut.Void, dut.Reply{}, nil, "{}", "x", sut.Observation{End: sut.Answered, Value: []byte("{}"), Output: []byte("{}"), Printed: []byte("x")}},
		{dut.Void, dut.Reply{}, nil, "", "x", sut.Observation{End: sut.Answered, Printed: []byte("x")}},
		{dut.Void, dut.Reply{Cause: dut.Exit}, fault(dut.Exit, 0), "{}", "", sut.Observation{End: sut.Answered, Value: []byte("{}"), Output: []byte("{}")}},
		{dut.Void, dut.Reply{Cause: dut.Exit}, fault(dut.Exit, 3), "", "", sut.Observation{End: sut.Crashed, Exit: 3, Status: 3, Why: "exit code 3"}},
		{dut.Void, dut.Reply{Cause: dut.Exit}, fault(dut.Exit, 7), "", "", sut.Observation{End: sut.Refused, Exit: 7, Status: 7, Why: "exit code 7"}},
		{dut.Int, dut.Reply{Cause: dut.Timeout}, fault(dut.Timeout, 0), "", "", sut.Observation{End: sut.Hung, Why: "no end within 99 instructions"}},
		{dut.Int, dut.Reply{Cause: dut.Argument}, fault(dut.Argument, 0), "", "", sut.Observation{End: sut.Refused, Why: "so it is"}},
		{dut.Int, dut.Reply{Cause: dut.NoRoom}, nil, "", "", sut.Observation{End: sut.Refused, Why: "an argument does not fit its parameter"}},
		{dut.Int, dut.Reply{Cause: dut.DivideByZero}, fault(dut.DivideByZero, 0), "", "", sut.Observation{End: sut.Crashed, Why: "so it is", Trap: "divide by zero:f"}},
		{dut.Int, dut.Reply{Cause: dut.Exit}, nil, "", "", sut.Observation{End: sut.Crashed, Why: "exit", Trap: "exit"}},
	} {
		m := &module{plan: &sut.Plan{}, ops: []sut.Operation{{Name: "f", Rejects: []string{"7"}}}, binds: []dut.Binding{{Result: x.result}}, fuel: 99, instance: fakeInstance{fault: x.fault}}
		got := sut.Observation{End: sut.Answered, Output: []byte(x.out), Printed: []byte(x.printed)}
		m.judge(&got, 0, x.reply)
		w := x.want
		if got.End != w.End || got.Exit != w.Exit || got.Status != w.Status || got.Why != w.Why || got.Trap != w.Trap || !bytes.Equal(got.Value, w.Value) || !bytes.Equal(got.Output, w.Output) || !bytes.Equal(got.Printed, w.Printed) {
			t.Errorf("%s %+v: %+v\nwant %+v", x.reply.Cause, x.fault, got, w)
		}
	}
}

// An exported function is an operation whose arguments are numbers, or texts where it has an address
// and a length for each.
func TestExportsAsOperations(t *testing.T) {
	sig := func(params, results int) dut.Signature {
		s := dut.Signature{}
		for range params {
			s.Params = append(s.Params, dut.TypeI32)
		}
		for range results {
			s.Results = append(s.Results, dut.TypeI64)
		}
		return s
	}
	named := func(names ...string) (list []sut.Argument) {
		for _, n := range names {
			list = append(list, sut.Argument{Name: n})
		}
		return list
	}
	for name, x := range map[string]struct {
		plan   sut.Plan
		export dut.Export
		want   string // "" for none: the parameters, ">" the result, "?" a doubt
	}{
		"numbers":              {sut.Plan{}, dut.Export{Name: "f", Sig: sig(2, 1)}, "a0 integer, a1 integer > int"},
		"nothing":              {sut.Plan{}, dut.Export{Name: "f"}, " > void"},
		"two results":          {sut.Plan{}, dut.Export{Name: "f", Sig: sig(0, 2)}, ""},
		"two results, a text":  {sut.Plan{Operations: []sut.Operation{{Name: "f", Returns: "$"}}}, dut.Export{Name: "f", Sig: sig(0, 2)}, " > string"},
		"a text":               {sut.Plan{Operations: []sut.Operation{{Name: "f", Returns: "$"}}}, dut.Export{Name: "f", Sig: sig(0, 1)}, " > string"},
		"a path of no result":  {sut.Plan{Operations: []sut.Operation{{Name: "f", Returns: "$"}}}, dut.Export{Name: "f", Sig: sig(0, 0)}, " > void"},
		"hidden":               {sut.Plan{}, dut.Export{Name: "_f"}, ""},
		"the command":          {sut.Plan{}, dut.Export{Name: "_start"}, " > void"},
		"a global":             {sut.Plan{}, dut.Export{Name: "g", Kind: dut.Global}, ""},
		"named numbers":        {sut.Plan{Operations: []sut.Operation{{Name: "f", Arguments: named("x", "y")}}}, dut.Export{Name: "f", Sig: sig(2, 0)}, "x integer, y integer > void"},
		"one of two is named":  {sut.Plan{Operations: []sut.Operation{{Name: "f", Arguments: named("x")}}}, dut.Export{Name: "f", Sig: sig(3, 0)}, "x integer, a1 integer, a2 integer > void"},
		"named texts":          {sut.Plan{Operations: []sut.Operation{{Name: "f", Arguments: named("x", "y")}}}, dut.Export{Name: "f", Sig: sig(4, 0)}, "x string, y string > void"},
		"one named text":       {sut.Plan{Operations: []sut.Operation{{Name: "f", Arguments: named("x")}}}, dut.Export{Name: "f", Sig: sig(2, 0)}, "x string > void"},
		"the input":            {sut.Plan{Input: sut.Input{Operation: "f"}}, dut.Export{Name: "f", Sig: sig(2, 0)}, "a0 string > void"},
		"the input, replied":   {sut.Plan{Input: sut.Input{Operation: "f"}, Reply: "$"}, dut.Export{Name: "f", Sig: sig(2, 1)}, "a0 string > string"},
		"the input, doubtful":  {sut.Plan{Input: sut.Input{Operation: "f"}}, dut.Export{Name: "f", Sig: sig(2, 1)}, "a0 string > int?"},
		"the input of another": {sut.Plan{Input: sut.Input{Operation: "g"}, Reply: "$"}, dut.Export{Name: "f", Sig: sig(2, 1)}, "a0 integer, a1 integer > int"},
		"the input of none":    {sut.Plan{Input: sut.Input{Operation: "f"}}, dut.Export{Name: "f", Sig: sig(0, 1)}, " > int"},
		"the input of three":   {sut.Plan{Input: sut.Input{Operation: "f"}}, dut.Export{Name: "f", Sig: sig(3, 1)}, "a0 integer, a1 integer, a2 integer > int"},
	} {
		m := &module{plan: &x.plan}
		b, op, ok := m.operation(x.export)
		got := ""
		if ok {
			var list []string
			for i, a := range op.Arguments {
				list = append(list, a.Name+" "+a.Type)
				if !a.Required || b.Params[i].Name != a.Name || (b.Params[i].Kind == dut.String) != (a.Type == "string") {
					t.Errorf("%s: %+v, %+v", name, a, b.Params[i])
				}
			}
			got = strings.Join(list, ", ") + " > " + b.Result.String()
		}
		if m.doubt != "" {
			got += "?"
		}
		if got != x.want || ok && (len(b.Params) != len(op.Arguments) || b.Function != x.export.Name || op.Name != x.export.Name) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// Whatever was written, restoring a state brings back its memory: a store is marked in the block
// where it begins, and may reach into the next.
func TestRestoringMemory(t *testing.T) {
	x := bare(t, 6, dut.Plan{}) // 96 blocks, more than there are marks
	r := rand.New(rand.NewPCG(1, 2))
	type saved struct {
		s      dut.Snapshot
		memory []byte
	}
	all := []saved{{x.Snapshot(), bytes.Clone(x.view())}}
	for step := range 3000 {
		switch r.IntN(6) {
		case 0, 1, 2: // a store of the module's, often across two blocks
			at := r.IntN(95)*blockSize + blockSize - 1 - r.IntN(straddle)
			for i := range straddle + 1 {
				x.view()[at+i] = byte(r.Uint32())
			}
			x.dirty.Set(x.dirty.Get() | 1<<(at>>wasmrewrite.BlockShift&63))
		case 3: // one of the harness
			b := make([]byte, 1+r.IntN(2*blockSize))
			if e := x.put(uint64(r.IntN(len(x.view())-len(b)+1)), b); e != errNone {
				t.Fatal(e)
			}
		case 4:
			all = append(all, saved{x.Snapshot(), bytes.Clone(x.view())})
		default:
			to := all[r.IntN(len(all))]
			if err := x.Restore(to.s); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(x.view(), to.memory) {
				t.Fatalf("step %d: the memory is not what it was", step)
			}
			if n, _ := x.Changed(to.s); n != 0 || x.dirtyBlocks() != 0 {
				t.Fatalf("step %d: %d blocks have changed, %x are marked", step, n, x.dirtyBlocks())
			}
		}
		if len(all) > 12 {
			all = slices.Delete(all, 1, 4)
		}
		to := all[r.IntN(len(all))]
		want := 0
		for i := 0; i < len(to.memory); i += blockSize {
			if !bytes.Equal(to.memory[i:][:blockSize], x.view()[i:][:blockSize]) {
				want++
			}
		}
		if n, _ := x.Changed(to.s); n != want {
			t.Fatalf("step %d: %d blocks have changed, not %d", step, want, n)
		}
	}
}

// What the harness writes is marked by the blocks that it touches.
func TestMarks(t *testing.T) {
	x := &instance{}
	for _, c := range []struct {
		address, n uint32
		want       uint64
	}{
		{0, 0, 0}, {0, 1, 1}, {blockSize - 1, 1, 1}, {blockSize - 1, 2, 3}, {0, blockSize, 1}, {0, blockSize + 1, 3}, {64 * blockSize, 1, 1},
		{63 * blockSize, blockSize + 1, 1<<63 | 1}, {5 * blockSize, 64 * blockSize, allDirty}, {5*blockSize + 1, 64 * blockSize, allDirty}, {1, 63 * blockSize, allDirty}, {0, 63 * blockSize, allDirty >> 1},
	} {
		x.marks = 0
		if x.mark(c.address, c.n); x.marks != c.want {
			t.Errorf("%d bytes at %d: %x, want %x", c.n, c.address, x.marks, c.want)
		}
	}
}

// The world of a module: clocks that pass as they are read, files that are only the standard ones,
// and errors by their numbers.
func TestTheWorldOfAModule(t *testing.T) {
	x := bare(t, 1, dut.Plan{Seed: 7, Limits: dut.Limits{Output: 10}})
	const beyond = pageSize - 3 // of the memory
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(x.view()[at:]) }
	call := func(name string, a ...uint64) uint64 {
		t.Helper()
		stack := append(slices.Clone(a), 0)
		wasiFunctions[name].service()(x, stack)
		return stack[0]
	}
	vectors := func(at int, pairs ...uint32) {
		for i, v := range pairs {
			binary.LittleEndian.PutUint32(x.view()[at+4*i:], v)
		}
	}
	for _, c := range []struct {
		name string
		args []uint64
		want uint64
	}{
		{"args_get", []uint64{0, 0}, errNone}, {"args_sizes_get", []uint64{0, 8}, errNone}, {"args_sizes_get", []uint64{beyond, 8}, errFault},
		{"environ_sizes_get", []uint64{0, beyond}, errFault}, {"sched_yield", nil, errNone},
		{"clock_res_get", []uint64{0, 8}, errNone}, {"clock_res_get", []uint64{0, beyond}, errFault}, {"clock_time_get", []uint64{4, 0, 8}, errInvalid},
		{"fd_close", []uint64{2}, errNone}, {"fd_close", []uint64{3}, errBadFile}, {"fd_seek", []uint64{0, 0, 0, 8}, errSeek}, {"fd_tell", []uint64{0, 8}, errSeek},
		{"fd_fdstat_set_flags", []uint64{0, 0}, errNone}, {"fd_prestat_get", []uint64{3, 8}, errBadFile}, {"fd_prestat_dir_name", []uint64{3, 8, 1}, errBadFile},
		{"fd_fdstat_get", []uint64{3, 8}, errBadFile}, {"fd_fdstat_get", []uint64{0, pageSize - 23}, errFault}, {"fd_filestat_get", []uint64{0, pageSize - 63}, errFault},
		{"path_open", []uint64{3, 0, 0, 0, 0, 0, 0, 0, 0}, errBadFile},
		{"fd_write", []uint64{0, 0, 0, 8}, errBadFile}, {"fd_write", []uint64{3, 0, 0, 8}, errBadFile}, {"fd_write", []uint64{1, 0, maxVectors + 1, 8}, errInvalid},
		{"fd_write", []uint64{1, pageSize - 7, 1, 8}, errFault}, {"fd_read", []uint64{0, 0, maxVectors + 1, 8}, errInvalid}, {"fd_read", []uint64{0, pageSize - 7, 1, 8}, errFault},
		{"random_get", []uint64{pageSize - 7, 8}, errFault}, {"poll_oneoff", []uint64{0, 0, 0, 8}, errInvalid}, {"poll_oneoff", []uint64{0, 0, maxPolls + 1, 8}, errInvalid},
		{"poll_oneoff", []uint64{pageSize - 47, 0, 1, 8}, errFault}, {"poll_oneoff", []uint64{0, pageSize - 31, 1, 8}, errFault}, {"poll_oneoff", []uint64{0, 64, 1, beyond}, errFault},
	} {
		if got := call(c.name, c.args...); got != c.want {
			t.Errorf("%s%v: %d, want %d", c.name, c.args, got, c.want)
		}
	}
	for _, name := range []string{"args_sizes_get", "environ_sizes_get"} {
		for i := range 16 {
			x.view()[i] = 7
		}
		if call(name, 0, 8); uint32(word(0)) != 0 || uint32(word(8)) != 0 {
			t.Errorf("%s: %x", name, x.view()[:16])
		}
	}
	if call("clock_res_get", 0, 8); word(8) != 1 {
		t.Errorf("a clock's resolution is %d", word(8))
	}
	x.world.now = 0
	for id, want := range []uint64{epoch + tick, 2 * tick, 3 * tick, 4 * tick} {
		if got := call("clock_time_get", uint64(id), 0, 8); got != errNone || word(8) != want {
			t.Errorf("clock %d: %d, %d, want %d", id, got, word(8), want)
		}
	}
	clear(x.view())
	if call("fd_fdstat_get", 0, 8); word(8) != 2 || word(16) != 1<<1|1<<6 || word(24) != 0 {
		t.Errorf("a file's status is %x", x.view()[8:32])
	}
	if call("fd_filestat_get", 0, 64); word(64+16) != 2 {
		t.Errorf("a file's attributes are %x", x.view()[64:128])
	}
	copy(x.view()[256:], "hello world")
	vectors(0, 256, 5, 261, 6)
	fuel := x.fuel.Get()
	if got := call("fd_write", 1, 0, 2, 32); got != errNone || uint32(word(32)) != 11 || fuel-x.fuel.Get() != hostCost {
		t.Errorf("%d, %d bytes, %d fuel", got, word(32), fuel-x.fuel.Get())
	}
	vectors(0, 256, 5)
	call("fd_write", 2, 0, 1, 32)
	fuel = x.fuel.Get()
	vectors(0, 256, 700, 256, 700, 256, 700)
	if got := call("fd_write", 2, 0, 3, 32); got != errNone || fuel-x.fuel.Get() != hostCost+3 { // 64 bytes of each count
		t.Errorf("%d, %d fuel", got, fuel-x.fuel.Get())
	}
	if got := call("fd_write", 1, 4096, maxVectors, 32); got != errNone { // all of them empty
		t.Error(got)
	}
	if out, said := x.Output(); string(out) != "hello worl" || string(said) != "hellohello" {
		t.Errorf("%q, %q", out, said)
	}
	if out, said := x.Output(); out != nil || said != nil {
		t.Errorf("%q, %q", out, said)
	}
	if got := call("fd_read", 0, 4096, maxVectors, 32); got != errNone {
		t.Error(got)
	}
	x.Feed([]byte("input"))
	vectors(0, 512, 2, 600, 0, 700, 9)
	if got := call("fd_read", 1, 0, 3, 32); got != errNone || uint32(word(32)) != 0 {
		t.Errorf("another file is read from: %d, %d bytes", got, uint32(word(32)))
	}
	if got := call("fd_read", 0, 0, 3, 32); got != errNone || uint32(word(32)) != 5 || string(x.view()[512:514]) != "in" || string(x.view()[700:703]) != "put" {
		t.Errorf("%d, %d bytes", got, uint32(word(32)))
	}
	if got := call("fd_read", 0, 0, 3, 32); got != errNone || uint32(word(32)) != 0 {
		t.Errorf("at its end: %d, %d bytes", got, uint32(word(32)))
	}
	x.Feed(bytes.Repeat([]byte("x"), 1500))
	vectors(0, 1024, 700, 1024, 0, 1024, 900)
	fuel = x.fuel.Get()
	if got := call("fd_read", 0, 0, 3, 32); got != errNone || uint32(word(32)) != 1500 || fuel-x.fuel.Get() != hostCost+3 {
		t.Errorf("%d, %d bytes, %d fuel", got, uint32(word(32)), fuel-x.fuel.Get())
	}
	x.Feed([]byte("input"))
	vectors(0, beyond, 4)
	if got := call("fd_read", 0, 0, 1, 32); got != errFault || string(x.world.input) != "input" {
		t.Errorf("%d, %q is left", got, x.world.input)
	}
	var drawn []byte
	for _, n := range []uint64{8, 3, 8} {
		call("random_get", 512, n)
		drawn = append(drawn, x.view()[512:][:n]...)
	}
	y := bare(t, 1, dut.Plan{Seed: 7})
	y.world = world{seed: 7}
	random(y, []uint64{512, 11})
	if again := bytes.Clone(y.view()[512:523]); !bytes.Equal(again, drawn[:11]) || bytes.Equal(drawn[:8], drawn[11:]) {
		t.Errorf("%x, then %x", drawn, again)
	}
	// A wait takes as long as the first clock; a file is ready at once.
	poll := func(now uint64, subscriptions ...[4]uint64) (passed uint64) { // kind, clock, time, flags
		x.world.now = now
		clear(x.view()[:1024])
		for i, s := range subscriptions {
			b := x.view()[48*i:]
			binary.LittleEndian.PutUint64(b, uint64(1000+i))
			b[8] = byte(s[0])
			binary.LittleEndian.PutUint32(b[16:], uint32(s[1]))
			binary.LittleEndian.PutUint64(b[24:], s[2])
			b[40] = byte(s[3])
		}
		if got := call("poll_oneoff", 0, 512, uint64(len(subscriptions)), 900); got != errNone || uint32(word(900)) != uint32(len(subscriptions)) {
			t.Errorf("%v: %d, %d events", subscriptions, got, uint32(word(900)))
		}
		for i, s := range subscriptions {
			if word(512+32*i) != uint64(1000+i) || word(512+32*i+8) != s[0]<<16 || word(512+32*i+16)|word(512+32*i+24) != 0 {
				t.Errorf("%v: event %d is %x", subscriptions, i, x.view()[512+32*i:][:32])
			}
		}
		return x.world.now - now
	}
	for _, c := range []struct {
		now  uint64
		list [][4]uint64
		want uint64
	}{
		{50, [][4]uint64{{0, 1, 30, 0}}, 30}, {50, [][4]uint64{{0, 1, 30, 0}, {0, 1, 20, 0}, {1, 0, 5, 0}}, 20}, {50, [][4]uint64{{1, 0, 5, 0}}, 0}, {50, [][4]uint64{{2, 0, 5, 0}}, 0},
		{50, [][4]uint64{{0, 1, 80, 1}}, 30}, {50, [][4]uint64{{0, 1, 40, 1}}, 0}, {50, [][4]uint64{{0, 0, epoch + 80, 1}}, 30}, {50, [][4]uint64{{0, 0, 80, 0}}, 80},
	} {
		if got := poll(c.now, c.list...); got != c.want {
			t.Errorf("%v at %d: %d passed, want %d", c.list, c.now, got, c.want)
		}
	}
	x.memory = nil
	if got := call("args_get", 0, 0); got != errFault {
		t.Errorf("without memory: %d", got)
	}
	var over *hostFault
	func() {
		defer func() { over, _ = recover().(*hostFault) }()
		call("proc_exit", 1<<32-1)
	}()
	if over == nil || over.fault.Code != -1 || over.fault.Cause != dut.Exit || over.Error() != "the module ended the process with code -1" {
		t.Errorf("%+v", over)
	}
}

// Memory that has shrunk and grows again is zeros, however large it was.
func TestLinearMemory(t *testing.T) {
	l := &linear{target: -1}
	fill := func() {
		for i := range l.data {
			l.data[i] = 7
		}
	}
	for _, size := range []int{4, 8, 3, 6, 8, 12, 5, 30, 2, 30} {
		before := len(l.data)
		if size < before {
			l.target = int64(size)
		}
		got := l.Reallocate(uint64(size))
		l.target = -1
		if len(got) != size {
			t.Fatalf("%d bytes in place of %d", len(got), size)
		}
		for i, b := range got {
			if want := byte(7); (b == want) != (i < before) {
				t.Errorf("from %d to %d bytes: byte %d is %d", before, size, i, b)
			}
		}
		fill()
	}
	l.Free()
	if l.data != nil {
		t.Error("it is still there")
	}
}

// A trap is named by its cause and where it came from.
func TestTraps(t *testing.T) {
	x := bare(t, 1, dut.Plan{})
	x.fuel.Set(0) // the last instruction trapped
	const trace = "\nwasm stack trace:\n\t.$0(i32) i32\n\tenv.abort(i32)\n\t.$99()\n"
	for text, want := range map[string]string{
		"wasm error: integer divide by zero" + trace: "divide by zero:func[0]<env.abort<func[99] integer divide by zero",
		"wasm error: unreachable":                    "unreachable: unreachable",
		"wasm error: something else":                 "trap: something else",
		"":                                           "trap: the module trapped",
	} {
		var err error
		if text != "" {
			err = errors.New(text)
		}
		f := x.classify(err, 100)
		if got := strings.Replace(f.Signature(), "nothing", "func[0]", 1) + " " + f.Message; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	x.fuel.Set(api.EncodeI64(-1))
	if f := x.classify(nil, 100); f.Cause != dut.Timeout || f.Message != "no end after 100 instructions" {
		t.Errorf("%+v", f)
	}
}

// What the functions of WASI write is part of the state: the blocks are marked, and no others.
func TestWhatWASIWritesIsMarked(t *testing.T) {
	x := bare(t, 1, dut.Plan{Limits: dut.Limits{Memory: 1 << 16}})
	if x.device.plan.Limits.Memory != 1<<16-1 {
		t.Errorf("the limit is %d pages", x.device.plan.Limits.Memory)
	}
	x.Feed([]byte("input"))
	binary.LittleEndian.PutUint32(x.view()[0:], 2*blockSize-5)
	binary.LittleEndian.PutUint32(x.view()[4:], 5)
	for _, c := range []struct {
		name string
		args []uint64
		want uint64 // blocks
	}{
		{"args_sizes_get", []uint64{blockSize - 4, 3*blockSize - 4}, 1 | 1<<2}, {"args_sizes_get", []uint64{blockSize - 3, 3 * blockSize}, 3 | 1<<3},
		{"clock_time_get", []uint64{0, 0, 2*blockSize - 8}, 1 << 1}, {"clock_time_get", []uint64{1, 0, 2*blockSize - 7}, 3 << 1},
		{"fd_fdstat_get", []uint64{0, 2*blockSize - 24}, 1 << 1}, {"fd_filestat_get", []uint64{0, 2*blockSize - 63}, 3 << 1},
		{"random_get", []uint64{blockSize, 2 * blockSize}, 3 << 1}, {"random_get", []uint64{blockSize, 2*blockSize + 1}, 7 << 1}, {"random_get", []uint64{0, 0}, 0},
		{"fd_read", []uint64{0, 0, 1, 5 * blockSize}, 1<<1 | 1<<5}, {"fd_write", []uint64{1, 0, 1, 5 * blockSize}, 1 << 5},
		{"poll_oneoff", []uint64{64, 4*blockSize - 32, 1, 5 * blockSize}, 1<<3 | 1<<5},
	} {
		x.clean()
		if got := wasiFunctions[c.name].run(x, c.args); got != errNone || x.dirtyBlocks() != c.want {
			t.Errorf("%s%v: %d, blocks %x, want %x", c.name, c.args, got, x.dirtyBlocks(), c.want)
		}
	}
	if x.clean(); x.dirtyBlocks() != 0 {
		t.Errorf("%x are marked", x.dirtyBlocks())
	}
}

// What is random to a module is the same in every version.
func TestDrawnWords(t *testing.T) {
	w := world{seed: 7}
	if a, b := w.word(), w.word(); a != 0xbcda4680438a5951 || b != 0x5f5dfb04c9388ab4 || w.drawn != 2 {
		t.Errorf("%#x, %#x, %d are drawn", a, b, w.drawn)
	}
	x := bare(t, 1, dut.Plan{})
	fuel := x.fuel.Get()
	random(x, []uint64{0, 640})
	if fuel-x.fuel.Get() != hostCost+10 || x.world.drawn != 80 {
		t.Errorf("%d fuel, %d words", fuel-x.fuel.Get(), x.world.drawn)
	}
}

// An assertion's text is AssemblyScript's: its length in bytes before it, 512 characters at most.
func TestTextsOfAssertions(t *testing.T) {
	x := bare(t, 1, dut.Plan{})
	put := func(at int, size uint32, s string) {
		binary.LittleEndian.PutUint32(x.view()[at-4:], size)
		for i, u := range utf16.Encode([]rune(s)) {
			binary.LittleEndian.PutUint16(x.view()[at+2*i:], u)
		}
	}
	put(4, 6, "no\u00e9")
	put(100, 7, "a.ts")
	put(1000, 4000, strings.Repeat("x", 2000))
	put(pageSize-8, 12, "beyo")
	for _, c := range []struct {
		stack [4]uint64
		want  string
	}{
		{[4]uint64{4, 100, 3, 9}, "abort: no\u00e9 (a.t:3:9)"}, {[4]uint64{0, 0, 3, 9}, "abort"}, {[4]uint64{3, 0, 3, 9}, "abort"}, {[4]uint64{0, 100, 1, 1<<32 - 1}, "abort (a.t:1:4294967295)"},
		{[4]uint64{1000, 0, 0, 0}, "abort: " + strings.Repeat("x", 512)}, {[4]uint64{pageSize - 8, 0, 0, 0}, "abort"}, {[4]uint64{pageSize + 4, 0, 0, 0}, "abort"},
	} {
		func() {
			defer func() {
				if over, _ := recover().(*hostFault); over == nil || over.fault.Message != c.want || over.fault.Cause != dut.Unreachable {
					t.Errorf("%v: %+v, want %q", c.stack, over, c.want)
				}
			}()
			abort(x, c.stack[:])
		}()
	}
	if x.memory = nil; x.utf16(4) != "" {
		t.Error("a text without memory")
	}
}

// A function's name is that of the section of names, or that it is exported by, or its number.
func TestNamesOfFunctions(t *testing.T) {
	d := &device{code: &code{module: &wasmrewrite.Module{Names: []string{"", "inner", ""}, Exports: []dut.Export{
		{Name: "memory", Kind: dut.Memory, Index: 0}, {Name: "zero", Kind: dut.Func, Index: 0}, {Name: "one", Kind: dut.Func, Index: 1}, {Name: "three", Kind: dut.Func, Index: 3},
	}}}}
	for i, want := range []string{"zero", "inner", "func[2]", "three", "func[4]"} {
		if got := d.nameOf(i); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
}

// A module is a system whose functions are called by name, with arguments by name, by place or
// from the input; it can be brought back to its start, and floods are seen.
func TestModulesAsSystems(t *testing.T) {
	m := e.New()
	write := m.Import(wasiModule, "fd_write", e.Params(e.I32, e.I32, e.I32, e.I32), e.Results(e.I32))
	m.Memory(130, 130)
	n := m.Global(e.I32, true, 0)
	m.Func("count", nil, e.Results(e.I32)).GlobalGet(n).I32(1).Op(e.I32Add).GlobalSet(n).GlobalGet(n)
	m.Func("less", e.Params(e.I64, e.I64), e.Results(e.I64)).Get(0).I64(10).Op(e.I64Mul).Get(1).Op(e.I64Add)
	say := m.Func("say", e.Params(e.I32), nil)
	say.I32(0).I32(16).Memory(e.I32Store, 0).I32(4).Get(0).Memory(e.I32Store, 0)
	say.I32(1).I32(0).I32(1).I32(8).Call(write).Op(e.Drop)
	g, err := NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	p := sut.Plan{Name: "x", Kind: sut.WASM, Module: m.Bytes(), Entry: "x.wasm", Operations: []sut.Operation{{Name: "less", Arguments: []sut.Argument{{Name: "a"}, {Name: "b"}}}}}
	edge, err := g.OpenSystem(t.Context(), system.Site{Plan: &p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { edge.Close() })
	s := edge.(*module)
	if s.fuel != 500_000_000 || s.device.(*device).plan.Limits.StartFuel != 3_000_000_000 {
		t.Errorf("%d instructions, %d at the start", s.fuel, s.device.(*device).plan.Limits.StartFuel)
	}
	raw := func(list ...string) (values []json.RawMessage) {
		for _, v := range list {
			values = append(values, json.RawMessage(v))
		}
		return values
	}
	input := sut.Plan{Name: "x", Input: sut.Input{Operation: "less"}}
	for _, c := range []struct {
		plan *sut.Plan
		call sut.Call
		want string // the value, or the error
	}{
		{&p, sut.Call{Operation: "count"}, "1"}, {&p, sut.Call{Operation: "count", Input: []byte("7")}, "2"},
		{&p, sut.Call{Operation: "less", Named: []sut.Named{{Name: "b", Value: raw("2")[0]}, {Name: "a", Value: raw("7")[0]}}}, "72"},
		{&p, sut.Call{Operation: "less", Positional: raw("3", "4")}, "34"},
		{&p, sut.Call{Operation: "less", Named: []sut.Named{{Name: "b", Value: raw("2")[0]}}, Input: []byte("5")}, "52"},
		{&input, sut.Call{Named: []sut.Named{{Name: "b", Value: raw("2")[0]}}, Input: []byte("6")}, "62"},
		{&p, sut.Call{Operation: "less", Positional: raw("3")}, "the function less of the system x takes 2 arguments, not 1"},
		{&p, sut.Call{Operation: "less"}, "the function less of the system x takes 2 arguments, not 0"},
		{&p, sut.Call{Operation: "less", Positional: raw("3", "[]")}, "the function less of the system x: the argument b must be an integer, got []"},
		{&p, sut.Call{Input: []byte("x")}, `no operation "_start"`}, {&p, sut.Call{}, "no operation is named"},
	} {
		s.plan = c.plan
		o, err := s.Call(t.Context(), c.call)
		if got := string(o.Value); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && (o.End != sut.Answered || o.Elapsed < 1) {
			t.Errorf("%+v: %+v, %v, want %s", c.call, o, err, c.want)
		}
	}
	s.plan = &p
	if o, err := s.Fresh(t.Context(), 0); err != nil || o.End != sut.Answered {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := s.Call(t.Context(), sut.Call{Operation: "count"}); err != nil || string(o.Value) != "1" {
		t.Errorf("after a fresh start: %s, %v", o.Value, err)
	}
	for n, want := range map[int]sut.End{sut.MaxOutput - 1: sut.Answered, sut.MaxOutput: sut.Flooded, 3: sut.Answered} {
		if o, err := s.Call(t.Context(), sut.Call{Operation: "say", Positional: raw(strconv.Itoa(n))}); err != nil || o.End != want {
			t.Errorf("%d bytes: %s, %v", n, o.End, err)
		}
	}
	mod := s.instance.(*instance).mod
	if err := edge.Close(); err != nil || !mod.IsClosed() {
		t.Errorf("closed: %v, %v", mod.IsClosed(), err)
	}
	d, err := g.Open(t.Context(), dut.Plan{Binary: m.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	mod = d.(*device).spare.mod // of a device without instances
	if err := d.Close(); err != nil || !mod.IsClosed() {
		t.Errorf("closed: %v, %v", mod.IsClosed(), err)
	}
	p.Module, p.Operations = nil, []sut.Operation{{Name: "les"}}
	if _, err := g.OpenSystem(t.Context(), system.Site{Plan: &p}); err == nil || !strings.Contains(err.Error(), "open the module x.wasm: ") {
		t.Error(err)
	}
	p.Module = m.Bytes()
	if _, err := g.OpenSystem(t.Context(), system.Site{Plan: &p}); err == nil || !strings.Contains(err.Error(), `no operation "les"`) {
		t.Error(err)
	}
}
