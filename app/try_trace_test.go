package app

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app/draft"
)

// Of several arguments whose values were answered before, the one that is called like what was made
// names the instance; lists and mixed values are texts, as conform reads them.
func TestModelOfTraceArguments(t *testing.T) {
	f := &draft.ModelFacts{Name: "tabs", Of: "trace.jsonl"}
	err := modelOfTrace(f, []byte(`{"action": "open_tab", "args": {"table": 4}, "returns": 1}
{"action": "open_tab", "args": {"table": 5}, "returns": 2}
{"action": "pay", "args": {"amount": 2, "note": null, "tab": 1}}
{"action": "pay", "args": {"amount": 1, "note": 7, "tab": 2}}
{"action": "order", "args": {"items": ["beer", "soup"], "tab": 1}}
{"action": "order", "args": {"items": [], "tab": 2}}
`))
	if err != nil {
		t.Fatal(err)
	}
	text := string(draft.DraftModel(f).Files[0].Data)
	for _, want := range []string{`Tab = entity(`, `call("pay", amount, note, tab = t`, `call("order", items, tab = t`, `amount = input(int(1, 2))`,
		`note = input(string("null", "7"))`, `items = input(string("[\"beer\",\"soup\"]", "[]"))`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}
