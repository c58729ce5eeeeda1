package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// agreements are documents of each format, and what checking refuses that a schema
// cannot say: codes, or parts of messages. Every one of them occurs.
var agreements = []struct {
	format string
	docs   []string
	cannot []string // nil: all but modelForms
}{
	{"fuzzspec", []string{"../contract/fuzzspec/testdata/commands/spec.json", "../examples/fuzzspec/system/awk.json"}, []string{
		"fuzzspec.executable", "fuzzspec.no-mutation", // files, and what all mutations have in common
		"fuzzspec.reserved", // takes any text as existing tools do
	}},
	{"operator", []string{"../examples/operator/operators.json", "../examples/operator/flawed/operators.json"}, []string{
		"cannot be read", "operator.no-operators", "operator.pattern-idle", // files
		"it names no plug-in", "every operator passes", // means nothing
	}},
	{"flakestorm", []string{"../contract/flakestorm/testdata/whole/tools.yaml", "../contract/flakestorm/testdata/whole/sessions.yaml"}, []string{
		"flakestorm.endpoint", "agent.endpoint: must not be empty", "for an agent that Thresh starts", "own calls cannot be seen", // by the type of the agent
		"unless file names a replay file", "flakestorm.cannot-inject", // files
		"flakestorm.vacuous", "flakestorm.fault", "applies to none of the prompts", "golden_prompts[1].turns: must be given", // means nothing
		"there is no invariant", "no probe is given", "the contract has no invariants",
	}},
	{"spectest", []string{"../contract/spectest/testdata/whole/file.spec.yaml", "../contract/spectest/testdata/whole/command.spec.yaml",
		"../contract/spectest/testdata/whole/request.spec.yaml", "../contract/spectest/testdata/whole/bodies.spec.yaml", "../contract/spectest/testdata/whole/call.spec.yaml"}, []string{
		"its assertions fail", "has no target", "has no operation", "has no argument", "needs a Python entrypoint", "only Python entrypoints", "the case asserts nothing", // by the type of the case
		"harness.system", "cannot be read", "operation, or input", "harness.entrypoint", // files, and what a run needs
		"no case above has", "cert names none", "exclude each other", // of two keys
		"fails when it is reached", "expression does not look", "condition reads nothing", "there is no value", "matches every text", // expressions
		"is not an XPath", "error parsing regexp", "filters with | between", "there is no filter", "is not supported",
		"the block decides the case", "spectest.AH001", "spectest.AH003",
	}},
	// Most of what is refused of a model is what it says, not its form.
	{"fresnelfir", []string{"../examples/systems/orders.json"}, nil},
	{"system", []string{"../examples/systems/http.system.yaml", "../examples/systems/mcp.system.yaml", "../examples/systems/driver.system.yaml"}, []string{
		"system.no-schema",                                                                                                                            // files, and what a run needs
		"system.unknown-name", "system.conflict", "must be a mapping, got null", "must be an HTTP status", "must be a URL", "must begin with a slash", // by kind, and forms of texts
	}},
}

// modelForms are the codes of what a schema can say of a FresnelFir model.
var modelForms = []string{
	"fresnelfir.type", "fresnelfir.missing-key", "fresnelfir.unknown-key", "fresnelfir.unknown-word", "fresnelfir.range", "fresnelfir.expression",
	"fresnelfir.unknown-operator", "fresnelfir.arity", "fresnelfir.temporal-rule", "fresnelfir.rejects", "fresnelfir.property-predicate", "fresnelfir.property-rule",
	"fresnelfir.derived-body", "fresnelfir.observer-binding", "fresnelfir.threads", "fresnelfir.epoch-size", "fresnelfir.coverage-floor", "fresnelfir.empty-enum",
}

// misfits stand in the place of each value of a document.
var misfits = []string{`null`, `true`, `0`, `-1`, `2.5`, `""`, `"x"`, `"2"`, `[]`, `["x"]`, `{"zzz":1}`}

// What a schema says of a document is what checking says of it: each value is replaced,
// each key dropped, and each mapping given a key that nobody knows. Outside CI, every
// seventh of these documents is enough.
func TestSchemasAgreeWithChecks(t *testing.T) {
	_, a, _ := office(t)
	for _, g := range agreements {
		t.Run(g.format, func(t *testing.T) {
			t.Parallel()
			at := slices.IndexFunc(a.Contracts, func(c campaign.Contract) bool { return c.Name() == g.format })
			contract := a.Contracts[at]
			schema := compiledSchema(t, contract.(campaign.Formatted).Formats()[0].Schema())
			whole := os.Getenv("THRESH_TEST_LONG") != ""
			made, taken, refused, occurs := 0, 0, 0, map[string]bool{}
			cannot := func(d diag.Diagnostic) bool {
				if g.cannot == nil {
					return !slices.Contains(modelForms, d.Code) || strings.Contains(d.Message, "the binding must give it") // by the system file
				}
				i := slices.IndexFunc(g.cannot, func(x string) bool { return x == d.Code || strings.Contains(d.Path+": "+d.Message, x) })
				if i < 0 {
					return false
				}
				occurs[g.cannot[i]] = true
				return true
			}
			for _, doc := range g.docs {
				path, err := filepath.Abs(doc)
				if err != nil {
					t.Fatal(err)
				}
				mutants(t, path, func(what string, text []byte) {
					if made++; !whole && made%7 != 1 {
						return
					}
					set := NewBundle().Fill(campaign.Settings{Check: true, Options: map[string][]string{}})
					_, list := contract.Compile(t.Context(), campaign.Spec{Path: path, Data: text}, set)
					list.Strict()
					instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
					if err != nil {
						t.Fatal(err)
					}
					said := schema.Validate(instance)
					faults := slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Level != diag.Error })
					switch {
					case said != nil && len(faults) == 0:
						t.Errorf("%s, %s: checking takes what the schema refuses: %v", doc, what, said)
					case said == nil && slices.ContainsFunc(faults, func(d diag.Diagnostic) bool { return !cannot(d) }):
						t.Errorf("%s, %s: the schema takes what checking refuses: %v", doc, what, slices.DeleteFunc(faults, cannot))
					case said != nil:
						refused++
					default:
						taken++
					}
				})
			}
			if !whole {
				return
			}
			if taken < 20 || refused < 200 {
				t.Errorf("only %d taken and %d refused documents were compared", taken, refused)
			}
			for _, x := range g.cannot {
				if !occurs[x] {
					t.Errorf("no document has what is excepted: %s", x)
				}
			}
		})
	}
}

func compiledSchema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// mutants visits a document, in JSON, and those that differ from it in one place. Of
// lists the first two items are enough.
func mutants(t *testing.T, path string, visit func(what string, text []byte)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := doctree.Parse(data, doctree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	node := tree.Root.JSON()
	var whole any
	if err := json.Unmarshal(jsontree.Compact.Append(nil, &node), &whole); err != nil {
		t.Fatal(err)
	}
	try := func(format string, args ...any) {
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		visit(fmt.Sprintf(format, args...), text)
	}
	var walk func(n any, at string, put func(any))
	walk = func(n any, at string, put func(any)) {
		for _, v := range misfits {
			put(json.RawMessage(v))
			try("%s is %s", at, v)
		}
		put(n)
		switch n := n.(type) {
		case map[string]any:
			n["zzz"] = 1
			try("%s has zzz", at)
			delete(n, "zzz")
			for _, k := range slices.Sorted(maps.Keys(n)) {
				v := n[k]
				delete(n, k)
				try("%s lacks %s", at, k)
				n[k] = v
				walk(v, doctree.KeyPath(at, k), func(x any) { n[k] = x })
			}
		case []any:
			for i := range min(len(n), 2) {
				walk(n[i], doctree.ItemPath(at, i), func(x any) { n[i] = x })
			}
		}
	}
	try("as it is")
	walk(whole, "", func(x any) { whole = x })
}
