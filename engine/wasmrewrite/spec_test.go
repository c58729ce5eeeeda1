package wasmrewrite

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/thresh-dev/thresh/port/dut"
)

const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// specModules gives the modules of the WebAssembly specification's own tests,
// which come with wazero's source. Every nth is taken.
func specModules(t *testing.T, nth int) map[string][]byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Skip("the go command is not here to find wazero's source: ", err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "internal", "integration_test", "spectest")
	modules := make(map[string][]byte)
	for _, suite := range []string{"v2", "tail-call", "extended-const"} {
		n := 0
		err := filepath.WalkDir(filepath.Join(root, suite), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".wasm" {
				return err
			}
			if n++; n%nth != 0 {
				return nil
			}
			modules[suite+"/"+filepath.Base(path)], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Skip("wazero's source has no specification tests here: ", err)
		}
	}
	return modules
}

// every lets short tests take a part.
func every() int {
	if testing.Short() {
		return 20
	}
	return 1
}

// Whatever the engine takes, it takes rewritten too; what it refuses is refused
// by one of both.
func TestSpecModulesStayValid(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	defer r.Close(ctx)
	valid := 0
	// Names and lengths that the engine is stricter about than the specification
	// or than it need be once the module is rewritten.
	waived := []string{"v2/ref_func.5.wasm", "v2/binary-leb128.81.wasm", "v2/imports."}
	for name, binary := range specModules(t, every()) {
		before, errBefore := r.CompileModule(ctx, binary)
		for _, traced := range []bool{false, true} {
			m, err := Rewrite(binary, Options{Coverage: traced, Compares: traced})
			if err == nil {
				var after wazero.CompiledModule
				if after, err = r.CompileModule(ctx, m.Binary); err == nil {
					after.Close(ctx)
				}
			}
			if (err == nil) != (errBefore == nil) && !slices.ContainsFunc(waived, func(w string) bool { return strings.HasPrefix(name, w) }) {
				t.Errorf("%s (traced %v): before: %v; after: %v", name, traced, errBefore, err)
			}
		}
		if errBefore == nil {
			valid++
			before.Close(ctx)
		}
	}
	if valid < 50 {
		t.Errorf("only %d valid modules were seen", valid)
	}
}

// Rewriting changes nothing that a module does: the same calls give the same
// results, traps and memory.
func TestSpecModulesBehaveTheSame(t *testing.T) {
	calls := 0
	for name, binary := range specModules(t, every()) {
		calls += sameBehaviour(t, name, binary)
	}
	if calls < 200 {
		t.Errorf("only %d calls were compared", calls)
	}
	t.Logf("%d calls compared", calls)
}

// numbers are arguments that reach edges of loops, addresses and arithmetic.
var numbers = []uint64{0, 1, 3, 0xffffffffffffffff, 0x8000000000000000, 65535, 0x3ff0000000000000, 0x40400000, 12345678901}

func sameBehaviour(t *testing.T, name string, binary []byte) (calls int) {
	ctx := context.Background()
	m, err := Rewrite(binary, Options{Coverage: true, Compares: true, MaxMemory: 256})
	if err != nil || len(m.Imports) > 0 {
		return 0
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithMemoryLimitPages(256))
	defer r.Close(ctx)
	if _, err := r.CompileModule(ctx, binary); err != nil {
		return 0
	}
	config := wazero.NewModuleConfig()
	before, err := r.InstantiateWithConfig(ctx, binary, config.WithName("before"))
	after, errAfter := r.InstantiateWithConfig(ctx, m.Binary, config.WithName("after"))
	if errAfter == nil && m.HasStart {
		fuel(after).Set(1e6)
		_, errAfter = after.ExportedFunction(Start).Call(ctx)
	}
	if (err == nil) != (errAfter == nil) {
		t.Errorf("%s: starting: before %v, after %v", name, err, errAfter)
	}
	if err != nil || errAfter != nil {
		return 0
	}
	for _, e := range m.Exports {
		if e.Kind != dut.Func || slices.ContainsFunc(e.Sig.Params, func(t dut.ValType) bool { return t < dut.TypeF64 }) {
			continue
		}
		for round := range 4 {
			args := make([]uint64, len(e.Sig.Params))
			for i := range args {
				args[i] = numbers[(round*3+i*5+calls)%len(numbers)]
				if e.Sig.Params[i] == dut.TypeI32 || e.Sig.Params[i] == dut.TypeF32 {
					args[i] = uint64(uint32(args[i]))
				}
			}
			fuel(after).Set(50_000)
			got, errAfter := after.ExportedFunction(e.Name).Call(ctx, args...)
			if int64(fuel(after).Get()) < 0 || errAfter != nil && strings.Contains(errAfter.Error(), "stack overflow") {
				return calls // how deep is too deep is the engine's to say
			}
			want, err := before.ExportedFunction(e.Name).Call(ctx, args...)
			if trap(err) != trap(errAfter) || !slices.Equal(want, got) && !slices.ContainsFunc(e.Sig.Results, func(t dut.ValType) bool { return t == dut.TypeFuncref }) {
				t.Errorf("%s: %s(%x): before %x %v; after %x %v", name, e.Name, args, want, err, got, errAfter)
			}
			calls++
		}
	}
	if m.Memory {
		a, _ := before.Memory().Read(0, before.Memory().Size())
		b, _ := after.Memory().Read(0, after.Memory().Size())
		if !bytes.Equal(a, b) {
			t.Errorf("%s: memory differs", name)
		}
	}
	return calls
}

func fuel(m api.Module) api.MutableGlobal { return m.ExportedGlobal(Fuel).(api.MutableGlobal) }

// trap is the engine's word for how a call failed, or "".
func trap(err error) string {
	if err == nil {
		return ""
	}
	word, _, _ := strings.Cut(err.Error(), "\n")
	return word
}

// Cutting and flipping bytes of real modules: an error or a module, never a panic.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x0a\x06\x01\x04\x00\x41\x2a\x0b"))
	f.Fuzz(func(t *testing.T, binary []byte) {
		for _, traced := range []bool{false, true} {
			m, err := Rewrite(binary, Options{Coverage: traced, Compares: traced})
			var bad *dut.ModuleError
			if err != nil && !errors.As(err, &bad) {
				t.Fatalf("the error is a %T", err)
			}
			if err == nil && m == nil {
				t.Fatal("neither a module nor an error")
			}
		}
	})
}

func TestDamagedModulesDoNotPanic(t *testing.T) {
	for _, binary := range specModules(t, 40) {
		for i := 8; i < len(binary); i += 1 + len(binary)/40 {
			for _, flip := range []byte{1, 0x80, 0xff} {
				bad := bytes.Clone(binary)
				bad[i] ^= flip
				_, _ = Rewrite(bad, Options{Coverage: true, Compares: true})
			}
			_, _ = Rewrite(binary[:i], Options{Coverage: true, Compares: true})
		}
	}
}
