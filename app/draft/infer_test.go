package draft

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// stepsOf reads calls, such as "f=3 w=on a=2 -> 5": fields before the call, the arguments a and
// b, and its value; " !" behind a call says that it was refused.
func stepsOf(calls string) (taken, refused []*Step) {
	value := func(text string) any {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
		return text
	}
	for call := range strings.SplitSeq(calls, "; ") {
		call, bad := strings.CutSuffix(call, " !")
		known, result, answers := strings.Cut(call, " -> ")
		s := &Step{Before: State{}, Args: make([]any, 2)}
		for part := range strings.FieldsSeq(known) {
			name, text, _ := strings.Cut(part, "=")
			switch name {
			case "a", "b":
				s.Args[name[0]-'a'] = value(text)
			default:
				s.Before[name] = value(text)
			}
		}
		if answers {
			s.Value = value(result)
		}
		if bad {
			refused = append(refused, s)
		} else {
			taken = append(taken, s)
		}
	}
	return taken, refused
}

// What calls answered is explained by the cheapest expression that fits all of them, and
// what was refused by conditions that forbid nothing else.
func TestInfer(t *testing.T) {
	n := &names{"x", []string{"a", "b"}}
	slots := []Slot{{Name: "a", Kind: "int"}, {Name: "b", Kind: "int"}}
	for _, c := range []struct{ fields, calls, value, condition string }{
		{"f", "f=3 a=2 -> 5; f=0 a=7 -> 7", "x.f + a", ""},
		{"f", "f=3 a=2 -> 1; f=9 a=7 -> 2", "x.f - a", ""},
		{"f", "f=3 a=0 -> 4; f=9 a=5 -> 10", "x.f + 1", ""},
		{"f", "f=3 a=0 -> 2; f=9 a=5 -> 8", "x.f - 1", ""},
		{"f", "f=3 a=0 -> 3", "x.f", ""},
		{"f", "f=3 a=5 -> 5", "", ""}, // once is no rule, but for what is read
		{"f", "f=3 a=5 -> 5; f=1 a=6 -> 6", "a", ""},
		{"f", "f=true a=5 -> false; f=false a=6 -> true", "not x.f", ""},
		{"f", "f=on a=5 -> 7; f=off a=6 -> 7", "7", ""},
		{"f", "f=on a=5 -> true; f=off a=6 -> true", "True", ""},
		{"f", "f=4 a=5 b=1 -> 4; f=3 a=7 b=2 -> 5", "a - b", ""},
		{"f", "f=3 a=5 b=6 -> 1; f=3 a=2 b=9 -> 7", "b - a", ""},
		{"f", "f=3 a=5 b=6 -> 11; f=3 a=2 b=9 -> 11; f=3 a=1 b=1 -> 2", "a + b", ""},
		{"f", "f=9 a=1 -> 8; f=9 a=2 -> 7; f=9 a=3 -> 6; f=1 a=5 -> 0; f=1 a=9 -> 0; f=2 a=7 -> 0", "x.f - a if x.f >= 9 else 0", ""},
		{"f", "f=9 a=1 -> 8; f=9 a=2 -> 7; f=9 a=3 -> 6; f=1 a=5 -> 0; f=1 a=9 -> 0", "", ""}, // too few of one kind
		{"f", "f=9 a=1 -> 8; f=9 a=2 -> 7; f=9 a=3 -> 6; f=1 a=5 -> 0; f=1 a=9 -> 0; f=2 a=7 -> 0; f=2 a=7 -> 55", "", ""},
		{"f", "f=1 -> 12; f=2 -> 15; f=3 -> 91; f=4 -> 20; f=5 -> 77", "", ""},
		{"f", "f=3 a=1; f=4 a=4", "", ""},
		{"f", "f=3 a=1; f=9 a=9; f=3 a=5 !; f=0 a=1 !", "", "x.f - a >= 0"},
		{"f", "f=30 a=1; f=90 a=9; f=3 a=5 !; f=19 a=1 !", "", "x.f >= 20"},
		{"f", "f=3 a=1; f=9 a=9; f=100 a=5 !; f=44 a=1 !", "", "x.f <= 10"},
		{"f", "f=3 a=1; f=9 a=9; f=5 a=5 !; f=5 a=2 !", "", "x.f != 5"},
		{"f", "f=3 a=1; f=9 a=9; f=5 a=5 !; f=6 a=2 !", "", ""},
		{"f", "f=on a=1; f=on a=9; f=off a=5 !; f=idle a=2 !", "", `x.f == "on"`},
		{"f", "f=on a=1; f=idle a=9; f=off a=5 !; f=off a=2 !", "", `x.f != "off"`},
		{"f", "f=true a=1; f=true a=9; f=false a=5 !; f=false a=2 !", "", "x.f"},
		{"f", "f=false a=1; f=false a=9; f=true a=5 !; f=true a=2 !", "", "not x.f"},
		{"f g", "f=5 g=true; f=6 g=true; f=0 g=true !; f=-3 g=true !; f=6 g=false !; f=5 g=false !", "", "x.g and x.f >= 1"},
		{"f g", "f=5 g=true; f=6 g=true; f=0 g=true !; f=-3 g=true !; f=6 g=false !", "", ""}, // one refusal says too little
		{"f g h", "f=5 g=true h=on; f=6 g=true h=on; f=0 g=true h=on !; f=0 g=true h=on !; f=6 g=false h=on !; f=5 g=false h=on !; f=5 g=true h=off !; f=5 g=true h=off !", "", ""}, // more parts than two
		{"f", "f=5; f=6; f=5 !; f=6 !", "", ""},
	} {
		taken, refused := stepsOf(c.calls)
		fields := strings.Fields(c.fields)
		list := n.terms(fields, slots, -1)
		conds := list[:len(fields):len(fields)]
		for _, x := range list {
			if x.text == "x.f - a" {
				conds = append(conds, x)
			}
		}
		got := ""
		if x, ok := explain(taken, list, func(s *Step) (any, bool) { return s.Value, s.Value != nil }, conds); ok {
			got = x.text
			for _, s := range taken {
				if v, ok := x.eval(s); !ok || v != s.Value {
					t.Errorf("%s: %s is %v %v, want %v", c.calls, got, v, ok, s.Value)
				}
			}
		}
		if got != c.value {
			t.Errorf("%s: explained by %q, want %q", c.calls, got, c.value)
		}
		got = ""
		if x, ok := separate(taken, refused, conds, 2, 2); ok {
			got = x.text
			for i, s := range append(taken, refused...) {
				if v, ok := x.eval(s); !ok || v != (i < len(taken)) {
					t.Errorf("%s: %s of call %d is %v %v", c.calls, got, i, v, ok)
				}
			}
		}
		if got != c.condition {
			t.Errorf("%s: separated by %q, want %q", c.calls, got, c.condition)
		}
	}
	var texts []string
	for _, x := range n.terms([]string{"f"}, slots, 0) {
		texts = append(texts, x.text)
		if _, ok := x.eval(&Step{Before: State{"f": nil}, Args: []any{nil, nil}}); ok && x.text != "b" {
			t.Errorf("%s has a value of what is not known", x.text)
		}
	}
	if got := strings.Join(texts, ", "); got != "x.f, b, x.f + b, x.f - b, x.f + 1, x.f - 1, not x.f" {
		t.Error(got)
	}
}

func TestRoundBound(t *testing.T) {
	for text, want := range map[string]int64{
		"7 7": 7, "9 7": 9, "-5 5": 0, "0 9": 0, "-9 0": 0, "1 9": 1, "1 1": 1, "2 9": 9, "3 4": 4, "6 9": 9, "2 4": 4, "11 19": 19, "11 20": 20, "7 30": 10,
		"45 70": 50, "95 140": 100, "140 170": 170, "101 109": 109, "230 275": 270, "999 5001": 1000, "1900000000 2100000000": 2_000_000_000, "-40 -2": -2, "-9 -7": -7,
	} {
		var low, high int64
		if _, err := fmt.Sscan(text, &low, &high); err != nil {
			t.Fatal(err)
		}
		if got := roundBound(low, high); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// What operations are taken to do by their names alone.
func TestClassify(t *testing.T) {
	calls := func(lines string) (ops []Op) {
		for _, line := range strings.Fields(lines) {
			name, pure := strings.CutSuffix(line, "?")
			name, silent := strings.CutSuffix(name, "-")
			name, arg, _ := strings.Cut(name, "/")
			o := Op{Name: name, Handle: -1, Answers: !silent}
			if pure {
				o.Pure = "it says so"
			}
			if arg != "" {
				o.Slots = []Slot{{Name: "x", Kind: arg}}
			}
			ops = append(ops, o)
		}
		return ops
	}
	said := func(ops []Op) string {
		var b strings.Builder
		for _, o := range ops {
			fmt.Fprintf(&b, "%s: %v %q %d %q %q %q %s\n", o.Name, o.Makes, o.Entity, o.Handle, o.Pure, o.Again, o.Ends, o.FieldName)
		}
		return b.String()
	}
	const lines = "create_user new_item- open_door/int make? set_user/int close_item/int delete_all/text remove? set_size/text? user_count/int not/bool item_rename/int"
	ops := calls(lines)
	ops[11].Handle, ops[5].Ends, ops[4].Again = 0, "seen to", "seen to do nothing again"
	Classify(ops)
	if got, want := said(ops), `create_user: true "User" -1 "" "" "" create_user
new_item: false "" -1 "" "" "" new_item
open_door: true "Door" -1 "" "" "" open_door
make: false "" -1 "it says so" "" "" make_
set_user: false "User" 0 "" "seen to do nothing again" "" set_user
close_item: false "User" 0 "" "" "seen to" close_item
delete_all: false "" -1 "" "" "named delete" delete_all
remove: false "" -1 "it says so" "" "" remove
set_size: false "" -1 "it says so" "" "" set_size
user_count: false "User" 0 "" "" "" user_count
not: false "" -1 "" "" "" not_
item_rename: false "" 0 "" "named rename" "" item_rename
`; got != want {
		t.Errorf("by name:\n%s", got)
	}
	Unmake(ops, func(op int) bool { return ops[op].Name != "open_door" })
	if got, want := said(ops), `create_user: false "" -1 "" "" "" create_user
new_item: false "" -1 "" "" "" new_item
open_door: true "Door" -1 "" "" "" open_door
make: false "" -1 "it says so" "" "" make_
set_user: false "" -1 "" "seen to do nothing again" "" set_user
close_item: false "" -1 "" "" "seen to" close_item
delete_all: false "" -1 "" "" "named delete" delete_all
remove: false "" -1 "it says so" "" "" remove
set_size: false "" -1 "it says so" "" "" set_size
user_count: false "" -1 "" "" "" user_count
not: false "" -1 "" "" "" not_
item_rename: false "" -1 "" "named rename" "" item_rename
`; got != want {
		t.Errorf("without a maker of users:\n%s", got)
	}
	ops = calls("create_user get_user/int count- delete_user/int get_set/int fetch_closed/int touch")
	ops[0].Makes = true
	Recorded(ops)
	if got, want := said(ops), `create_user: true "" -1 "" "" "" create_user
get_user: false "" -1 "named get" "" "" get_user
count: false "" -1 "" "" "" count_
delete_user: false "" -1 "" "" "named delete" delete_user
get_set: false "" -1 "" "" "" get_set
fetch_closed: false "" -1 "named fetch" "" "" fetch_closed
touch: false "" -1 "" "" "" touch
`; got != want {
		t.Errorf("of a trace:\n%s", got)
	}
	for call, want := range map[string]int{"user create_user": 4, "user_id create_user": 4, "id create_user": 2, "x create_user": 2, "user users": 3, "x users": 1, "user create": 2, "_ create": 2} {
		argument, maker, _ := strings.Cut(call, " ")
		if got := Naming(argument, maker); got != want {
			t.Errorf("%s: %d, want %d", call, got, want)
		}
	}
	for ids, want := range map[string]string{"99 98 97": "96", "A-10": "A-19", "7x": "9x", "x": "x0", "0 9 8 7 6 5 4 3 2 1": "00", "10 19 18 17 16 15 14 13 12 11": "90"} {
		if got := (&AgentText{IDs: strings.Fields(ids)}).unknown(); got != want {
			t.Errorf("%s: %q, want %q", ids, got, want)
		}
	}
}
