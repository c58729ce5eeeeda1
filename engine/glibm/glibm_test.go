package glibm_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/glibm"
)

var update = flag.Bool("update", false, "write testdata/glibc.txt anew, by python3")

// functions are those of the package, by the name that math has them under in
// Python.
func functions() map[string]func(x, y float64) float64 {
	return map[string]func(x, y float64) float64{
		"log": func(x, _ float64) float64 { return glibm.Log(x) },
		"exp": func(x, _ float64) float64 { return glibm.Exp(x) },
		"sin": func(x, _ float64) float64 { return glibm.Sin(x) },
		"cos": func(x, _ float64) float64 { return glibm.Cos(x) },
		"pow": glibm.Pow,
	}
}

type question struct {
	name string
	x, y float64
}

// questions are arguments of all sizes for which Python has a result, those at
// which a function takes another way first.
func questions(seed uint64, each int) []question {
	dice := rand.New(rand.NewPCG(seed, 236))
	var list []question
	for _, x := range []float64{1, 0.9375, 0x1.109p0, 0x1p-1022, 5e-324, math.MaxFloat64, 0x1.69555p-1} {
		for _, x := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, math.Inf(1))} {
			if x > 0 && x <= math.MaxFloat64 {
				list = append(list, question{"log", x, 0}, question{"pow", x, 0.5}, question{"pow", x, -0.875}, question{"pow", x, 1e-20}, question{"pow", x, 0})
			}
		}
	}
	for _, x := range []float64{0, 0x1p-54, 0.5, 512, 708.3, 708.4, 709.7, 745.1, 745.2, 1023, 1025} {
		list = append(list, question{"exp", -x, 0}, question{"exp", min(x, 709.7), 0}, question{"pow", 0.5, x}, question{"pow", 1 / math.E, x})
	}
	for _, x := range []float64{0, 0x1p-27, 0x1p-26, 0.126, 0x1.b6p-1, 0x1.368fdp1, math.Pi / 4, math.Pi / 2, math.Pi, 3 * math.Pi / 2, 2 * math.Pi, 105414335} {
		for _, x := range []float64{math.Nextafter(x, -1), x, math.Nextafter(x, math.Inf(1)), -x} {
			list = append(list, question{"sin", x, 0}, question{"cos", x, 0})
		}
	}
	for range each {
		u := dice.Float64()
		list = append(list,
			question{"log", 1 - u, 0},
			question{"log", math.Ldexp(1+u, dice.IntN(2046)-1022), 0},
			question{"exp", 1400*u - 700, 0},
			question{"exp", -2 * u, 0},
			question{"sin", u * 2 * math.Pi, 0},
			question{"cos", u * 2 * math.Pi, 0},
			question{"sin", (u - 0.5) * 2e8, 0},
			question{"pow", u, 1 / dice.Float64()},
			question{"pow", 1 + 400*u, dice.Float64() - 1})
	}
	return list
}

const python = `
import math, platform, sys
if platform.libc_ver()[0] != "glibc":
    sys.exit("the C library of python3 is not glibc")
if platform.machine() == "x86_64" and " fma " not in open("/proc/cpuinfo").read():
    sys.exit("the C library of python3 has no fused multiply-add here")
for line in sys.stdin:
    name, x, y = line.split()
    x, y = float.fromhex(x), float.fromhex(y)
    z = math.pow(x, y) if name == "pow" else getattr(math, name)(x)
    print(name, x.hex(), y.hex(), z.hex())
`

// answers has python3 answer, a line each.
func answers(t *testing.T, list []question) []byte {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	var in, said bytes.Buffer
	for _, q := range list {
		fmt.Fprintf(&in, "%s %x %x\n", q.name, q.x, q.y)
	}
	cmd := exec.Command(path, "-c", python)
	cmd.Stdin, cmd.Stderr = &in, &said
	out, err := cmd.Output()
	if err != nil && strings.HasPrefix(said.String(), "the C library") {
		t.Skip(said.String())
	}
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, said.String())
	}
	return out
}

func compare(t *testing.T, lines []byte) {
	t.Helper()
	known := functions()
	count, wrong := 0, 0
	for in := bufio.NewScanner(bytes.NewReader(lines)); in.Scan(); count++ {
		words := strings.Fields(in.Text())
		if len(words) != 4 {
			t.Fatalf("line %d: %q", count+1, in.Text())
		}
		var v [3]float64
		for i, w := range words[1:] {
			var err error
			if v[i], err = strconv.ParseFloat(w, 64); err != nil {
				t.Fatalf("line %d: %v", count+1, err)
			}
		}
		got := known[words[0]](v[0], v[1])
		if math.Float64bits(got) != math.Float64bits(v[2]) {
			if wrong++; wrong < 10 {
				t.Errorf("%s(%x, %x) = %x, want %x", words[0], v[0], v[1], got, v[2])
			}
		}
	}
	if count < 500 {
		t.Fatalf("only %d results", count)
	}
	t.Logf("%d results, %d differ", count, wrong)
}

// TestVectors holds the functions to what CPython 3.11 on glibc 2.36 returned.
func TestVectors(t *testing.T) {
	const file = "testdata/glibc.txt"
	if *update {
		if err := os.WriteFile(file, answers(t, questions(1, 150)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines)
}

func TestLivePython(t *testing.T) {
	compare(t, answers(t, questions(2, 5_000)))
}

// TestDefinitions checks what needs no digits.
func TestDefinitions(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"log 0", glibm.Log(0), -inf},
		{"log -1", glibm.Log(-1), nan},
		{"log inf", glibm.Log(inf), inf},
		{"log nan", glibm.Log(nan), nan},
		{"exp -inf", glibm.Exp(-inf), 0},
		{"exp inf", glibm.Exp(inf), inf},
		{"exp 710", glibm.Exp(710), inf},
		{"exp nan", glibm.Exp(nan), nan},
		{"sin nan", glibm.Sin(nan), nan},
		{"cos nan", glibm.Cos(nan), nan},
		{"0 ** inf", glibm.Pow(0, inf), 0},
		{"0 ** -1", glibm.Pow(0, -1), inf},
		{"0.5 ** inf", glibm.Pow(0.5, inf), 0},
		{"0.5 ** -1e300", glibm.Pow(0.5, -1e300), inf},
		{"2 ** -1e300", glibm.Pow(2, -1e300), 0},
		{"2 ** 1024", glibm.Pow(2, 1024), inf},
		{"-2 ** 2", glibm.Pow(-2, 2), nan},
		{"nan ** 0", glibm.Pow(nan, 0), 1},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
		}
	}
}

// An angle that reduction is not made for must not give wrong digits.
func TestLargeAnglesPanic(t *testing.T) {
	for name, f := range map[string]func(float64) float64{"sin": glibm.Sin, "cos": glibm.Cos} {
		for _, x := range []float64{0x1.921fbp26, -1e300, math.Inf(1)} {
			t.Run(fmt.Sprint(name, x), func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				f(x)
			})
		}
	}
}

func BenchmarkLog(b *testing.B) { bench(b, glibm.Log) }
func BenchmarkExp(b *testing.B) { bench(b, glibm.Exp) }
func BenchmarkSin(b *testing.B) { bench(b, glibm.Sin) }
func BenchmarkPow(b *testing.B) {
	bench(b, func(x float64) float64 { return glibm.Pow(x, 3.7) })
}

func bench(b *testing.B, f func(float64) float64) {
	x, sum := 0.0, 0.0
	for range b.N {
		if x += 0.0123; x > 6 {
			x -= 6
		}
		sum += f(x)
	}
	if math.IsNaN(sum) {
		b.Fatal("not a number")
	}
}
