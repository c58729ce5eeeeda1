package fresnelfir

import (
	"bytes"
	"slices"
	"testing"
)

// A module that is wrong within its sections: what disassemblers and validators are
// tried with. It exports "f", of no parameters and results, so that every binding
// fits and the module itself is what is looked at.
func TestMalformedCode(t *testing.T) {
	g := engine(t)
	text := document(map[string]string{
		"protocols": `{"p": {"root": {"type": "repeat", "min": 1, "max": 3, "body": {"type": "call", "action": "a"}}}}`,
		"effects":   `{"a": {}}`, "bindings": `{"a": ` + binding("f", "", "void", `"mutates": true, "idempotent": false, "reads": [], "writes": []`) + `}`,
	})
	body := func(code ...byte) []byte { return append([]byte{1, byte(len(code) + 2), 0}, append(code, 0x0b)...) }
	good := map[byte][]byte{
		1:  {1, 0x60, 0, 0},           // types: one of no parameters and results
		3:  {1, 0},                    // functions: one of that type
		4:  {1, 0x70, 0, 1},           // tables: one of functions
		5:  {1, 0, 1},                 // memories: one of a page
		6:  {1, 0x7f, 1, 0x41, 0, 11}, // globals: one i32 that can be changed
		7:  {1, 1, 'f', 0, 0},         // exports: the function
		9:  {1, 0, 0x41, 0, 0x0b, 1, 0},
		10: body(),
		11: {1, 0, 0x41, 0, 0x0b, 1, 'x'},
	}
	order := []byte{1, 2, 13, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11} // as the format wants them; 12 counts the data, 13 are tags
	module := func(change map[byte][]byte, also ...section) []byte {
		var list []section
		for _, id := range order {
			b := good[id]
			if c, is := change[id]; is {
				b = c
			}
			if b != nil {
				list = append(list, section{id, b})
			}
		}
		return joined(append(list, also...)...)
	}
	code := func(c ...byte) map[byte][]byte { return map[byte][]byte{10: body(c...)} }
	only := func(id byte, b ...byte) map[byte][]byte { return map[byte][]byte{id: b} }
	if why, kinds := endures(t, g.Open, "m.json", text, module(nil)); why != "" || !kinds[""] {
		t.Fatalf("the good one: %s, %v", why, kinds)
	}
	for name, change := range map[string]map[byte][]byte{
		"an alignment beyond the size":           code(0x41, 0, 0x28, 3, 0, 0x1a),
		"an alignment that is no power":          code(0x41, 0, 0x28, 0x80, 1, 0, 0x1a),
		"a table of branches that is too long":   code(0x41, 0, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f, 0),
		"a branch out of the function":           code(0x0c, 9),
		"an indirect call of no type":            code(0x41, 0, 0x11, 100, 0),
		"an indirect call by no table":           code(0x41, 0, 0x11, 0, 7),
		"a call of no function":                  code(0x10, 9),
		"a tail call of no function":             code(0x12, 9),
		"a global that is not there":             code(0x23, 9, 0x1a),
		"a local that is not there":              code(0x20, 0, 0x1a),
		"growing a memory that is not there":     code(0x41, 0, 0x40, 1, 0x1a),
		"the size of a memory that is not there": code(0x3f, 1, 0x1a),
		"dropping data that is not counted":      code(0xfc, 9, 0),
		"copying data that is not counted":       code(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 8, 0, 0),
		"an unknown instruction":                 code(0xff),
		"an unknown instruction of a family":     code(0xfc, 0xff, 1),
		"an atomic instruction":                  code(0xfe, 3, 0),
		"catching exceptions":                    code(0x06, 0x40, 0x19, 0x19, 0x0b),
		"an end too many":                        code(0x0b, 0x01),
		"an end too few":                         code(0x02, 0x40),
		"an else without an if":                  code(0x05),
		"a value that is left":                   code(0x41, 0),
		"a value that is missing":                code(0x1a),
		"operands of two types":                  code(0x41, 0, 0x42, 0, 0x6a, 0x1a),
		"a number that is cut":                   {10: {1, 4, 0, 0x41, 0x80, 0x0b}},
		"a number in too many bytes":             code(0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x1a),
		"a number beyond its bits":               code(0x41, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x1a),
		"more locals than there can be":          {10: {1, 12, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 1, 0x7f, 0x0b}},
		"a local of no type":                     {10: {1, 4, 1, 1, 0x40, 0x0b}},
		"a body shorter than it says":            {10: {1, 9, 0, 0x0b}},
		"a body longer than it says":             {10: {1, 1, 0, 0x0b}},
		"bodies without functions":               {10: {2, 2, 0, 0x0b, 2, 0, 0x0b}},
		"functions without bodies":               only(3, 2, 0, 0),
		"a function of no type":                  only(3, 1, 7),
		"a type of no form":                      only(1, 1, 0x20, 0, 0),
		"a structure as type":                    only(1, 1, 0x5f, 0),
		"a parameter of no type":                 only(1, 1, 0x60, 1, 0x40, 0),
		"a result of no type":                    only(1, 1, 0x60, 0, 1, 0x40),
		"an import of no kind":                   only(2, 1, 1, 'm', 1, 'n', 5, 0),
		"an import of no type":                   only(2, 1, 1, 'm', 1, 'n', 0, 9),
		"an import without a name's end":         only(2, 1, 0x7f, 'm'),
		"a table of numbers":                     only(4, 1, 0x7f, 0, 1),
		"limits of no kind":                      only(5, 1, 8, 1),
		"limits of a shared memory":              only(5, 1, 3, 1, 2),
		"limits of 64 bits":                      only(5, 1, 4, 1),
		"limits whose kind is too long":          only(5, 1, 0x81, 0, 1, 2),
		"limits the wrong way round":             only(5, 1, 1, 2, 1),
		"a memory beyond all addresses":          only(5, 1, 0, 0x81, 0x80, 4),
		"two memories":                           only(5, 2, 0, 1, 0, 1),
		"a global of no type":                    only(6, 1, 0x40, 1, 0x41, 0, 0x0b),
		"a global that may perhaps change":       only(6, 1, 0x7f, 2, 0x41, 0, 0x0b),
		"a global without a value":               only(6, 1, 0x7f, 1, 0x0b),
		"a global of another type's value":       only(6, 1, 0x7f, 1, 0x42, 0, 0x0b),
		"a global that calls":                    only(6, 1, 0x7f, 1, 0x10, 0, 0x0b),
		"an export of no function":               only(7, 1, 1, 'f', 0, 1),
		"an export far beyond":                   only(7, 1, 1, 'f', 0, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"an export of no kind":                   only(7, 2, 1, 'f', 0, 0, 1, 'g', 9, 0),
		"two exports of one name":                only(7, 2, 1, 'f', 0, 0, 1, 'f', 0, 0),
		"a start function that is not there":     only(8, 1),
		"elements of no kind":                    only(9, 1, 8, 0x41, 0, 0x0b, 1, 0),
		"elements that are no functions":         only(9, 1, 0, 0x41, 0, 0x0b, 1, 9),
		"data of no kind":                        only(11, 1, 65, 0x41, 0, 0x0b, 1, 'x'),
		"data for no memory":                     only(11, 1, 2, 1, 0x41, 0, 0x0b, 1, 'x'),
		"data beyond its section":                only(11, 1, 0, 0x41, 0, 0x0b, 100, 'x'),
		"data counted otherwise":                 only(12, 2),
		"tags":                                   only(13, 1, 0, 0),
	} {
		if why, _ := endures(t, g.Open, "m.json", text, module(change)); why == "" {
			t.Errorf("%s: it is taken", name)
		}
	}
	without := slices.DeleteFunc(sections(module(nil)), func(s section) bool { return s.id == 5 })
	if why, _ := endures(t, g.Open, "m.json", text, joined(without...)); why == "" {
		t.Error("data without a memory: it is taken")
	}
	for name, s := range map[string]section{
		"types a second time": {1, good[1]}, "a section of no number": {14, []byte{0}}, "a number that goes on": {0x81, []byte{0}},
	} {
		if why, _ := endures(t, g.Open, "m.json", text, module(nil, s)); why == "" {
			t.Errorf("%s: it is taken", name)
		}
		if why, _ := endures(t, g.Open, "m.json", text, module(nil, section{0, []byte("\x01c")}, s)); why == "" {
			t.Errorf("%s, behind a custom section: it is taken", name)
		}
	}
	if why, _ := endures(t, g.Open, "m.json", text, bytes.Replace(module(nil), []byte{1, 0, 0, 0}, []byte{14, 0, 0, 0}, 1)); why == "" {
		t.Error("another version: it is taken")
	}
	// What tools write beside the module is for tools: the module is run.
	for name, content := range map[string]string{
		"a name section": "\x04name\x00\xff", "subsections twice": "\x04name\x01\x01\x00\x01\x01\x00", "subsections the wrong way round": "\x04name\x02\x01\x00\x01\x01\x00",
		"relocations": "\x0areloc.CODE\x63\x00", "linking": "\x07linking\x02\x08\x01\x05\x00", "dynamic linking": "\x08dylink.0\x01\x01\x00",
		"branch hints": "\x19metadata.code.branch_hint\x02\x00\x01\x00", "a mapping": "\x10sourceMappingURL\x00",
	} {
		if why, kinds := endures(t, g.Open, "m.json", text, module(nil, section{0, []byte(content)})); why != "" || !kinds[""] {
			t.Errorf("%s: %s, %v", name, why, kinds)
		}
	}
}
