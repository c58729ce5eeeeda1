package modelfile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
	"github.com/thresh-dev/thresh/tools/tway/modelfile"
	"github.com/thresh-dev/thresh/tools/tway/verify"
)

var update = flag.Bool("update", false, "write the expected diagnostics in testdata anew")

// TestErrors holds each file of testdata/errors.txtar to the diagnostics that
// stand behind it, as NAME.want. Files named rows-* are rows for the file model.
func TestErrors(t *testing.T) {
	const name = "testdata/errors.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []txtar.File
	var all strings.Builder
	for i := 0; i < len(ar.Files); i++ {
		f := ar.Files[i]
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		var got string
		if strings.HasPrefix(f.Name, "rows-") {
			model := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "model" })
			file, list := modelfile.Read("model", ar.Files[model].Data)
			if file == nil {
				t.Fatal(list)
			}
			_, list = file.ReadRows(f.Name, f.Data, strings.HasPrefix(f.Name, "rows-strict-"))
			got = list.Error()
			for _, d := range list {
				fmt.Fprintln(&all, d.Code)
			}
		} else {
			file, list := modelfile.Read(f.Name, f.Data)
			got = list.Error()
			if (file == nil) != list.HasErrors() {
				t.Errorf("%s: a file %t in spite of\n%s", f.Name, file != nil, got)
			}
			for _, d := range list {
				fmt.Fprintln(&all, d.Code)
			}
		}
		got += "\n"
		want := ""
		if i+1 < len(ar.Files) && ar.Files[i+1].Name == f.Name+".want" {
			want = string(ar.Files[i+1].Data)
		}
		if got != want && !*update {
			t.Errorf("%s: %s", f.Name, cmp.Diff(want, got))
		}
		out = append(out, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(&txtar.Archive{Comment: ar.Comment, Files: out}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for code, text := range map[string]string{ // too long for the archive
		"tway.nesting": "A: 1, 2\n" + strings.Repeat("(", 10_000) + "[A] = 1",
		"tway.values":  "A: 1" + strings.Repeat(",1", 1<<16),
	} {
		if _, list := modelfile.Read("long", []byte(text)); len(list) == 0 || list[0].Code != code {
			t.Errorf("%s: %.200v", code, list)
		}
		fmt.Fprintln(&all, code)
	}
	if _, list := modelfile.Read("long", []byte("[Parameter]\nA (int) : 1, 2\n[Constraint]\n"+strings.Repeat("!", 10_000)+"A = 1")); len(list) != 1 || list[0].Code != "tway.nesting" {
		t.Errorf("%.200v", list)
	}
	for _, code := range codes(t) {
		if !strings.Contains(all.String(), "tway."+code+"\n") {
			t.Errorf("nothing in %s gives rise to %s", name, code)
		}
	}
}

// codes is every code that the package gives.
func codes(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\b(?:wrong|warn|fail|about)\([^"\n]*"([a-z-]+)"`)
	var list []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(list, m[1]) && !strings.HasSuffix(name, "_test.go") {
				list = append(list, m[1])
			}
		}
	}
	if len(list) < 15 {
		t.Fatalf("only %d codes found: %v", len(list), list)
	}
	return list
}

// read reads a model that must be good.
func read(t *testing.T, text string) *modelfile.File {
	t.Helper()
	f, list := modelfile.Read("model.txt", []byte(text))
	if f == nil || len(list) > 0 {
		t.Fatalf("%v", list)
	}
	return f
}

// row is a row by the names of its values.
func row(t *testing.T, f *modelfile.File, words string) []int {
	t.Helper()
	rows, list := f.ReadRows("row", []byte(strings.Join(f.Names(), "\t")+"\n"+strings.ReplaceAll(words, " ", "\t")), true)
	if list.HasErrors() || len(rows) != 1 {
		t.Fatalf("%q: %v", words, list)
	}
	return rows[0]
}

// TestConstraints holds constraints of both formats to the rows they allow.
func TestConstraints(t *testing.T) {
	pict := "A: 1, 2, 10\nB: 1, 2, 3\nC: red, Green, ~blue\nD: red, green, yellow\n"
	acts := "[System]\nName: s\n[Parameter]\nA (int) : 1, 2, 10\nB (int) : 1, 2, 3\nC (enum) : red, Green, blue\nD (enum) : red, green, yellow\nE (boolean) : TRUE, FALSE\n[Constraint]\n"
	for _, c := range []struct{ model, good, bad string }{
		{pict + `IF [A] > 2 THEN [C] = "red";`, "10 1 red red, 2 1 Green red", "10 1 Green red"},
		{pict + "if [A] > 2\n  then [C] = \"red\"\n  # in between\n  else [D] <> \"GREEN\";", "10 1 red green, 1 1 red red", "10 1 Green red, 1 1 red green"},
		{pict + `[C] IN {"red", "green"} AND NOT [D] IN {"yellow"};`, "1 1 Green red", "1 1 blue red, 1 1 red yellow"},
		{pict + `[C] NOT IN {"red"};`, "1 1 Green red", "1 1 red red"},
		{pict + `[C] LIKE "*re*" OR [D] LIKE "?ellow";`, "1 1 red red, 1 1 Green red, 1 1 blue yellow", "1 1 blue green"},
		{pict + `[D] NOT LIKE "*e*n";`, "1 1 red red", "1 1 red green"},
		{pict + `[A] = [B] OR [A] > [B];`, "2 2 red red, 10 3 red red", "1 2 red red"},
		{pict + `[C] <> [D];`, "1 1 red green", "1 1 red red, 1 1 Green green"},
		{pict + `IF IsNegative(C) THEN [A] = 1;`, "1 1 blue red, 2 1 red red", "2 1 blue red"},
		{pict + `ISPOSITIVE([C]) OR [A] = 1.0;`, "1 1 blue red, 2 1 red red", "2 1 blue red"},
		{pict + `NOT [A] = 1 AND [B] = 1;`, "2 1 red red", "1 1 red red, 2 2 red red, 1 2 red red"},
		{pict + `NOT ([A] = 1 AND [B] = 1);`, "2 1 red red, 1 2 red red", "1 1 red red"},
		{pict + `[A] = 1 OR [B] = 1 AND [C] = "red";`, "1 2 Green red, 2 1 red red", "2 1 Green red"},
		{pict + `([A] = 1 OR [B] = 1) AND [C] = "red";`, "1 2 red red", "1 2 Green red"},
		{pict + "[A] = 1;[B] <= 2 ;\n", "1 2 red red", "1 3 red red, 2 1 red red"},
		{acts + `A > 2 => C = "red"`, "10 1 red red TRUE, 2 1 Green red TRUE", "10 1 Green red TRUE"},
		{acts + "C1: (C != red || D = green) && !(A = 2)", "1 1 red green TRUE", "1 1 red red TRUE, 2 1 blue red TRUE"},
		{acts + "A + B * 2 >= 8", "2 3 red red TRUE, 10 1 red red TRUE", "1 3 red red TRUE"},
		{acts + "(A + B) * 2 >= 8", "2 2 red red TRUE, 1 3 red red TRUE", "1 2 red red TRUE"},
		{acts + "A % B = 0", "10 2 red red TRUE", "10 3 red red TRUE"},
		{acts + "A / (B - 1) = 5", "10 3 red red TRUE", "10 1 red red TRUE, 10 2 red red TRUE"},
		{acts + "-A < -B", "2 1 red red TRUE", "1 1 red red TRUE"},
		{acts + "E => A = 1", "1 1 red red TRUE, 2 1 red red FALSE", "2 1 red red TRUE"},
		{acts + "E = true\n!E || B = 1", "1 1 red red TRUE", "1 1 red red FALSE, 1 2 red red TRUE"},
		{acts + "A = 1 => B = 1 => C = \"red\"", "1 1 red red TRUE, 1 2 blue red TRUE, 2 1 blue red TRUE", "1 1 blue red TRUE"},
		{acts + "3 < A", "10 1 red red TRUE", "2 1 red red TRUE"},
		{acts + "C = D", "1 1 red red TRUE", "1 1 Green green TRUE"},
	} {
		f := read(t, c.model)
		for words, want := range map[string]bool{c.good: true, c.bad: false} {
			for _, w := range strings.Split(words, ", ") {
				x := row(t, f, w)
				holds := true
				for _, cond := range f.Model.Conds {
					holds = holds && cond.Eval(x) == solve.True
				}
				if holds != want {
					t.Errorf("%s\nof %q: %t", c.model, w, holds)
				}
			}
		}
	}
}

func TestPict(t *testing.T) {
	f := read(t, "\ufeff# a model\r\nOS 1: Win7 | Windows 7, Linux (10), ~Mac|Apple (2), (odd)\r\n\r\nSize: 1, 2.5, -3\r\nCopy, <size>, four\r\n$Result: ok, ~bad\r\nIFace @ 3: a, b\r\n{ size, os 1 } @ 2\r\n{Size, IFace}\r\n")
	type value struct {
		names   string
		invalid bool
		weight  int
	}
	var got [][]value
	for _, p := range f.Params {
		var list []value
		for _, v := range p.Values {
			list = append(list, value{strings.Join(v.Names, "|"), v.Invalid, v.Weight})
		}
		got = append(got, list)
	}
	one := func(n string) value { return value{n, false, 1} }
	want := [][]value{
		{one("Win7|Windows 7"), {"Linux", false, 10}, {"Mac|Apple", true, 2}, one("(odd)")},
		{one("1"), one("2.5"), one("-3")}, {one("1"), one("2.5"), one("-3"), one("four")}, {one("ok"), {"bad", true, 1}}, {one("a"), one("b")},
	}
	if d := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); d != "" {
		t.Error(d)
	}
	if names := f.Names(); !slices.Equal(names, []string{"OS 1", "Size", "Copy", "$Result", "IFace"}) {
		t.Errorf("%q", names)
	}
	m := f.At(2)
	if d := cmp.Diff([]covering.Relation{{Params: []int{0, 1}, Strength: 2}, {Params: []int{1, 4}, Strength: 2}}, m.Relations); d != "" {
		t.Error(d)
	}
	if !slices.Equal(m.Orders, []int{0, 0, 0, 0, 3}) || !m.Outcome[3] || m.Outcome[0] || !f.Params[1].Numeric || f.Params[2].Numeric {
		t.Errorf("orders %v, outcomes %v", m.Orders, m.Outcome)
	}
	if got := fmt.Sprint(f.Labels([][]int{{0, 0, 0, 0, 0}, {0, 1, 0, 1, 0}, {2, 1, 0, 0, 0}, {0, 2, 0, 0, 0}})); got !=
		"[[Win7 1 1 ok a] [Windows 7 2.5 1 ~bad a] [~Mac 2.5 1 ok a] [Win7 -3 1 ok a]]" {
		t.Error(got)
	}
	a, err := covering.Generate(m, covering.Options{Seed: 1})
	if err != nil || len(a.Rows) == 0 {
		t.Errorf("%v", err)
	}
}

// A model may have other separators and signs, and tell cases apart.
func TestDialect(t *testing.T) {
	text := "Kind; a/A2; !A; b, c\nkind:1;!2\n{ Kind; kind }\n{Kind,kind}\nIF [Kind] LIKE \"a*\" THEN [kind] = 1;"
	f, list := modelfile.Dialect{Separator: ";", Alias: "/", Negative: "!", CaseSensitive: true}.Read("m", []byte(text))
	if f == nil {
		t.Fatal(list)
	}
	var got []string
	for _, p := range f.Params {
		for i := range p.Values {
			v := &p.Values[i]
			got = append(got, strings.Join(v.Names, "|")+" "+f.Label(v, 1))
		}
	}
	if d := cmp.Diff([]string{"a|A2 A2", "A !A", "b, c b, c", "1 1", "2 !2"}, got); d != "" || len(f.Model.Relations) != 2 {
		t.Errorf("%d relations: %s", len(f.Model.Relations), d)
	}
	for row, want := range map[[2]int]solve.Truth{{0, 0}: solve.True, {0, 1}: solve.False, {1, 1}: solve.True} {
		if holds := f.Model.Conds[0].Eval(row[:]); holds != want {
			t.Errorf("of %v: %v, want %v", row, holds, want)
		}
	}
	if rows, list := f.ReadRows("rows", []byte("kind\tKind\n!2\ta\n1\t!A\n"), true); fmt.Sprint(rows) != "[[0 1] [1 0]]" {
		t.Errorf("rows %v, %v", rows, list)
	}
	f, list = modelfile.Dialect{Separator: " "}.Read("m", []byte("A:1  2 3 \nB: x y"))
	if len(list) > 0 || len(f.Params[0].Values) != 3 || len(f.Params[1].Values) != 2 {
		t.Errorf("blanks between values: %+v, %v", f, list)
	}
	for _, d := range []modelfile.Dialect{{Separator: ";;"}, {Alias: "\n"}, {Negative: "no"}} {
		if d.Check() == nil {
			t.Errorf("%+v is taken", d)
		}
	}
}

func TestActs(t *testing.T) {
	text := `[System]
-- a comment
Name: shop
[Parameter]
os (enum) : linux, "mac os", windows
net-mode (int) : 1, 2, 4
on (boolean) : true, false
[Relation]
R1 : (os, net-mode, on, 2)
R2 : (os, on, 1)
[Constraint]
net-mode - 1 > 0 || on
[Test Set]
os,on
mac os,*
linux,false
[Misc]
anything
`
	xml := `<?xml version="1.0" encoding="UTF-8"?>
<System name="shop">
  <Parameters>
    <Parameter id="2" name="os" type="1"><values><value>linux</value><value>mac os</value></values><basechoices/><invalidValues><value>windows</value></invalidValues></Parameter>
    <Parameter id="3" name="net-mode" type="0"><values><value>1</value><value>2</value><value>4</value></values></Parameter>
    <Parameter id="4" name="on" type="2"><values><value>true</value><value>false</value></values></Parameter>
  </Parameters>
  <OutputParameters/>
  <Relations><Relation Strength="2" Default="true"/><Relation Strength="1"><Parameter name="os"/><Parameter name="on"/></Relation></Relations>
  <Constraints><Constraint text="net-mode - 1 &gt; 0 || on"><Parameters><Parameter name="on"/><Parameter name="net-mode"/></Parameters></Constraint></Constraints>
</System>`
	for format, text := range map[string]string{"acts": text, "acts-xml": xml} {
		f := read(t, text)
		if f.Format != format || f.System != "shop" || f.Strength != 2 || len(f.Params) != 3 || len(f.Model.Conds) != 1 {
			t.Errorf("%s: %+v", format, f)
		}
		if d := cmp.Diff([]covering.Relation{{Params: []int{0, 2}, Strength: 1}}, f.Model.Relations); d != "" {
			t.Errorf("%s: %s", format, d)
		}
		if !slices.Equal(f.Model.Conds[0].Vars, []int{1, 2}) || f.Model.Conds[0].Eval([]int{0, 0, 1}) != solve.False {
			t.Errorf("%s: the constraint is on %v", format, f.Model.Conds[0].Vars)
		}
		if invalid := f.Params[0].Values[2].Invalid; invalid != (format == "acts-xml") {
			t.Errorf("%s: invalid %t", format, invalid)
		}
		if format == "acts" {
			if d := cmp.Diff([][]int{{1, -1, -1}, {0, -1, 1}}, f.Model.Rows); d != "" {
				t.Error(d)
			}
		}
	}
}

// TestRows reads rows in every form in which they are written.
func TestRows(t *testing.T) {
	f := read(t, "A: 1, 2\nB: x | ex, ~y\n")
	want := [][]int{{0, 1}, {1, 0}, {1, solve.Open}}
	for _, text := range []string{
		"A\tB\n1\t~y\n2\tex\n2\t\n", "b,a\ny,1\nX,2\n*,2\n", "# made by\nA,B\r\n1,y\r\n2,x\r\n\r\n2\r\n",
		`{"parameters": ["A", "B"], "rows": [["1", "~y"], ["2", "x"], ["2", "*"]]}`,
	} {
		rows, list := f.ReadRows("rows", []byte(text), true)
		if d := cmp.Diff(want, rows); d != "" || len(list) > 0 {
			t.Errorf("%q: %s%v", text, d, list)
		}
	}
}

func FuzzRead(f *testing.F) {
	ar, err := txtar.ParseFile("testdata/errors.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range ar.Files {
		f.Add(file.Data)
	}
	f.Add([]byte("A: 1, 2\nB: 1, 2\nIF [A] = 1 THEN [B] = 2 ELSE [A] LIKE \"1\";"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, list := modelfile.Read("f", data)
		if (file == nil) != list.HasErrors() {
			t.Fatalf("a file: %t, errors: %v", file != nil, list)
		}
		for _, d := range list {
			if d.Code == "" || d.Message == "" || d.Pos.File != "f" || d.Pos.Line > strings.Count(string(data), "\n")+1 {
				t.Errorf("%+v", d)
			}
		}
		if file == nil {
			return
		}
		values := 1
		for _, p := range file.Params {
			if values *= len(p.Values); values > 1000 || len(file.Params) > 12 {
				return
			}
		}
		m := file.At(1)
		if err := m.Check(); err != nil {
			return
		}
		a, err := covering.Generate(m, covering.Options{})
		if err != nil {
			return
		}
		if v, err := verify.Array(m, a.Rows); err != nil || len(v.Missing)+len(v.Broken) > 0 {
			t.Errorf("%+v, %v", v, err)
		}
		for i := range a.Rows {
			if len(file.Labels(a.Rows)[i]) != len(file.Params) {
				t.Error("a row without its labels")
			}
		}
	})
}

func FuzzReadRows(f *testing.F) {
	for _, text := range []string{"A\tB\n1\tx\n", "B,A\n*,2\n", `{"parameters":["A"],"rows":[["1"]]}`, "", "A,A\n", "Z\n1"} {
		f.Add([]byte(text), true)
	}
	file, _ := modelfile.Read("model", []byte("A: 1, 2\nB: x | ex, ~y\n"))
	f.Fuzz(func(t *testing.T, data []byte, strict bool) {
		rows, list := file.ReadRows("rows", data, strict)
		if rows != nil && list.HasErrors() {
			t.Errorf("rows in spite of %v", list)
		}
		for _, row := range rows {
			if len(row) != 2 || row[0] < solve.Open || row[0] > 1 || row[1] < solve.Open || row[1] > 1 {
				t.Errorf("%v", row)
			}
		}
	})
}
