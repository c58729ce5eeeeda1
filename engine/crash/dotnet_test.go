package crash

import (
	"slices"
	"strings"
	"testing"
)

// Names of what compilers make of lambdas, local functions, iterators and asynchronous
// methods are those of the function they stand in; both runtimes give one name.
func TestDotnetFunctions(t *testing.T) {
	for frame, want := range map[string]string{
		"   at Shop.Program.<>c.<Main>b__0_0(Int32 x) in /src/a.cs:line 3":             "Shop.Program.Main",
		"   at Shop.Program.<>c__DisplayClass0_0.<Main>b__1()":                         "Shop.Program.Main",
		"   at Shop.Program.<Main>g__Go|0_1(Int32 n) in /src/a.cs:line 3":              "Shop.Program.Main",
		"   at Shop.Reader.<ReadAsync>d__3.MoveNext() in /src/a.cs:line 3":             "Shop.Reader.ReadAsync",
		"   at Shop.Program.<>c.<<Main>b__0_0>d.MoveNext()":                            "Shop.Program.Main",
		"   at Program.<Main>$(String[] args) in /src/a.cs:line 3":                     "Program.Main",
		"   at Shop.Box`1.Map[U](Func`2 f)":                                            "Shop.Box.Map",
		"  at Shop.Box`1[T].Map[U] (System.Func`2[T,TResult] f) [0x1] in /src/a.cs:3 ": "Shop.Box.Map",
		"  at Shop.Inner+Leaf.Go () [0x00006] in /src/a.cs:49 ":                        "Shop.Inner.Leaf.Go",
		"  at Shop.Program+<Main>c__AnonStorey2.<>m__0 () [0x0000d] in /src/a.cs:65 ":  "Shop.Program.Main",
		"   at Shop.List.System.Collections.Generic.IEnumerable<T>.GetEnumerator()":    "Shop.List.System.Collections.Generic.IEnumerable<T>.GetEnumerator",
		"   at <StartupCode$tool>.$Program.main@() in /src/a.fs:line 9":                "<StartupCode$tool>.$Program.main@",
		"\t  at Shop.Program:Main <0x00f8a>":                                           "Shop.Program.Main",
	} {
		if !dotnetFrame(frame) {
			t.Errorf("%s: not read as a frame", frame)
		}
		if got, library := dotnetFunc(frame); got != want || library {
			t.Errorf("%s\ngives %q (a library's: %t) instead of %q", frame, got, library, want)
		}
	}
}

// What the runtime's library does on the way to an exception does not tell callers
// apart; what an exception lacks, the one around it shows.
func TestDotnetCauses(t *testing.T) {
	const head = "Unhandled exception. "
	for _, c := range []struct{ stderr, title, frames string }{
		{head + "System.FormatException: bad\n   at System.Number.Throw(Int32 s)\n   at System.Number.Parse(String s)\n   at System.Int32.Parse(String s)\n   at A.F(String s)\n   at A.Main()\n",
			"System.FormatException in A.F: bad", "System.Int32.Parse A.F A.Main"},
		{head + "System.AggregateException: One or more errors occurred. (gone)\n ---> System.IO.IOException: gone\n   at System.IO.File.Read()\n   at System.Threading.Tasks.Task.Run()\n" +
			"   --- End of inner exception stack trace ---\n   at System.Threading.Tasks.Task.Wait()\n   at A.Load() in /src/a.cs:line 7\n   at A.Main() in /src/a.cs:line 2\n",
			"System.IO.IOException in A.Load (a.cs:7): gone", "System.Threading.Tasks.Task.Wait A.Load A.Main"},
		{head + "System.IO.IOException: gone\n   at A.<Get>d__1.MoveNext() in /src/a.cs:line 3\n--- End of stack trace from previous location ---\n   at A.<Load>d__2.MoveNext() in /src/a.cs:line 7\n",
			"System.IO.IOException in A.Get (a.cs:3): gone", "A.Get A.Load"},
		{head + "A.NoOrder: order of x ---> y\nand more\n   at A.F() in C:\\src\\a.cs:line 3\n", "A.NoOrder in A.F (a.cs:3): order of x ---> y and more", "A.F"},
		{"Stack overflow.\n   at A.G(Int32)\nRepeat 12043 times:\n--------------------------------\n   at A.F(Int32)\n   at A.G(Int32)\n--------------------------------\n   at A.F(Int32)\n   at A.Main()\n",
			"System.StackOverflowException in A.F", "A.F A.G"},
		{"tool: refused: System.FormatException: bad\n   at A.F(String s) in /src/a.cs:line 3\n", "System.FormatException in A.F (a.cs:3): bad", "A.F"},
		{"Unhandled Exception:\nSystem.Exception: a\nb\n  at A.F (System.Int32 n) [0x00012] in <17>:0 \n", "System.Exception in A.F: a b", "A.F"},
	} {
		got := Analyze(Death{ExitCode: 134, Stderr: []byte(c.stderr)})
		if frames := strings.Join(got.Frames, " "); got.Title != c.title || frames != c.frames {
			t.Errorf("%s\ngives %q in %q\ninstead of %q in %q", c.stderr, got.Title, frames, c.title, c.frames)
		}
	}
}

// Two exceptions of one type in one function are two causes, by their lines or, where
// Mono has none, by how far into the function they are.
func TestDotnetPlaces(t *testing.T) {
	of := func(place string) []string {
		return Analyze(Death{ExitCode: 1, Stderr: []byte("\nUnhandled Exception:\nSystem.FormatException: bad\n  at A.F (System.String s) " + place + " \n")}).Layers
	}
	for _, two := range [][2]string{{"[0x0004f] in /src/a.cs:9", "[0x0004f] in /src/a.cs:14"}, {"[0x00012] in <d101>:0", "[0x0002c] in <d101>:0"}} {
		if slices.Equal(of(two[0]), of(two[1])) {
			t.Errorf("%s and %s give one cause: %q", two[0], two[1], of(two[0]))
		}
	}
	if !slices.Equal(of("[0x00012] in <d101>:0"), of("[0x00012] in <e202>:0")) {
		t.Error("the name of a build enters the cause")
	}
}
