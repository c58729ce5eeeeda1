package fresnelfir

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/wasm"
)

const guessed = `module("bank.wasm")
Account = entity(balance = int(0, 100000))
amount = input(int(1, 500))
def holds(a = Account): return a.balance
balance = observer("balance", a = Account, returns = int, models = holds, guess = "named like a field")
def open():
    require(count(Account) < 3)
    a = new(Account, balance = 0)
    call("account_open", returns = Account)
def deposit():
    a = any(Account)
    a.balance += amount
    call("deposit", a, amount, returns = int, answer = a.balance + amount, guess = {"effect": "named deposit", "answer": "as the balance"})
def withdraw():
    a = any(Account)
    require(a.balance >= 2 * amount)
    a.balance -= amount
    call("withdraw", a, amount, returns = int, rejects = "<0", guess = {"requires": "a hunch"})
def freeze():
    a = any(Account)
    require(a.balance > 90000)
    call("freeze", a, returns = int, answer = 5, guess = {"answer": "a hunch"})
`

// What a document marks as guessed is tried: traversals support it, contradict it or
// never try it.
func TestGuesses(t *testing.T) {
	got := guessesOf(t, guessed)
	want := `5 note supported models of balance
13 note supported effect of deposit
13 note supported answer of deposit
18 warning contradicted requires of withdraw
22 note never answer of freeze`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	source, errs := formatted("bank.json", []byte(mustCompile(t, guessed)))
	if errs.HasErrors() || !strings.Contains(source, `guess = {"requires": "a hunch"}`) || !strings.Contains(source, `guess = "named like a field"`) {
		t.Errorf("format loses guesses: %v\n%s", errs, source)
	}
}

// A call that the system refuses, though the model allows it, supports nothing that is guessed of it.
func TestGuessesOfRefusedCalls(t *testing.T) {
	source := strings.NewReplacer("    require(a.balance >= 2 * amount)\n", "", `{"requires": "a hunch"}`, `{"effect": "named withdraw"}`).Replace(guessed)
	if got := guessesOf(t, source); !strings.Contains(got, "17 warning contradicted effect of withdraw") {
		t.Error(got)
	}
}

// A finding that contradicts a guess about a module is of low severity and names the guess; one that
// contradicts what is not guessed, or about a system, is not.
func TestFindingsOfGuesses(t *testing.T) {
	outcome := func(signature, cause, kind string) campaign.Outcome {
		return campaign.Outcome{Verdict: campaign.VerdictFail, Title: "it differs", Kind: kind, Signature: signature, Cause: []string{cause, byModule}, Severity: campaign.SeverityHigh}
	}
	for _, x := range []struct {
		o       campaign.Outcome
		guesses string // that it contradicts
	}{
		{outcome("deposit", "returns", kindDiscrepancy), "answer of deposit: as the balance"},
		{outcome("balance", "after deposit", kindDiscrepancy), "models of balance: named like a field\neffect of deposit: named deposit"},
		{outcome("withdraw", "not refused", kindDiscrepancy), "requires of withdraw: a hunch"},
		{outcome("withdraw", "returns", kindDiscrepancy), ""},
		{outcome("withdraw", "unreachable", kindCrash), ""},
		{outcome("open", "refused", kindDiscrepancy), ""},
	} {
		for _, system := range []*sut.Plan{nil, {}} {
			c := guesser(t, guessed)
			c.system = system
			low := x.guesses != "" && system == nil
			title, severity := c.Refine(x.o.Title, x.o.Severity, x.o)
			if (severity == campaign.SeverityLow) != low || (title == "it differs (a guess)") != low {
				t.Errorf("%v: %q, %v", x.o.Cause, title, severity)
			}
			shown := ""
			for _, e := range c.Describe(nil, campaign.Case{}, x.o, nil) {
				shown += e.Text.Body
			}
			if want := strings.TrimPrefix(x.guesses+"\nIf a guess is wrong, correct the model.", "\nIf a guess is wrong, correct the model."); shown != want {
				t.Errorf("%v: shown %q, want %q", x.o.Cause, shown, want)
			}
		}
	}
}

// guessesOf is what traversals say of the guesses of a model of the bank.
func guessesOf(t *testing.T, source string) string {
	t.Helper()
	var got []string
	for _, x := range guesser(t, source).Guesses(t.Context()) {
		d := x.Said
		verdict, rest, _ := strings.Cut(d.Message, ": ")
		word, _, _ := strings.Cut(verdict, " ")
		claim, _, _ := strings.Cut(rest, " (")
		got = append(got, fmt.Sprintf("%d %s %s %s", d.Pos.Line, d.Level, word, claim))
	}
	return strings.Join(got, "\n")
}

// guesser compiles a model of the bank.
func guesser(t *testing.T, source string) *Campaign {
	t.Helper()
	g, err := wasm.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	list, diags := New(g.Open).Compile(t.Context(), campaign.Spec{Path: "bank.model.star", Data: []byte(source)},
		campaign.Settings{Read: func(string) ([]byte, error) { return exampleModule("bank", ""), nil }})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	return c
}

func mustCompile(t *testing.T, source string) string {
	t.Helper()
	data, list := asJSON("bank.model.star", []byte(source))
	if list.HasErrors() {
		t.Fatal(list)
	}
	return string(data)
}
