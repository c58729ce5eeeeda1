package fresnelfir

import (
	"fmt"
	"math/rand/v2"
	"strings"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
)

// The size of a maze and of a move's arguments.
const (
	mazeSide = 7
	mazeArgs = 8
)

// mazeMoves are the exports.
var mazeMoves = [...]string{"north", "south", "east", "west"}

// mazeMaker makes the code of cells.
type mazeMaker struct {
	m    *e.Module
	rng  *rand.Rand
	bugs []e.Index // functions that trap: one an assertion
}

// mazeModule is a maze by its seed, and the number of its assertions: a module with a
// position on a grid of 7 by 7 cells, four moves that take eight 64-bit numbers
// each, and cells whose code compares sums and products of these numbers with
// constants before it reaches an assertion or does not. The recipe is the one
// that the Daedaluzz benchmark has published for contracts. Equal seeds give
// equal mazes.
func mazeModule(seed uint64) (binary []byte, assertions int) {
	g := &mazeMaker{m: e.New(), rng: rand.New(rand.NewPCG(seed, mazeSide))}
	x, y := g.m.Global(e.I32, true, 0), g.m.Global(e.I32, true, 0)
	var numbers []e.Type
	for range mazeArgs {
		numbers = append(numbers, e.I64)
	}
	names := map[e.Index]string{}
	var cells []e.Index
	for range mazeSide * mazeSide {
		f := g.m.Func("", numbers, nil)
		cells = append(cells, f.Index)
		f.Block(e.Empty, func() { g.code(f, names, 0) })
	}
	step := g.m.Func("", numbers, nil)
	for i, cell := range cells {
		step.GlobalGet(y).I32(mazeSide).Op(e.I32Mul).GlobalGet(x).Op(e.I32Add).I32(int32(i)).Op(e.I32Eq)
		step.If(e.Empty, func() {
			for a := range e.Index(mazeArgs) {
				step.Get(a)
			}
			step.Call(cell)
		}, nil)
	}
	for i, d := range [...]struct {
		axis  e.Index
		by    int32
		limit int32
	}{{y, -1, 0}, {y, 1, mazeSide - 1}, {x, 1, mazeSide - 1}, {x, -1, 0}} {
		f := g.m.Func(mazeMoves[i], numbers, nil)
		f.GlobalGet(d.axis).I32(d.limit).Op(e.I32Ne).If(e.Empty, func() {
			f.GlobalGet(d.axis).I32(d.by).Op(e.I32Add).GlobalSet(d.axis)
		}, nil)
		for a := range e.Index(mazeArgs) {
			f.Get(a)
		}
		f.Call(step.Index)
	}
	g.m.Names(names)
	return g.m.Bytes(), len(g.bugs)
}

// code is nested conditions that end in an assertion or in nothing.
func (g *mazeMaker) code(f *e.Func, names map[e.Index]string, depth int) {
	if depth == 3 || depth > 0 && g.rng.IntN(4) == 0 {
		if g.rng.IntN(2) == 0 {
			bug := g.m.Func("", nil, nil)
			bug.Op(e.Unreachable)
			names[bug.Index] = fmt.Sprintf("assertion_%d", len(g.bugs))
			g.bugs = append(g.bugs, bug.Index)
			f.Call(bug.Index)
		}
		return
	}
	f.Get(g.arg())
	for range g.rng.IntN(3) {
		switch g.rng.IntN(3) {
		case 0:
			f.Get(g.arg()).Op(e.I64Add)
		case 1:
			f.I64(int64(1 + g.rng.IntN(64))).Op(e.I64Mul)
		default:
			f.I64(int64(g.rng.IntN(1 << 20))).Op(e.I64Add)
		}
	}
	f.I64(int64(g.rng.IntN(1 << 30)))
	f.Op([...]e.Op{e.I64LtU, e.I64GtU, e.I64Eq, e.I64LeU, e.I64GeU}[g.rng.IntN(5)])
	f.If(e.Empty, func() { g.code(f, names, depth+1) }, func() { g.code(f, names, depth+1) })
}

func (g *mazeMaker) arg() e.Index { return e.Index(g.rng.IntN(mazeArgs)) }

// mazeDocument is the model of every maze: any move at any time.
func mazeDocument() string {
	var args, domains, effects, branches, actions []string
	for i := range mazeArgs {
		args = append(args, fmt.Sprintf("%q", fmt.Sprintf("p%d", i)))
		domains = append(domains, fmt.Sprintf(`"p%d": {"type": "int", "min": 0, "max": 4611686018427387903}`, i))
	}
	for _, m := range mazeMoves {
		effects = append(effects, fmt.Sprintf(`%q: {}`, m))
		branches = append(branches, fmt.Sprintf(`{"id": %q, "weight": 1, "body": {"type": "call", "action": %q}}`, m, m))
		actions = append(actions, fmt.Sprintf(`%q: {"function": %q, "args": [%s], "returns": null, "mutates": true, "idempotent": false, "reads": [], "writes": []}`, m, m, strings.Join(args, ", ")))
	}
	list := func(l []string) string { return strings.Join(l, ", ") }
	return `{"entities": {}, "refinements": {}, "functions": {}, "properties": {}, "generators": {},
 "protocols": {"maze": {"root": {"type": "repeat", "min": 1, "max": 60, "body": {"type": "alt", "branches": [` + list(branches) + `]}}}},
 "effects": {` + list(effects) + `},
 "exploration": {"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "per_epoch"}, "directives_allowed": [{"type": "adjust_weight"}, {"type": "force"}],
  "adaptation_signals": [{"signal": "coverage_delta"}, {"signal": "coverage_plateau"}], "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"},
  "epoch_size": 500, "coverage_floor_threshold": 0.05, "concurrency": {"mode": "deterministic_interleaving", "threads": 1}},
 "inputs": {"domains": {` + list(domains) + `}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}},
 "bindings": {"runtime": "wasm", "entry": "maze.wasm", "actions": {` + list(actions) + `},
  "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}}
`
}
