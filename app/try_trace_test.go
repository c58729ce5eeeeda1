package app

import (
	"fmt"
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

// A number that is the only negative one among an action's answers says that it refuses; one of
// several, as a balance below zero has, is an answer.
func TestModelOfTraceRefusals(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		trace := ""
		for account := range 3 {
			trace += fmt.Sprintf(`{"action": "open", "args": {}, "returns": %d}`+"\n", 70+account)
			balance := 0
			for i, amount := range []int{4, -9, 6, -2, -3, 1, -7, 2, -8, 9, -1, -5, -6, 3} {
				action, answer := "deposit", balance+amount
				if amount < 0 {
					action, amount = "withdraw", -amount
				}
				if refuses && answer < 0 {
					answer = -1
				} else {
					balance = answer
				}
				trace += fmt.Sprintf(`{"action": %q, "args": {"account": %d, "amount": %d}, "returns": %d}`+"\n", action, 70+account, amount, answer)
				if i%3 == 0 {
					trace += fmt.Sprintf(`{"action": "get_balance", "args": {"account": %d}, "returns": %d}`+"\n", 70+account, balance)
				}
			}
		}
		f := &draft.ModelFacts{Name: "bank", Of: "trace.jsonl"}
		if err := modelOfTrace(f, []byte(trace)); err != nil {
			t.Fatal(err)
		}
		text := string(draft.DraftModel(f).Files[0].Data)
		if strings.Contains(text, `rejects = "<0"`) != refuses {
			t.Errorf("refuses: %v:\n%s", refuses, text)
		}
	}
}

// What is not read between two calls is followed through them: numbers, how many there are,
// and what one operation forbids until another one.
func TestModelOfSparseTrace(t *testing.T) {
	state := uint32(1)
	draw := func(n int) int {
		state = state*1664525 + 1013904223
		return int(state>>16) % n
	}
	write := func(b *strings.Builder, action, args, end string) {
		fmt.Fprintf(b, `{"action": %q, "args": {%s}, %s}`+"\n", action, args, end)
	}
	var queue, accounts strings.Builder
	length := 0
	for range 150 {
		switch k := draw(8); {
		case k < 4 && length == 4:
			write(&queue, "push", `"value": 7`, `"rejected": "full"`)
		case k < 4:
			length++
			write(&queue, "push", fmt.Sprintf(`"value": %d`, draw(9)), fmt.Sprintf(`"returns": %d`, length))
		case k < 7 && length == 0:
			write(&queue, "pop", "", `"rejected": "empty"`)
		case k < 7:
			length--
			write(&queue, "pop", "", fmt.Sprintf(`"returns": %d`, draw(9)))
		default:
			write(&queue, "size", "", fmt.Sprintf(`"returns": %d`, length))
		}
	}
	type account struct {
		balance              int
		frozen, closed, left bool
	}
	list := []*account{{left: true}} // none has the number 0
	for range 400 {
		i, n := draw(len(list)), 1+draw(9)
		a, args := list[i], fmt.Sprintf(`"from": %d`, 60+i)
		refuse := func(action string, is bool, answer any) bool {
			end := `"rejected": "no"`
			if !is {
				end = fmt.Sprintf(`"returns": %v`, answer)
			}
			write(&accounts, action, args, end)
			return !is
		}
		switch k := draw(7); {
		case k == 0:
			list = append(list, &account{})
			write(&accounts, "open", "", fmt.Sprintf(`"returns": %d`, 60+len(list)-1))
		case k == 1:
			a.frozen = refuse("freeze", a.left || a.closed, true) || a.frozen
		case k == 2 && refuse("thaw", a.left || a.closed, true):
			a.frozen = false
		case k == 3 && i%2 == 0:
			a.closed = refuse("close", a.left || a.closed, true) || a.closed
		case k == 4:
			refuse("balance", a.left, a.balance)
		case k == 5:
			of := 0
			for _, x := range list {
				if !x.left && !x.closed {
					of++
				}
			}
			write(&accounts, "count_accounts", "", fmt.Sprintf(`"returns": %d`, of))
		case k == 6:
			args += fmt.Sprintf(`, "sum": %d`, n)
			if refuse("deposit", a.left || a.closed || a.frozen, a.balance+n) {
				a.balance += n
			}
		}
	}
	for name, c := range map[string]struct {
		trace string
		want  []string
	}{
		"queue": {queue.String(), []string{"require(actor.size <= 3)", "actor.size += 1", "answer = actor.size + 1", "require(actor.size >= 1)", "actor.size -= 1"}},
		"accounts": {accounts.String(), []string{"count(From, lambda x: x.live)", "f.balance += sum", "f.after_freeze_until_thaw = True", "f.after_freeze_until_thaw = False",
			"require(not f.after_freeze_until_thaw and f.live)", `call("deposit", **{"from": f}, sum`}},
	} {
		f := &draft.ModelFacts{Name: name, Of: "trace.jsonl"}
		if err := modelOfTrace(f, []byte(c.trace)); err != nil {
			t.Fatal(err)
		}
		text := string(draft.DraftModel(f).Files[0].Data)
		for _, w := range c.want {
			if !strings.Contains(text, w) || strings.Contains(text, "Skipped") {
				t.Errorf("%s: %s is not in\n%s", name, w, text)
			}
		}
	}
}
