package flakestorm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
)

// The last thing that a model asks for is a call too, though no later request shows its result:
// if calls of one tool follow, which may have another name outside.
func TestCallsThatTheModelIsNotTold(t *testing.T) {
	asks := func(names ...string) fault.Exchange {
		var list []string
		for i, n := range names {
			list = append(list, fmt.Sprintf(`{"id":"%d","type":"function","function":{"name":%q,"arguments":"{\"n\":%d}"}}`, i, n, i))
		}
		return fault.Exchange{
			Kind: fault.ModelCall, Tool: "openai", Method: "POST", URL: "http://model/v1/chat/completions", Status: 200, ContentType: "application/json",
			Request:  []byte(`{"model":"m","messages":[{"role":"user","content":"go"}]}`),
			Response: []byte(`{"choices":[{"message":{"role":"assistant","tool_calls":[` + strings.Join(list, ",") + `]}}]}`),
		}
	}
	failed := asks("pay")
	failed.Status = 400
	call := func(name string) fault.Exchange {
		return fault.Exchange{Kind: fault.ToolCall, Tool: name, Method: "POST", URL: "http://shop/" + name, Status: 200}
	}
	for name, x := range map[string]struct {
		made []fault.Exchange
		want string
	}{
		"one call":             {[]fault.Exchange{asks("pay"), call("payments")}, `said model:openai pay{"n":0}untold payments`},
		"the same again":       {[]fault.Exchange{asks("pay"), call("payments"), call("payments")}, `said model:openai pay{"n":0}untold payments payments`},
		"none is made":         {[]fault.Exchange{asks("pay")}, "said model:openai"},
		"two tools are called": {[]fault.Exchange{asks("pay"), call("payments"), call("mail")}, "said model:openai payments mail"},
		"two calls are asked":  {[]fault.Exchange{asks("pay", "mail"), call("payments")}, "said model:openai payments"},
		"the model failed":     {[]fault.Exchange{failed, call("payments")}, "said model:openai payments"},
		"it is made before":    {[]fault.Exchange{call("payments"), asks("pay")}, "said payments model:openai"},
		"asked again between":  {[]fault.Exchange{asks("pay"), call("payments"), asks("mail"), call("letters")}, `said model:openai pay{"n":0}untold payments model:openai mail{"n":0}untold letters`},
		"no model":             {[]fault.Exchange{call("payments")}, "said payments"},
	} {
		c := &cell{x: &executor{c: &Campaign{cfg: &config.Config{}}, shared: &shared{}}, turns: []turn{{Prompt: "go", Exchanges: len(x.made)}}}
		var got []string
		for _, e := range c.trace(&fault.Report{Exchanges: x.made}, -1).Events {
			word := e.Name
			switch {
			case e.Untold:
				word += string(e.Arguments) + "untold"
			case e.Kind == "model":
				word = "model:" + word
			case word == "":
				word = string(e.Kind)
			}
			got = append(got, word)
		}
		if g := strings.Join(got, " "); g != x.want {
			t.Errorf("%s: %s, want %s", name, g, x.want)
		}
	}
}
