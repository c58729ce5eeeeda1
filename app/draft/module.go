package draft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// ModuleFacts describes a module whose functions are called.
type ModuleFacts struct {
	Name, Folder string
	Path         string // absolute
	Calls        []Export
	Left         []string // exports that are not called, each with the reason
	Words        []byte   // a dictionary of words in its data
	Unforeseen   bool     // no model predicts the results of its functions
}

// Export is a function of a module to call.
type Export struct {
	Name   string
	Params []Param
	Result bool // it returns a number
}

// Param is an integer, or a text given by address and length.
type Param struct {
	Text bool
	// Place means that the function uses the integer unchecked as a handle or an address, as functions
	// do whose callers return what they received.
	Place bool
	Type  dut.ValType
}

// Bind returns how to call a function.
func (x *Export) Bind() dut.Binding {
	b := dut.Binding{Function: x.Name}
	if x.Result {
		b.Result = dut.Int
	}
	for i, p := range x.Params {
		b.Params = append(b.Params, dut.Param{Name: x.param(i), Kind: map[bool]dut.Kind{true: dut.String, false: dut.Int}[p.Text]})
	}
	return b
}

// param is the name of an argument, and of its input.
func (x *Export) param(i int) string { return fmt.Sprintf("%s_%d", x.Name, i+1) }

// plumbing matches functions that a toolchain exports for the caller's glue; frees matches more of
// them, which return nothing. disposes matches functions that may be the toolchain's or the module's
// own.
var (
	plumbing = lazy.Pattern(`^_|^(c|m|re|de)?alloc(ate)?(_?(mem|memory|buf|buffer|str|string|bytes))?$|^cabi_|^asyncify_|^stack(Save|Restore|Alloc)$|^emscripten_stack_\w+$`)
	frees    = lazy.Pattern(`^free(_?(mem|memory|buf|buffer|str|string|bytes|ptr))?$`)
	disposes = lazy.Pattern(`_(free|dealloc)$`)
)

// Exports selects the functions of a module to call, and how: with an allocator, two consecutive
// i32 are a text by address and length if text reports so for the first. single is the only
// function that takes bytes, if no other function takes anything.
func Exports(list []dut.Export, text func(x *dut.Export, at int) bool) (calls []Export, left []string, single string) {
	texts := dut.HasAllocator(list)
	takes := 0
	for _, x := range list {
		if x.Kind != dut.Func || plumbing().MatchString(x.Name) || len(x.Sig.Results) == 0 && frees().MatchString(x.Name) {
			continue
		}
		if len(x.Sig.Results) == 0 && disposes().MatchString(x.Name) {
			left = append(left, x.Name+" (by its name, it frees memory)")
			continue
		}
		if x.Name == "" { // documents have no place for it
			left = append(left, "one without a name")
			continue
		}
		types := slices.Concat(x.Sig.Params, x.Sig.Results)
		if at := slices.IndexFunc(types, func(t dut.ValType) bool { return t != dut.TypeI32 && t != dut.TypeI64 }); at >= 0 {
			left = append(left, fmt.Sprintf("%s (%s)", x.Name, types[at]))
			continue
		}
		if len(x.Sig.Results) > 1 {
			left = append(left, x.Name+" (several results)")
			continue
		}
		call := Export{Name: x.Name, Result: len(x.Sig.Results) == 1}
		for i := 0; i < len(x.Sig.Params); i++ {
			p := Param{Type: x.Sig.Params[i]}
			if texts && i+1 < len(x.Sig.Params) && p.Type == dut.TypeI32 && x.Sig.Params[i+1] == dut.TypeI32 && text(&x, i) {
				p.Text = true
				i++
			}
			call.Params = append(call.Params, p)
		}
		calls = append(calls, call)
		if len(call.Params) > 0 {
			if takes++; len(call.Params) == 1 && call.Params[0].Text {
				single = x.Name
			}
		}
	}
	if takes != 1 {
		single = ""
	}
	return calls, left, single
}

// SystemOfModule returns the system file of a module that receives the bytes of a case: on standard
// input, or as the text argument of a function.
func SystemOfModule(name, path, function string) campaign.File {
	var b strings.Builder
	fmt.Fprintf(&b, "# A WebAssembly module instead of a program: each case begins in the state\n# after its start.\nschema: thresh.system.v1\nname: %s\nkind: %s\nentry: %s\n",
		strconv.Quote(name), sut.WASM, strconv.Quote(path))
	if function != "" {
		fmt.Fprintf(&b, "input: {operation: %s} # by address and length\n", strconv.Quote(function))
	}
	b.WriteString("limits: {timeout: 2s} # of a module: 100,000,000 instructions a second\n")
	return campaign.File{Name: name + ".system.yaml", Data: []byte(b.String())}
}

// Frequent values of arguments; the explorer adds those that the module compares something with.
var (
	usualI32 = []int64{0, 1, 2, 3, 10, 100, -1, 1<<31 - 1, -1 << 31}
	handles  = []int64{0, 1, 2, 3, mostHandle}
	usualI64 = []int64{0, 1, 2, 3, 10, 100, -1, 1<<63 - 1, -1 << 63}
	usual    = []string{"", "a", "0", "-1", "hello world", `{"a": [1, null]}`}
)

const (
	callsAtMost = 12 // length of a sequence
	wordsAtMost = 20
	mostHandle  = 10
	traversals  = 500_000 // most modules need some seconds for them
)

// A drafted model, in reading order.
type (
	object  = map[string]any
	drafted struct {
		Why         []string `json:"x-why"`
		Questions   []string `json:"x-questions"`
		Inputs      object   `json:"inputs"`
		Protocols   object   `json:"protocols"`
		Effects     object   `json:"effects"`
		Properties  object   `json:"properties"`
		Entities    object   `json:"entities"`
		Refinements object   `json:"refinements"`
		Functions   object   `json:"functions"`
		Generators  object   `json:"generators"`
		Bindings    object   `json:"bindings"`
		Exploration object   `json:"exploration"`
	}
)

// DraftModule returns a FresnelFir model of a module of which only the exports are known: any of
// them may be called at any time.
func DraftModule(f *ModuleFacts) *Draft {
	d := &Draft{Format: "fresnelfir", Folder: f.Folder, Document: f.Name + ".json"}
	names := make([]string, len(f.Calls))
	domains, effects, actions := object{}, object{}, object{}
	var branches, targets []object
	var places []string
	for i, x := range f.Calls {
		names[i] = x.Name
		args := make([]string, len(x.Params))
		for j, p := range x.Params {
			args[j] = x.param(j)
			least, most, values := int64(-1<<31), int64(1<<31-1), usualI32
			if p.Type == dut.TypeI64 {
				least, most, values = -1<<63, 1<<63-1, usualI64
			}
			switch {
			case p.Text:
				domains[args[j]] = object{"type": "string", "values": Texts(f.Words)}
				continue
			case p.Place:
				least, most, values = 0, mostHandle, handles
				places = append(places, args[j])
			}
			domains[args[j]] = object{"type": "int", "min": least, "max": most}
			targets = append(targets, object{"type": "boundary", "domain": args[j], "values": values})
		}
		branches = append(branches, object{"id": x.Name, "weight": 10, "body": object{"type": "call", "action": x.Name}},
			object{"id": x.Name + "_again", "weight": 1, "body": object{"type": "repeat", "min": callsAtMost / 2, "max": 2 * callsAtMost, "body": object{"type": "call", "action": x.Name}}})
		effects[x.Name] = object{}
		actions[x.Name] = object{"function": x.Name, "args": args, "returns": object{"type": map[bool]string{true: "int", false: "void"}[x.Result]},
			"mutates": true, "idempotent": false, "reads": []string{}, "writes": []string{"Module"}}
	}
	d.option("module", f.Path)
	d.option("budget", strconv.Itoa(traversals))
	d.why("Called in any order, up to %d times, sometimes one of them again and again: %s.", callsAtMost, strings.Join(names, ", "))
	if len(f.Left) > 0 {
		d.why("Not called: %s.", strings.Join(f.Left, ", "))
	}
	d.why("A trap, or a call of more than 1,000,000 instructions, is a finding; nothing else is known of the module.")
	if f.Unforeseen {
		d.why("No simple rule foretells what they answer, so this is not a model of it yet.")
	}
	if len(places) > 0 {
		d.why("Used unchecked as handles or addresses, so 0 to %d are tried: %s.", mostHandle, strings.Join(places, ", "))
		d.ask(strconv.Quote(places[0])+": {", "are %s handles or addresses? The module leaves its memory with large ones. If a caller may send any number, this is a bug.", strings.Join(places, ", "))
	}
	if len(domains) > len(places) {
		d.ask(`"domains"`, "which values may an argument have? Every integer and some texts are tried; narrow what callers never send.")
	}
	d.ask(`"protocols"`, "what must be called before what?")
	d.ask(`"properties"`, "what must hold? With entities, effects and properties the module is compared with the model: thresh init fresnelfir shows how.")
	questions := seq.Map(d.Questions, func(q Question) string { return q.Ask })
	signal := func(key string, words ...string) (list []object) {
		for _, w := range words {
			list = append(list, object{key: w})
		}
		return list
	}
	m := drafted{Why: d.Why, Questions: questions,
		Inputs: object{"domains": domains, "constraints": []any{}, "coverage": object{"seed": 1, "reproducible": true,
			"targets": append(targets, object{"type": "each_transition", "machine": "calls"})}},
		Protocols: object{"calls": object{"root": object{"type": "repeat", "min": 1, "max": callsAtMost, "body": object{"type": "alt", "branches": branches}}}},
		Effects:   effects, Properties: object{}, Entities: object{"Module": object{"fields": object{}}}, Refinements: object{}, Functions: object{}, Generators: object{},
		Bindings: object{"runtime": "wasm", "entry": filepath.Base(f.Path), "actions": actions,
			"event_hooks": object{"mode": "function_intercept", "observe": names, "capture": []string{"args", "return_value"}}},
		Exploration: object{"weights": object{"scope": "per_alt_branch_and_model_state", "initial": "from_protocol", "decay": "per_epoch"},
			"directives_allowed": signal("type", "adjust_weight", "force", "skip", "loop_limit"),
			"adaptation_signals": signal("signal", "coverage_delta", "crash", "timeout", "coverage_plateau"),
			"strategy":           object{"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"},
			"epoch_size":         100, "coverage_floor_threshold": 0.05, "concurrency": object{"mode": "deterministic_interleaving", "threads": 1}},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		panic("draft: a model has no JSON: " + err.Error())
	}
	// Write lists of numbers on one line.
	data := numbers().ReplaceAllFunc(b.Bytes(), func(list []byte) []byte { return bytes.Join(bytes.Fields(list), []byte(" ")) })
	d.Files = []campaign.File{{Name: d.Document, Data: data}}
	return d
}

var numbers = lazy.Pattern(`\[\s+-?\d[-\d,\s]*\]`)

// Texts returns the usual texts, and words of the module.
func Texts(dictionary []byte) []string {
	list := slices.Clone(usual)
	for line := range strings.Lines(string(dictionary)) {
		if w, err := strconv.Unquote(strings.TrimSpace(line)); err == nil && len(list) < len(usual)+wordsAtMost && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}
