package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/thresh-dev/thresh/engine/wasmrewrite"
	"github.com/thresh-dev/thresh/port/dut"
)

// maxBinary is the maximum size of a module, in bytes.
const maxBinary = 64 << 20

// maxEffort is the greatest effort spent on compiling: a few seconds in the worst case, and far
// more than functions written by people need. Modules above it are interpreted; those above
// tooComplex would take very long even then and are refused.
const (
	maxEffort  = 1e8
	tooComplex = 3e9
)

// features are the WebAssembly features that modules may use; wasmrewrite refuses the rest.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// Engine compiles modules and caches the result. It is safe for concurrent use.
type Engine struct {
	cache wazero.CompilationCache

	mu      sync.Mutex
	modules map[key]*code
}

// key is what the compiled code depends on.
type key struct {
	digest             [sha256.Size]byte
	coverage, compares bool
	memory             uint32
}

// code is a rewritten and compiled module; it is ready once done has run.
type code struct {
	done     sync.Once
	err      error
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	module   *wasmrewrite.Module
	notes    []string
}

// NewEngine makes an engine. It keeps compiled code across processes in the folder dir (Go modules
// take seconds to compile), or only in memory if dir is "".
func NewEngine(dir string) (*Engine, error) {
	cache := wazero.NewCompilationCache()
	if dir != "" {
		var err error
		if cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, fmt.Errorf("opening the cache of compiled modules: %w", err)
		}
	}
	return &Engine{cache: cache, modules: make(map[key]*code)}, nil
}

// Open compiles a plan's module and runs it up to its first call; it is a [dut.Opener]. ctx can
// cancel before, but not during, a compilation.
func (e *Engine) Open(ctx context.Context, p dut.Plan) (dut.Device, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.Binary) > maxBinary {
		return nil, &dut.ModuleError{Offset: -1, Reason: fmt.Sprintf("%d bytes are more than the limit of %d", len(p.Binary), maxBinary)}
	}
	p.Limits = p.Limits.WithDefaults()
	p.Limits.Memory = min(p.Limits.Memory, 1<<16-1) // the size in bytes must fit 32 bits
	c, err := e.code(p)
	if err != nil {
		return nil, err
	}
	abis, err := dut.Bind(p.Bindings, c.module.Exports, c.module.Memory)
	if err != nil {
		return nil, err
	}
	d := &device{code: c, plan: p, info: dut.Info{
		Exports: c.module.Exports, ABI: abis,
		Edges: c.module.Edges, Sites: c.module.Sites, Notes: c.notes, Constants: c.module.Constants,
	}}
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// code returns the compiled module, compiling it if necessary.
func (e *Engine) code(p dut.Plan) (*code, error) {
	k := key{sha256.Sum256(p.Binary), p.Coverage, p.Compares, p.Limits.Memory}
	e.mu.Lock()
	c := e.modules[k]
	if c == nil {
		c = &code{}
		e.modules[k] = c
	}
	e.mu.Unlock()
	c.done.Do(func() { c.err = c.compile(e.cache, p) })
	return c, c.err
}

func (c *code) compile(cache wazero.CompilationCache, p dut.Plan) error {
	var covered cover
	m, err := wasmrewrite.Rewrite(p.Binary, wasmrewrite.Options{
		Coverage: p.Coverage, Compares: p.Compares, MaxMemory: p.Limits.Memory, Cover: covered.choose,
	})
	if err != nil {
		return err
	}
	if m.Effort > tooComplex {
		return &dut.ModuleError{Offset: -1, Reason: "its functions have so many blocks and locals that compiling them would take too long"}
	}
	c.notes = notes(m)
	config := wazero.NewRuntimeConfig()
	if m.Effort > maxEffort {
		config = wazero.NewRuntimeConfigInterpreter()
		c.notes = append(c.notes, "a function is so large that compiling it would take too long; the module is interpreted, which is slow")
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config.
		WithCoreFeatures(features).WithCompilationCache(cache).WithMemoryLimitPages(p.Limits.Memory).WithDebugInfoEnabled(false))
	compiled, err := compileModule(ctx, r, m.Binary)
	if err != nil {
		return errors.Join(&dut.ModuleError{Offset: -1, Reason: strings.TrimSpace(err.Error())}, r.Close(ctx))
	}
	if err := serve(ctx, r, m.Imports); err != nil {
		return errors.Join(err, r.Close(ctx))
	}
	c.runtime, c.compiled, c.module = r, compiled, m
	c.notes = append(append(imports(m.Imports), c.notes...), m.Notes...)
	if p.Coverage || p.Compares {
		c.notes = append(c.notes, covered.notes()...)
	}
	return nil
}

// compileModule turns a panic of the engine on a strange module into an error.
func compileModule(ctx context.Context, r wazero.Runtime, binary []byte) (c wazero.CompiledModule, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("the engine fails on it: %v", e)
		}
	}()
	return r.CompileModule(ctx, binary)
}

// imports lists the imports that may not behave as the module expects.
func imports(all []dut.Import) (list []string) {
	for _, i := range all {
		name := i.Module + "." + i.Name
		switch {
		case i.Served:
		case i.Kind == dut.Func && i.Module == wasiModule:
			list = append(list, fmt.Sprintf("the import %s reports that it is not supported", name))
		case i.Kind == dut.Func:
			list = append(list, fmt.Sprintf("the import %s is unknown; calling it is a crash", name))
		case i.Kind == dut.Global:
			list = append(list, fmt.Sprintf("the import %s is unknown; the global is zero", name))
		default:
			list = append(list, fmt.Sprintf("the import %s is a %s of the module's own", name, i.Kind))
		}
	}
	return list
}

// notes lists other differences from what users may expect.
func notes(m *wasmrewrite.Module) (list []string) {
	if len(m.Volatile) > 0 {
		list = append(list, fmt.Sprintf("the module uses %s: its state is restored by restarting it and repeating its calls, which is slow", strings.Join(m.Volatile, ", ")))
	}
	has := func(name string) bool {
		return slices.ContainsFunc(m.Exports, func(e dut.Export) bool { return e.Name == name && e.Kind == dut.Func })
	}
	if has("_start") && !has("_initialize") {
		list = append(list, "the module is a command: its _start is run once, before the first call")
	}
	return list
}

// cover chooses the functions to trace. In Go modules it skips Go's own packages: every call passes
// through thousands of their functions, and tracing them doubles the compile time.
type cover struct{ traced, all int }

func (c *cover) choose(names []string) func(int) bool {
	if !slices.Contains(names, "runtime.mallocgc") {
		return func(int) bool { return true }
	}
	c.all = len(names)
	for _, n := range names {
		if ownPackage(n) {
			c.traced++
		}
	}
	return func(i int) bool { return ownPackage(names[i]) }
}

// ownPackage reports whether a function belongs to package main or to a package whose path begins
// with a domain, as paths outside Go's standard library do.
func ownPackage(name string) bool {
	if strings.HasPrefix(name, "main.") {
		return true
	}
	domain, _, path := strings.Cut(name, "/")
	return path && strings.Contains(domain, ".")
}

func (c *cover) notes() []string {
	if c.all == 0 {
		return nil
	}
	return []string{fmt.Sprintf("coverage is of %d of %d functions: Go's own packages are left out", c.traced, c.all)}
}
