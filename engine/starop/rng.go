package starop

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"sort"

	"go.starlark.net/starlark"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/starbox"
)

// generator is the rng argument: random.Random for Starlark.
type generator struct {
	rand   *pyrand.Rand
	budget *starbox.Budget
}

func (g *generator) String() string        { return "rng" }
func (g *generator) Type() string          { return "rng" }
func (g *generator) Freeze()               {}
func (g *generator) Truth() starlark.Bool  { return starlark.True }
func (g *generator) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: rng") }

// Attr implements [starlark.HasAttrs].
func (g *generator) Attr(name string) (starlark.Value, error) {
	fn := methods[name]
	if fn == nil {
		return nil, nil
	}
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (v starlark.Value, err error) {
		if g.rand == nil {
			return nil, fmt.Errorf("rng.%s is called after apply has ended", name)
		}
		return fn(g, call{b.Name(), args, kwargs})
	}), nil
}

// AttrNames implements [starlark.HasAttrs].
func (g *generator) AttrNames() []string { return slices.Sorted(maps.Keys(methods)) }

// call has the arguments of a method.
type call struct {
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

func (c call) unpack(pairs ...any) error {
	return starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
}

// methods are those of random.Random.
var methods = map[string]func(*generator, call) (starlark.Value, error){
	"random": func(g *generator, c call) (starlark.Value, error) {
		return starlark.Float(g.rand.Float64()), c.unpack()
	},
	"getrandbits":   (*generator).getrandbits,
	"randrange":     (*generator).randrange,
	"randint":       (*generator).randint,
	"choice":        (*generator).choice,
	"choices":       (*generator).choices,
	"shuffle":       (*generator).shuffle,
	"sample":        (*generator).sample,
	"randbytes":     (*generator).randbytes,
	"getstate":      (*generator).getstate,
	"setstate":      (*generator).setstate,
	"uniform":       pairDraw("a", "b", (*pyrand.Rand).Uniform),
	"gauss":         normal((*pyrand.Rand).Gauss),
	"normalvariate": normal((*pyrand.Rand).Normal),
	"gammavariate":  shaped((*pyrand.Rand).Gamma),
	"betavariate":   shaped((*pyrand.Rand).Beta),
	"triangular":    (*generator).triangular,
	"expovariate":   (*generator).expovariate,
}

// number is an argument that may be an integer or a float.
type number float64

// Unpack implements [starlark.Unpacker].
func (n *number) Unpack(v starlark.Value) error {
	f, ok := starlark.AsFloat(v)
	if !ok {
		return fmt.Errorf("got %s, want a number", v.Type())
	}
	*n = number(f)
	return nil
}

func pairDraw(a, b string, draw func(*pyrand.Rand, float64, float64) float64) func(*generator, call) (starlark.Value, error) {
	return func(g *generator, c call) (starlark.Value, error) {
		var x, y number
		if err := c.unpack(a, &x, b, &y); err != nil {
			return nil, err
		}
		return starlark.Float(draw(g.rand, float64(x), float64(y))), nil
	}
}

func normal(draw func(*pyrand.Rand, float64, float64) float64) func(*generator, call) (starlark.Value, error) {
	return func(g *generator, c call) (starlark.Value, error) {
		mu, sigma := number(0), number(1)
		if err := c.unpack("mu?", &mu, "sigma?", &sigma); err != nil {
			return nil, err
		}
		return starlark.Float(draw(g.rand, float64(mu), float64(sigma))), nil
	}
}

// shaped wraps distributions whose two arguments must be above 0.
func shaped(draw func(*pyrand.Rand, float64, float64) float64) func(*generator, call) (starlark.Value, error) {
	return func(g *generator, c call) (starlark.Value, error) {
		var alpha, beta number
		if err := c.unpack("alpha", &alpha, "beta", &beta); err != nil {
			return nil, err
		}
		for _, x := range []number{alpha, beta} {
			if !(x > 0 && x <= math.MaxFloat64) {
				return nil, fmt.Errorf("%s: alpha and beta must be above 0 and finite, got %v and %v", c.name, float64(alpha), float64(beta))
			}
		}
		return starlark.Float(draw(g.rand, float64(alpha), float64(beta))), nil
	}
}

func (g *generator) triangular(c call) (starlark.Value, error) {
	low, high, mode := number(0), number(1), starlark.Value(starlark.None)
	if err := c.unpack("low?", &low, "high?", &high, "mode?", &mode); err != nil {
		return nil, err
	}
	if mode == starlark.None {
		return starlark.Float(g.rand.TriangularMiddle(float64(low), float64(high))), nil
	}
	var top number
	if err := top.Unpack(mode); err != nil {
		return nil, fmt.Errorf("triangular: mode: %w", err)
	}
	return starlark.Float(g.rand.Triangular(float64(low), float64(high), float64(top))), nil
}

func (g *generator) expovariate(c call) (starlark.Value, error) {
	lambd := number(1) // as in later versions of Python
	if err := c.unpack("lambd?", &lambd); err != nil {
		return nil, err
	}
	if lambd == 0 {
		return nil, fmt.Errorf("expovariate: lambd must not be 0")
	}
	return starlark.Float(g.rand.Exponential(float64(lambd))), nil
}

func (g *generator) getrandbits(c call) (starlark.Value, error) {
	var k int
	if err := c.unpack("k", &k); err != nil {
		return nil, err
	}
	if k < 0 || k > 1<<16 {
		return nil, fmt.Errorf("getrandbits: k must be from 0 to %d, got %d", 1<<16, k)
	}
	if k <= 64 {
		return starlark.MakeUint64(g.rand.Bits(k)), nil
	}
	return starlark.MakeBigInt(g.rand.BigBits(k)), nil
}

func (g *generator) randrange(c call) (starlark.Value, error) {
	var start starlark.Int
	var stop starlark.Value = starlark.None
	step := starlark.MakeInt(1)
	if err := c.unpack("start", &start, "stop?", &stop, "step?", &step); err != nil {
		return nil, err
	}
	from, to := new(big.Int), start.BigInt()
	if stop != starlark.None {
		end, ok := stop.(starlark.Int)
		if !ok {
			return nil, fmt.Errorf("randrange: stop is %s: expected an integer", named(stop))
		}
		from, to = to, end.BigInt()
	}
	return g.inRange(c.name, from, to, step.BigInt())
}

func (g *generator) randint(c call) (starlark.Value, error) {
	var a, b starlark.Int
	if err := c.unpack("a", &a, "b", &b); err != nil {
		return nil, err
	}
	return g.inRange(c.name, a.BigInt(), new(big.Int).Add(b.BigInt(), big.NewInt(1)), big.NewInt(1))
}

// inRange draws an element of range(from, to, step).
func (g *generator) inRange(name string, from, to, step *big.Int) (starlark.Value, error) {
	if step.Sign() == 0 {
		return nil, fmt.Errorf("%s: step must not be 0", name)
	}
	span := new(big.Int).Sub(to, from)
	n := new(big.Int).Add(span, step) // rounds towards the end of the range
	n.Sub(n, big.NewInt(int64(step.Sign())))
	n.Quo(n, step)
	if span.Sign() != step.Sign() || n.Sign() <= 0 {
		return nil, fmt.Errorf("%s: empty range from %s up to %s", name, from, to)
	}
	if n.IsInt64() && from.IsInt64() && step.IsInt64() && step.Int64() == 1 && to.IsInt64() {
		return starlark.MakeInt64(from.Int64() + int64(g.rand.Below(n.Uint64()))), nil
	}
	k := g.rand.BigBelow(n)
	return starlark.MakeBigInt(k.Add(k.Mul(k, step), from)), nil
}

// elements returns a sequence that can be indexed; text counts by characters,
// as in Python.
func (g *generator) elements(name string, v starlark.Value) (n int, at func(int) starlark.Value, err error) {
	switch v := v.(type) {
	case starlark.String:
		if err := g.budget.Charge(4 * int64(len(v))); err != nil {
			return 0, nil, err
		}
		runes := []rune(string(v))
		return len(runes), func(i int) starlark.Value { return starlark.String(runes[i]) }, nil
	case starlark.Indexable:
		return v.Len(), v.Index, nil
	}
	return 0, nil, fmt.Errorf("%s: got %s, want a list, a tuple, a range or a string", name, named(v))
}

func (g *generator) choice(c call) (starlark.Value, error) {
	var seq starlark.Value
	if err := c.unpack("seq", &seq); err != nil {
		return nil, err
	}
	n, at, err := g.elements(c.name, seq)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("choice: the sequence is empty")
	}
	return at(g.rand.Index(n)), nil
}

func (g *generator) choices(c call) (starlark.Value, error) {
	var population, weights, sums starlark.Value
	k := 1
	if err := c.unpack("population", &population, "weights?", &weights, "cum_weights??", &sums, "k?", &k); err != nil {
		return nil, err
	}
	n, at, err := g.elements(c.name, population)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("choices: the population is empty")
	}
	if err := g.budget.Charge(16 * int64(max(k, 0))); err != nil {
		return nil, err
	}
	var picks []int
	switch {
	case weights != nil && weights != starlark.None && sums != nil:
		return nil, fmt.Errorf("choices: give weights or cum_weights, not both")
	case weights != nil && weights != starlark.None:
		w, err := floats(c.name, weights, n)
		if err != nil {
			return nil, err
		}
		picks = g.rand.WeightedChoices(w, max(k, 0))
	case sums != nil:
		w, err := floats(c.name, sums, n)
		if err != nil {
			return nil, err
		}
		for range max(k, 0) { // like WeightedChoices, with the same sums
			x := g.rand.Float64() * w[n-1]
			picks = append(picks, sort.Search(n-1, func(i int) bool { return w[i] > x }))
		}
	default:
		picks = g.rand.Choices(n, max(k, 0))
	}
	list := seq.Map(picks, at)
	return starlark.NewList(list), nil
}

// floats reads n weights whose total is positive.
func floats(name string, v starlark.Value, n int) ([]float64, error) {
	seq, ok := v.(starlark.Indexable)
	if !ok || seq.Len() != n {
		return nil, fmt.Errorf("%s: expected as many weights as elements", name)
	}
	w := make([]float64, n)
	total := 0.0
	for i := range w {
		var x number
		if err := x.Unpack(seq.Index(i)); err != nil {
			return nil, fmt.Errorf("%s: weight %d: %w", name, i, err)
		}
		w[i] = float64(x)
		total += w[i]
	}
	if !(total > 0) || total-total != 0 {
		return nil, fmt.Errorf("%s: the total of weights must be greater than zero and finite", name)
	}
	return w, nil
}

func (g *generator) shuffle(c call) (starlark.Value, error) {
	var list *starlark.List
	if err := c.unpack("x", &list); err != nil {
		return nil, err
	}
	var failed error
	g.rand.Shuffle(list.Len(), func(i, j int) {
		a, b := list.Index(i), list.Index(j)
		if err := list.SetIndex(i, b); err != nil {
			failed = err
		}
		if err := list.SetIndex(j, a); err != nil {
			failed = err
		}
	})
	return starlark.None, failed
}

func (g *generator) sample(c call) (starlark.Value, error) {
	var population starlark.Value
	var counts starlark.Indexable
	var k int
	if len(c.args) > 2 {
		return nil, fmt.Errorf("sample: counts must be given by its name")
	}
	if err := c.unpack("population", &population, "k", &k, "counts??", &counts); err != nil {
		return nil, err
	}
	n, at, err := g.elements(c.name, population)
	if err == nil && counts != nil {
		n, at, err = repeated(n, at, counts)
	}
	if err != nil {
		return nil, err
	}
	if k < 0 || k > n {
		return nil, fmt.Errorf("sample: k must be from 0 to %d, got %d", n, k)
	}
	if err := g.budget.Charge(16 * min(int64(n), 21+12*int64(min(k, 1<<40)))); err != nil { // all of a short sequence, indexes of a long one
		return nil, err
	}
	list := make([]starlark.Value, 0, k)
	for _, i := range g.rand.Sample(n, k) {
		list = append(list, at(i))
	}
	return starlark.NewList(list), nil
}

// repeated returns a sequence of n elements in which counts says how often each
// occurs.
func repeated(n int, at func(int) starlark.Value, counts starlark.Indexable) (int, func(int) starlark.Value, error) {
	if counts.Len() != n {
		return 0, nil, fmt.Errorf("sample: the number of counts does not match the population")
	}
	const most = 1 << 30
	ends, total := make([]int, n), 0
	for i := range ends {
		var count int
		if err := starlark.AsInt(counts.Index(i), &count); err != nil {
			return 0, nil, fmt.Errorf("sample: counts: %w", err)
		}
		if count < 0 || total+count > most {
			return 0, nil, fmt.Errorf("sample: counts must not be negative, and at most %d in all", most)
		}
		total += count
		ends[i] = total
	}
	if total == 0 {
		return 0, nil, fmt.Errorf("sample: the total of counts must be greater than zero")
	}
	return total, func(i int) starlark.Value { return at(sort.SearchInts(ends, i+1)) }, nil
}

func (g *generator) randbytes(c call) (starlark.Value, error) {
	var n int
	if err := c.unpack("n", &n); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fmt.Errorf("randbytes: n must not be negative, got %d", n)
	}
	if err := g.budget.Charge(int64(n)); err != nil {
		return nil, err
	}
	return starlark.Bytes(g.rand.Bytes(n)), nil
}

// getstate returns the state as bytes, which only setstate accepts.
func (g *generator) getstate(c call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	const size = 2508 // at most
	if err := g.budget.Charge(size); err != nil {
		return nil, err
	}
	return starlark.Bytes(g.rand.AppendState(make([]byte, 0, size))), nil
}

func (g *generator) setstate(c call) (starlark.Value, error) {
	var state starlark.Bytes
	if err := c.unpack("state", &state); err != nil {
		return nil, err
	}
	return starlark.None, g.rand.SetState([]byte(state))
}
