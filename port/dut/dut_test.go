package dut

import (
	"strings"
	"testing"
)

func export(name string, params, results []ValType) Export {
	return Export{Name: name, Kind: Func, Sig: Signature{params, results}}
}

func bind(function string, result Kind, kinds ...Kind) []Binding {
	b := Binding{Function: function, Result: result}
	for i, k := range kinds {
		b.Params = append(b.Params, Param{string(rune('a' + i)), k})
	}
	return []Binding{b}
}

func TestBindChoosesByTheSignature(t *testing.T) {
	i32, i64, f32, f64 := TypeI32, TypeI64, TypeF32, TypeF64
	malloc := export("malloc", []ValType{i32}, []ValType{i32})
	for _, c := range []struct {
		binding []Binding
		exports []Export
		want    string // the convention, or what the error holds
	}{
		{bind("f", Void), []Export{export("f", nil, nil)}, "f()"},
		{bind("f", Int, Bool, Enum, Ref, Int), []Export{export("f", []ValType{i32, i64, f32, f64}, []ValType{f64})}, "f(i32, i64, f32, f64) -> f64"},
		{bind("f", String, String, Int), []Export{export("f", []ValType{i32, i32, i32}, []ValType{i64}), malloc}, "f(address+length, i32) -> packed string; strings by malloc"},
		{bind("f", String, String), []Export{export("f", []ValType{i32}, []ValType{i32, i32})}, "f(zero-ended string) -> address+length; strings by scratch page"},
		{bind("f", String), []Export{export("f", nil, []ValType{i32})}, "f() -> address of address+length"},
		{bind("f", Void, String), []Export{export("f", []ValType{i32, i32}, nil), malloc, export("__fir_alloc", []ValType{i32, i32}, []ValType{i32})}, "f(address+length); strings by __fir_alloc"},
		// An allocator with another signature is not one.
		{bind("f", Void, String), []Export{export("f", []ValType{i32, i32}, nil), export("malloc", []ValType{i64}, []ValType{i64})}, "f(address+length); strings by scratch page"},
		{bind("f", Void, String), []Export{export("f", []ValType{i32, i64}, nil)}, `parameter "a" is a string, which does not go into i32`},
		{bind("f", Void, Int), []Export{export("f", []ValType{TypeExternref}, nil)}, `parameter "a" is an int, which does not go into externref`},
		{bind("f", Void, String, Int), []Export{export("f", []ValType{i32}, nil)}, "the function takes 1 parameters, the binding gives 2, or 3 with a length after each string"},
		{bind("f", String), []Export{export("f", nil, []ValType{f64})}, "the function returns (f64), the binding wants string"},
		{bind("f", Int), []Export{export("f", nil, []ValType{i32, i32})}, "the function returns (i32, i32), the binding wants int"},
		{bind("gett", Int), []Export{export("get", nil, []ValType{i32})}, "gett: the module does not export it"},
	} {
		abis, err := Bind(c.binding, c.exports, true)
		switch {
		case err != nil && strings.Contains(err.Error(), c.want):
		case err != nil:
			t.Errorf("%v, want %q", err, c.want)
		case abis[0].String() != c.want:
			t.Errorf("%q, want %q", abis[0], c.want)
		}
	}
	if _, err := Bind(bind("f", String), []Export{export("f", nil, []ValType{i64})}, false); err == nil || !strings.Contains(err.Error(), "strings need a memory") {
		t.Error(err)
	}
}

// Every name is there: a new constant without one would be an index out of range.
func TestNames(t *testing.T) {
	for c := None; c <= Argument; c++ {
		if c != None && c.String() == "" {
			t.Errorf("cause %d has no name", c)
		}
	}
	for k := Void; k <= String; k++ {
		_ = Value{Kind: k}.String()
	}
	if Timeout.Crash() || Argument.Crash() || None.Crash() || !Exit.Crash() {
		t.Error("what a crash is")
	}
	if v := Text("a\n").String() + Number(Bool, 1).String() + Number(Ref, 7).String(); v != `"a\n"true7` {
		t.Error(v)
	}
}
