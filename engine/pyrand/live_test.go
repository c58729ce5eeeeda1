package pyrand_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// script is a sequence of calls as testdata/live.py takes it, and what they
// return here.
type script struct {
	rng     *pyrand.Rand
	seed    [2]string
	calls   [][]any
	results []string
}

func (s *script) add(result string, words ...any) {
	s.calls = append(s.calls, words)
	s.results = append(s.results, result)
}

// shown is a float64 by its bits.
func shown(v float64) string { return fmt.Sprintf("%016x", math.Float64bits(v)) }

func joined[T any](list []T) string { return strings.Trim(fmt.Sprint(list), "[]") }

// liveSeed draws a seed: how Python is told of it, and the generator.
func liveSeed(dice *rand.Rand) ([2]string, *pyrand.Rand) {
	data := make([]byte, dice.IntN(30))
	if dice.IntN(50) == 0 {
		data = make([]byte, 2400+dice.IntN(300)) // a key about as long as the state
	}
	for i := range data {
		data[i] = byte(dice.Uint32())
	}
	if dice.IntN(6) == 0 {
		n := int64(dice.IntN(2))
		return [2]string{"bool", []string{"False", "True"}[n]}, pyrandtest.New(n)
	}
	n := new(big.Int).SetBytes(data)
	if dice.IntN(2) == 0 {
		n.Neg(n)
	}
	if n.IsInt64() && dice.IntN(2) == 0 {
		return [2]string{"int", n.String()}, pyrandtest.New(n.Int64())
	}
	text := n.String()
	if len(text) > 4000 { // more than Python reads
		n.Rsh(n, 8000)
		text = n.String()
	}
	return [2]string{"int", text}, pyrandtest.NewBig(n)
}

// step makes one random call.
func (s *script) step(dice *rand.Rand) {
	r := s.rng
	number := func() float64 { return float64(dice.IntN(4000)-2000) / 64 * dice.Float64() }
	positive := func() float64 {
		switch dice.IntN(8) {
		case 0:
			return 1
		case 1:
			return math.Ldexp(1+dice.Float64(), dice.IntN(40)-30)
		}
		return float64(1+dice.IntN(400)) / 64 * (1 - dice.Float64())
	}
	two := func(name string, a, b float64, draw func(float64, float64) float64) {
		s.add(shown(draw(a, b)), name, a, b)
	}
	n := 1 + dice.IntN(200)
	lo, hi := dice.Int64N(1<<40)-1<<39, int64(1)<<dice.IntN(42)
	switch dice.IntN(22) {
	case 0:
		s.add(r.BigBits(n-1).String(), "getrandbits", n-1)
	case 1:
		step := int64(1 + dice.IntN(9))
		s.add(fmt.Sprint(r.RangeStep(lo, lo+hi, step)), "randrange", lo, lo+hi, step)
	case 2:
		step := -int64(1 + dice.IntN(9))
		s.add(fmt.Sprint(r.RangeStep(lo+hi, lo, step)), "randrange", lo+hi, lo, step)
	case 3:
		s.add(fmt.Sprint(r.Range(lo, lo+hi+1)), "randint", lo, lo+hi)
	case 4:
		m := new(big.Int).Lsh(big.NewInt(lo|1), uint(n))
		m.Abs(m)
		s.add(r.BigBelow(m).String(), "randrange", m.String())
	case 5:
		s.add(fmt.Sprint(r.Index(n)), "choice", n)
	case 6:
		k := dice.IntN(12)
		s.add(joined(r.Choices(n, k)), "choices", n, k)
	case 7:
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = positive() * float64(dice.IntN(3))
		}
		weights[dice.IntN(n)] = 1
		s.add(joined(r.WeightedChoices(weights, 6)), "weighted", weights, 6)
	case 8:
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
		s.add(joined(list), "shuffle", n)
	case 9:
		if dice.IntN(2) == 0 {
			n *= 1 + dice.IntN(1000) // so that places are kept in a set
		}
		k := dice.IntN(min(n, 200) + 1)
		s.add(joined(r.Sample(n, k)), "sample", n, k)
	case 10:
		s.add(hex.EncodeToString(r.Bytes(n-1)), "randbytes", n-1)
	case 11:
		two("uniform", number(), number(), r.Uniform)
	case 12:
		a, b := number(), number()
		mode := a + (b-a)*dice.Float64()
		if dice.IntN(3) == 0 {
			s.add(shown(r.TriangularMiddle(a, b)), "triangular", a, b)
			return
		}
		s.add(shown(r.Triangular(a, b, mode)), "triangular", a, b, mode)
	case 13:
		s.add(hex.EncodeToString(r.AppendState(nil)), "getstate")
	case 14:
		_, other := liveSeed(dice)
		for range dice.IntN(700) {
			other.Uint32()
		}
		if dice.IntN(2) == 0 {
			other.Gauss(0, 1) // leaves one pending
		}
		state := other.AppendState(nil)
		result := "None"
		if err := r.SetState(state); err != nil {
			result = err.Error()
		}
		s.add(result, "setstate", hex.EncodeToString(state))
	case 15:
		if dice.IntN(4) == 0 {
			seed, other := liveSeed(dice)
			*r = *other
			s.add("None", "seed", seed[0], seed[1])
			return
		}
		s.add(shown(r.Float64()), "random")
	case 16, 17:
		two("gauss", number(), positive(), r.Gauss)
	case 18:
		two("normalvariate", number(), positive(), r.Normal)
	case 19:
		rate := positive()
		s.add(shown(r.Exponential(rate)), "expovariate", rate)
	case 20:
		two("betavariate", positive(), positive(), r.Beta)
	case 21:
		two("gammavariate", positive(), positive(), r.Gamma)
	}
}

func liveScript(dice *rand.Rand) *script {
	s := new(script)
	s.seed, s.rng = liveSeed(dice)
	for range 1 + dice.IntN(12) {
		s.step(dice)
	}
	return s
}

// python runs testdata/live.py on scripts: what it says of itself, and its
// answers.
func python(t *testing.T, scripts []*script) (about string, answers [][]string) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	var in, said bytes.Buffer
	encode := json.NewEncoder(&in)
	for _, s := range scripts {
		if err := encode.Encode([]any{s.seed, s.calls}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path, "testdata/live.py")
	cmd.Stdin, cmd.Stderr = &in, &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, said.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	about = lines.Text()
	for lines.Scan() {
		var list []string
		if err := json.Unmarshal(lines.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, list)
	}
	if len(answers) != len(scripts) {
		t.Fatalf("python3 answered %d of %d sequences", len(answers), len(scripts))
	}
	return about, answers
}

// agrees reports whether a result is Python's: to the last bit, unless the C
// library had a part in it.
func agrees(call any, got, want string) bool {
	switch call {
	case "getstate": // a pending deviate stands behind the words
		return got[:5000] == want[:5000] && len(got) == len(want)
	case "gauss", "normalvariate", "expovariate", "betavariate", "gammavariate":
		a, _ := strconv.ParseUint(got, 16, 64)
		b, _ := strconv.ParseUint(want, 16, 64)
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		return math.Abs(x-y) <= 1e-11*math.Abs(y)+1e-13
	}
	return got == want
}

// TestLivePython makes 10,000 random sequences of calls here and in python3,
// whose results must agree.
func TestLivePython(t *testing.T) {
	about, _ := python(t, nil)
	if minor, _ := strconv.Atoi(strings.SplitN(about+"..", ".", 3)[1]); minor < 9 {
		t.Skipf("python3 is %s, whose generators have no randbytes", about)
	}
	dice := rand.New(rand.NewPCG(4, 2026))
	scripts := make([]*script, testproc.Times(10_000, 2000))
	calls := 0
	for i := range scripts {
		scripts[i] = liveScript(dice)
		calls += len(scripts[i].calls)
	}
	_, answers := python(t, scripts)
	for i, s := range scripts {
		for k, want := range answers[i] {
			if !agrees(s.calls[k][0], s.results[k], want) {
				t.Fatalf("sequence %d with seed %s, call %d, %.300v: %.300s, python3 has %.300s", i, s.seed, k, s.calls[k], s.results[k], want)
			}
		}
	}
	t.Logf("%d calls are the same as in python3 %s", calls, about)
}
