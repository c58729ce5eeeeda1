package pyrand_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/pyrand"
)

// livePython makes the calls of every line of its input: the kind and text of a
// seed, then method names with arguments.
const livePython = `
import json, random, struct, sys, zlib
kinds = {"int": int, "str": str, "bytes": bytes.fromhex, "float": float.fromhex}
def shown(v):
    if isinstance(v, float): return v.hex()
    if isinstance(v, bytes): return v.hex()
    if isinstance(v, list): return " ".join(map(str, v))
    return str(v)
for line in sys.stdin:
    (kind, seed), calls = json.loads(line)
    rng, state, out = random.Random(kinds[kind](seed)), None, []
    for name, *args in calls:
        if name == "getstate":
            state = rng.getstate()
            v = zlib.crc32(struct.pack("<625I", *state[1]))
        elif name == "setstate":
            v = rng.setstate(state) if state else None
        elif name == "shuffle":
            v = list(range(args[0]))
            rng.shuffle(v)
        elif name == "choices":
            v = rng.choices(range(args[0]), k=args[1])
        elif name == "weighted":
            v = rng.choices(range(len(args[0])), args[0], k=args[1])
        elif name == "sample":
            v = rng.sample(range(args[0]), args[1])
        elif name == "choice":
            v = rng.choice(range(args[0]))
        else:
            v = getattr(rng, name)(*args)
        out.append(shown(v))
    print(json.dumps(out))
`

// liveCall is a call for both sides: its name and arguments for Python, and
// what makes it here.
type liveCall struct {
	words []any
	draw  func(*pyrand.Rand) string
}

// closeEnough is how many units in the last place a method may differ by: the
// C library of Python rounds logarithms and the like by its own rules, and
// betavariate divides two such numbers.
func closeEnough(name string) int64 {
	switch name {
	case "gauss", "normalvariate", "expovariate", "gammavariate":
		return 2
	case "betavariate":
		return 4
	}
	return 0
}

func hexFloat(v float64) string { return strconv.FormatFloat(v, 'x', -1, 64) }

func joined[T any](list []T) string { return strings.Trim(fmt.Sprint(list), "[]") }

// liveCalls draws a sequence of calls.
func liveCalls(dice *rand.Rand) []liveCall {
	var state []byte
	number := func() float64 { return float64(dice.IntN(4000)-2000) / 64 }
	positive := func() float64 { return float64(1+dice.IntN(400)) / 64 }
	two := func(name string, a, b float64, draw func(*pyrand.Rand, float64, float64) float64) liveCall {
		return liveCall{[]any{name, a, b}, func(r *pyrand.Rand) string { return hexFloat(draw(r, a, b)) }}
	}
	one := func() liveCall {
		n, k := 1+dice.IntN(200), dice.IntN(12)
		lo, hi := dice.Int64N(1<<40)-1<<39, int64(1)<<dice.IntN(42)
		switch dice.IntN(20) {
		case 0:
			return liveCall{[]any{"getrandbits", n}, func(r *pyrand.Rand) string { return r.BigBits(n).String() }}
		case 1:
			step := int64(1 + dice.IntN(9))
			return liveCall{[]any{"randrange", lo, lo + hi, step}, func(r *pyrand.Rand) string { return fmt.Sprint(r.RangeStep(lo, lo+hi, step)) }}
		case 2:
			return liveCall{[]any{"randint", lo, lo + hi}, func(r *pyrand.Rand) string { return fmt.Sprint(r.Int(lo, lo+hi)) }}
		case 3:
			return liveCall{[]any{"choice", n}, func(r *pyrand.Rand) string { return fmt.Sprint(r.Index(n)) }}
		case 4:
			return liveCall{[]any{"choices", n, k}, func(r *pyrand.Rand) string { return joined(r.Choices(n, k)) }}
		case 5:
			weights := make([]float64, n)
			for i := range weights {
				weights[i] = positive()
			}
			return liveCall{[]any{"weighted", weights, k}, func(r *pyrand.Rand) string { return joined(r.WeightedChoices(weights, k)) }}
		case 6:
			return liveCall{[]any{"shuffle", n}, func(r *pyrand.Rand) string {
				list := make([]int, n)
				for i := range list {
					list[i] = i
				}
				r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
				return joined(list)
			}}
		case 7:
			k := dice.IntN(n + 1)
			return liveCall{[]any{"sample", n, k}, func(r *pyrand.Rand) string { return joined(r.Sample(n, k)) }}
		case 8:
			return liveCall{[]any{"randbytes", n}, func(r *pyrand.Rand) string { return hex.EncodeToString(r.Bytes(n)) }}
		case 9:
			return two("uniform", number(), number(), (*pyrand.Rand).Uniform)
		case 10:
			a, b, c := number(), number(), number()
			mode := min(a, b) + (max(a, b)-min(a, b))*math.Abs(c)/32
			return liveCall{[]any{"triangular", min(a, b), max(a, b), mode}, func(r *pyrand.Rand) string { return hexFloat(r.Triangular(min(a, b), max(a, b), mode)) }}
		case 11, 12:
			return two("gauss", number(), positive(), (*pyrand.Rand).Gauss)
		case 13:
			return two("normalvariate", number(), positive(), (*pyrand.Rand).Normal)
		case 14:
			rate := positive()
			return liveCall{[]any{"expovariate", rate}, func(r *pyrand.Rand) string { return hexFloat(r.Exponential(rate)) }}
		case 15:
			return two("betavariate", positive(), positive(), (*pyrand.Rand).Beta)
		case 16:
			return two("gammavariate", positive(), positive(), (*pyrand.Rand).Gamma)
		case 17:
			return liveCall{[]any{"getstate"}, func(r *pyrand.Rand) string {
				state = r.AppendState(nil)
				return fmt.Sprint(crc32.ChecksumIEEE(state[:2500]))
			}}
		case 18:
			return liveCall{[]any{"setstate"}, func(r *pyrand.Rand) string {
				if state != nil {
					if err := r.SetState(state); err != nil {
						return err.Error()
					}
				}
				return "None"
			}}
		}
		return liveCall{[]any{"random"}, func(r *pyrand.Rand) string { return hexFloat(r.Float64()) }}
	}
	calls := make([]liveCall, 1+dice.IntN(12))
	for i := range calls {
		calls[i] = one()
	}
	return calls
}

// liveSeed draws a seed: how Python is told of it, and the generator.
func liveSeed(dice *rand.Rand) ([2]string, *pyrand.Rand) {
	data := make([]byte, dice.IntN(30))
	for i := range data {
		data[i] = byte(dice.Uint32())
	}
	switch dice.IntN(4) {
	case 0:
		text := strings.ToValidUTF8(string(data)+"씨앗", "é")
		return [2]string{"str", text}, pyrand.NewString(text)
	case 1:
		return [2]string{"bytes", hex.EncodeToString(data)}, pyrand.NewBytes(data)
	case 2:
		v := dice.NormFloat64() * math.Exp(10*dice.NormFloat64())
		return [2]string{"float", hexFloat(v)}, pyrand.NewFloat(v)
	}
	n := new(big.Int).SetBytes(data)
	if dice.IntN(2) == 0 {
		n.Neg(n)
	}
	return [2]string{"int", n.String()}, pyrand.NewBig(n)
}

// TestLivePython makes 10,000 random sequences of calls here and in python3.
func TestLivePython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	const sequences = 10_000
	dice := rand.New(rand.NewPCG(4, 2026))
	var in bytes.Buffer
	var calls [sequences][]liveCall
	var rngs [sequences]*pyrand.Rand
	for i := range calls {
		var seed [2]string
		seed, rngs[i] = liveSeed(dice)
		calls[i] = liveCalls(dice)
		list := make([][]any, len(calls[i]))
		for k, c := range calls[i] {
			list[k] = c.words
		}
		line, err := json.Marshal([]any{seed, list})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	sent := in.String()
	cmd := exec.Command(python, "-c", livePython)
	cmd.Stdin = &in
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, said.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	requests := strings.Split(sent, "\n")
	rounded := 0
	for i := range calls {
		if !lines.Scan() {
			t.Fatalf("python3 answered %d of %d sequences", i, sequences)
		}
		var want []string
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		for k, c := range calls[i] {
			name := c.words[0].(string)
			switch apart := difference(c.draw(rngs[i]), want[k]); {
			case apart > closeEnough(name):
				t.Fatalf("sequence %d, call %d, %v: %d units apart, python3 has %s\n%s", i, k, c.words, apart, want[k], requests[i])
			case apart > 0:
				rounded++
			}
		}
	}
	t.Logf("%d deviates are rounded differently", rounded)
}

// difference is 0 for equal texts, and for numbers that are written in
// hexadecimal how many units in the last place they are apart.
func difference(got, want string) int64 {
	if got == want {
		return 0
	}
	a, err1 := strconv.ParseFloat(got, 64)
	b, err2 := strconv.ParseFloat(want, 64)
	if err1 != nil || err2 != nil || !strings.Contains(got, "x") || math.Signbit(a) != math.Signbit(b) {
		return math.MaxInt64
	}
	d := int64(math.Float64bits(a)) - int64(math.Float64bits(b))
	return max(d, -d)
}
