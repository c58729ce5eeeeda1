//go:build unix

package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/port/pyhost"
)

func agentPlan(t testing.TB, target string) pyhost.AgentPlan {
	return pyhost.AgentPlan{Python: python(t), Target: target, SearchPath: []string{code(t)}, LoadLimit: patience}
}

func openAgent(t testing.TB, plan pyhost.AgentPlan) pyhost.Caller {
	t.Helper()
	a, err := OpenAgent(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return a
}

// ask calls an agent with a JSON value.
func ask(t testing.TB, a pyhost.Caller, value any, w pyhost.ToolWatcher) pyhost.AgentReply {
	t.Helper()
	input, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Call(context.Background(), pyhost.AgentCall{Input: input, Timeout: patience, Watcher: w})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAgents(t *testing.T) {
	a := openAgent(t, agentPlan(t, "agents:any_of"))
	for _, tc := range []struct{ name, text, value string }{
		{"plain", "plain: hi", `"plain: hi"`},
		{"coroutine", "awaited: hi", `"awaited: hi"`},
		{"runs_a_loop", "hi: fair", `"hi: fair"`},
		{"parts", "ahi", `"ahi"`},
		{"stream", "xhi", `"xhi"`},
		{"structure", "{'answer': 'hi', 'n': 1}", `{"answer": "hi", "n": 1}`},
		{"nothing", "", "null"},
		{"in_a_thread", "hi", `"hi"`},
	} {
		r := ask(t, a, []string{tc.name, "hi"}, nil)
		if r.End != pyhost.Answered || r.Text != tc.text || string(r.Value) != tc.value {
			t.Errorf("%s: %+v, value %s", tc.name, r, r.Value)
		}
		if tc.name == "plain" && r.Printed != "thinking\n" {
			t.Errorf("printed %q", r.Printed)
		}
	}
	if r := ask(t, a, []string{"broken", "x"}, nil); r.End != pyhost.AgentRaise || !r.Fault.Is("KeyError") || r.Fault.Line == 0 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, a, []string{"unspeakable", "x"}, nil); r.End != pyhost.AgentRaise || !r.Fault.Is("ValueError") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, a, []string{"opaque", "x"}, nil); r.End != pyhost.AgentRaise || !strings.Contains(r.Fault.Message, "returned a agents.Opaque, which has no text") {
		t.Errorf("%+v", r)
	}
	for range 2 {
		if r := ask(t, a, []string{"ends", ""}, nil); r.End != pyhost.AgentDied || !r.Fresh || !strings.Contains(r.Fault.Message, "exit status 6") {
			t.Errorf("%+v", r)
		}
	}
}

func TestStyles(t *testing.T) {
	t.Parallel() // mostly waits
	for _, tc := range []struct {
		target string
		style  pyhost.Style
		text   string
	}{
		{"agents:invoked", pyhost.Plain, "invoked with 'hi'"},
		{"agents:invoked", pyhost.LangChain, "invoked with {'input': 'hi'}"},
		{"agents:Invoked", pyhost.Plain, "invoked with 'hi'"}, // a class: one object of it
		{"agents:Invoked.invoke", pyhost.Plain, "invoked with 'hi'"},
		{"agents:Guide", pyhost.Plain, "guided hi 1"},
		{"agents:Guide.fixed", pyhost.Plain, "fixed hi"},
		{"agents:chain", pyhost.LangChain, "chained hi"},
		{"agents:messages", pyhost.LangChain, "parts"},
		{"agents:plain", pyhost.LangChain, "plain: hi"},
		{"agents:graph", pyhost.LangChain, "heard hi"},
		{"agents:question", pyhost.LangChain, "{'question': 'hi'}"},
		{"agents:several_inputs", pyhost.LangChain, "ValueError: the runnable takes several inputs, context, question: agent.request_template says what each is"},
		{"agents:known", pyhost.LangChain, "{'input': 'hi'}"},
		{"agents:model", pyhost.LangChain, "'hi'"},
		{"agents:vague", pyhost.LangChain, "{'input': 'hi'}"},
		{"agents:mute", pyhost.LangChain, "{'input': 'hi'}"},
	} {
		plan := agentPlan(t, tc.target)
		plan.Style = tc.style
		r := ask(t, openAgent(t, plan), "hi", nil)
		if r.End == pyhost.AgentRaise {
			r.Text = fmt.Sprintf("%s: %s", r.Fault.Class, r.Fault.Message)
		}
		if r.Text != tc.text {
			t.Errorf("%s: %+v", tc.target, r)
		}
	}
	plan := agentPlan(t, "agents:several_inputs")
	plan.Style = pyhost.LangChain
	if r := ask(t, openAgent(t, plan), map[string]string{"question": "a", "context": "b"}, nil); r.Text != "{'context': 'b', 'question': 'a'}" {
		t.Errorf("%+v", r)
	}
}

func TestAgentsThatHang(t *testing.T) {
	t.Parallel() // mostly waits
	for target, fresh := range map[string]bool{"agents:slow": false, "agents:stuck": true} {
		a := openAgent(t, agentPlan(t, target))
		r, err := a.Call(t.Context(), pyhost.AgentCall{Timeout: 200 * time.Millisecond})
		if err != nil || r.End != pyhost.AgentHung || r.Fresh != fresh && r.Fresh { // a busy machine may miss the cancellation
			t.Errorf("%s: %+v, %v", target, r, err)
		}
		if notes := strings.Join(a.Notes(), "\n"); strings.Contains(notes, "the agent's process was replaced 1 time because it did not answer") != r.Fresh {
			t.Errorf("%s: %+v, but %s", target, r, notes)
		}
	}
	if _, err := openAgent(t, agentPlan(t, "agents:plain")).Call(t.Context(), pyhost.AgentCall{}); err == nil || !strings.Contains(err.Error(), "needs a time limit") {
		t.Error(err)
	}
}

func TestAgentsThatCannotBeLoaded(t *testing.T) {
	t.Parallel() // mostly waits
	if a, err := OpenAgent(t.Context(), pyhost.AgentPlan{Python: python(t), Target: "agents:plain"}); a != nil || err == nil || err.Error() != "an agent needs a time limit for loading" {
		t.Errorf("%v, %v", a, err)
	}
	for _, tc := range []struct {
		edit func(*pyhost.AgentPlan)
		want string
	}{
		{func(p *pyhost.AgentPlan) { p.Target = "agents" }, "not of the form module:attribute"},
		{func(p *pyhost.AgentPlan) { p.Target = "bad.op_exit:x" }, "the process ended: exit status 4; it printed: bye"},
		{func(p *pyhost.AgentPlan) { p.Target = "no_such:x" }, "No module named 'no_such'"},
		{func(p *pyhost.AgentPlan) { p.Target = "agents:no_such" }, "module agents has no no_such"},
		{func(p *pyhost.AgentPlan) { p.Target = "broken:x" }, "broken.py:2: SyntaxError"},
		{func(p *pyhost.AgentPlan) { p.Reset = "agents:no_such" }, "module agents has no no_such"},
		{func(p *pyhost.AgentPlan) { p.Tools = []string{"agents:no_such"} }, "module agents has no no_such"},
		{func(p *pyhost.AgentPlan) { p.Tools = []string{"agents:count"} }, "tool agents:count cannot be called"},
		{func(p *pyhost.AgentPlan) { p.Registry = "agents:empty" }, "tool registry agents:empty is empty"},
		{func(p *pyhost.AgentPlan) { p.Registry = "agents:plain" }, "tool registry agents:plain has no tools"},
		{func(p *pyhost.AgentPlan) {
			p.Target, p.LoadLimit = "bad.op_hang:x", 500*time.Millisecond
		}, "no answer within 500ms"},
	} {
		plan := agentPlan(t, "agents:plain")
		tc.edit(&plan)
		a, err := OpenAgent(t.Context(), plan)
		var fault *pyhost.FaultError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v", tc.want, err)
		}
		if err == nil {
			a.Close()
		}
	}
}

func TestAgentState(t *testing.T) {
	t.Parallel() // mostly waits
	plan := agentPlan(t, "agents:counting")
	plan.Reset = "agents:reset"
	a := openAgent(t, plan)
	var texts []string
	for step := range 6 {
		var err error
		switch step {
		case 2:
			err = a.Reset(t.Context(), patience)
		case 4:
			err = a.Restart(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, ask(t, a, "", nil).Text)
	}
	if !slices.Equal(texts, []string{"1", "2", "1", "2", "1", "2"}) {
		t.Errorf("%q", texts)
	}
	plan.Reset = "agents:reset_badly"
	if err := openAgent(t, plan).Reset(t.Context(), patience); err == nil || !strings.Contains(err.Error(), "cannot reset") {
		t.Errorf("%v", err)
	}
	if err := openAgent(t, agentPlan(t, "agents:plain")).Reset(t.Context(), patience); err == nil {
		t.Error("a reset without a function")
	}
}

// script answers for tools and writes down what it saw.
type script struct {
	before, after    pyhost.ToolAnswer
	log, named       []string
	called, returned []pyhost.ToolCall
}

func (s *script) Called(c pyhost.ToolCall) pyhost.ToolAnswer {
	s.log = append(s.log, c.Tool+string(c.Args)+string(c.Kwargs))
	s.named = append(s.named, string(c.Named))
	s.called = append(s.called, c)
	return s.before
}

func (s *script) Returned(c pyhost.ToolCall, result json.RawMessage, fault *pyhost.Fault) pyhost.ToolAnswer {
	s.log = append(s.log, c.Tool+" -> "+string(result)+fault.String())
	s.returned = append(s.returned, c)
	return s.after
}

func TestTools(t *testing.T) {
	t.Parallel() // mostly waits
	replace := func(value string) pyhost.ToolAnswer {
		return pyhost.ToolAnswer{Action: pyhost.Replace, Value: json.RawMessage(value)}
	}
	searched := []string{`search["hi"]{"limit": 1}`, `search -> {"hits": ["hi"]}`}
	open := func(registry string, tools ...string) pyhost.Caller {
		plan := agentPlan(t, "agents:any_of")
		plan.Tools, plan.Registry = tools, registry
		return openAgent(t, plan)
	}
	byName := open("", "agents:search", "agents:weather")
	boxed := []string{`search["x"]{}`, `search -> {"found": "x"}`, `weather["x"]{}`, `weather -> "x: fair"`}
	registry, table, objects := open("agents:registry"), open("agents:TABLE"), open("agents:objects")
	for _, tc := range []struct {
		name, target, input string
		a                   pyhost.Caller
		script              script
		text                string
		log                 []string
	}{
		{"passes", "uses_search", "hi", byName, script{}, "{'hits': ['hi']} True", searched},
		{"replaces", "uses_search", "hi", byName, script{before: replace(`"no"`)}, "no True", searched[:1]},
		{"replaces a result", "uses_search", "hi", byName, script{after: replace(`[1]`)}, "[1] True", searched},
		{"raises", "uses_search", "hi", byName, script{before: pyhost.ToolAnswer{Action: pyhost.Raise, Class: "TimeoutError", Message: "late", Delay: time.Millisecond}}, "TimeoutError: late", searched[:1]},
		{"raises what is nowhere", "uses_search", "hi", byName, script{before: pyhost.ToolAnswer{Action: pyhost.Raise, Class: "no.Such", Message: "m"}}, "RuntimeError: m", searched[:1]},
		{"raises in place of a result", "uses_search", "hi", byName, script{after: pyhost.ToolAnswer{Action: pyhost.Raise, Class: "json.JSONDecodeError", Message: "m"}}, "RuntimeError: m", searched},
		{"awaits", "uses_weather", "Oslo", byName, script{before: pyhost.ToolAnswer{Delay: time.Millisecond}}, "Oslo: fair", []string{`weather["Oslo"]{}`, `weather -> "Oslo: fair"`}},
		{"registry", "uses_registry", "search", registry, script{}, "{'hits': ['q', 'q', 'q']}", []string{`search["q"]{}`, `search -> {"hits": ["q", "q", "q"]}`}},
		{"mapping", "uses_weather", "Oslo", table, script{before: replace(`"storm"`)}, "storm", []string{`weather["Oslo"]{}`}},
		{"objects", "uses_object", "x", objects, script{}, "found x, found x", []string{`lookup["x"]{}`, `lookup -> "found x"`, `lookup["x"]{}`, `lookup -> "found x"`}},
		{"hidden registry", "uses_hidden", "x", open("agents:hidden"), script{}, "{'hits': ['x', 'x', 'x']}", []string{`search["x"]{}`, `search -> {"hits": ["x", "x", "x"]}`}},
		{"methods", "uses_box", "x", open("agents:box"), script{}, "{'found': 'x'} x: fair 6", boxed},
		{"methods by name", "uses_box", "x", open("", "agents:box.search", "agents:box.weather"), script{}, "{'found': 'x'} x: fair 6", boxed},
		{"methods of a class", "uses_box", "x", open("", "agents:Box.search", "agents:Box.dice"), script{}, "{'found': 'x'} x: fair 6", append(slices.Clone(boxed[:2]), `dice[6]{}`, `dice -> 6`)},
		{"methods of one name", "uses_box", "x", open("", "agents:box.search", "agents:search"), script{}, "{'found': 'x'} x: fair 6", []string{`box.search["x"]{}`, `box.search -> {"found": "x"}`}},
		{"a list of descriptions", "uses_box", "x", open("agents:listed"), script{}, "{'found': 'x'} x: fair 6", boxed[:2]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := ask(t, tc.a, []string{tc.target, tc.input}, &tc.script); r.Text != tc.text {
				t.Errorf("%+v, want %q", r, tc.text)
			}
			if !slices.Equal(tc.script.log, tc.log) {
				t.Errorf("saw %q, want %q", tc.script.log, tc.log)
			}
			if r := ask(t, tc.a, []string{tc.target, tc.input}, nil); r.End != pyhost.Answered {
				t.Errorf("without a watcher: %+v", r)
			}
		})
	}
	var s script
	if r := ask(t, registry, []string{"uses_registry", "failing"}, &s); r.Text != "ValueError: tool broke on q" || len(s.log) != 2 || !strings.Contains(s.log[1], "agents.py:") {
		t.Errorf("%+v, saw %q", r, s.log)
	}
}

// values answers calls of tools by their names.
type values map[string]pyhost.ToolAnswer

func (v values) Called(c pyhost.ToolCall) pyhost.ToolAnswer { return v[c.Tool] }

func (values) Returned(pyhost.ToolCall, json.RawMessage, *pyhost.Fault) pyhost.ToolAnswer {
	return pyhost.ToolAnswer{}
}

// What stands in for a tool's result is what the tool says that it returns:
// records and tuples have come by way of JSON.
func TestResultsKeepTheirTypes(t *testing.T) {
	plan := agentPlan(t, "agents:uses_types")
	plan.Tools = []string{"agents:typed", "agents:paired", "agents:missing"}
	a := openAgent(t, plan)
	want := "Quote(price=2.5) (3, 4) KeyError('k')"
	w := values{
		"typed": {Action: pyhost.Replace, Value: json.RawMessage(`{"price":2.5}`)}, "paired": {Action: pyhost.Replace, Value: json.RawMessage(`[3,4]`)},
		"missing": {Action: pyhost.Raise, Class: "KeyError", Message: "'k'"},
	}
	if r := ask(t, a, "", w); r.Text != want {
		t.Errorf("%+v, want %q", r, want)
	}
	w["typed"] = pyhost.ToolAnswer{Action: pyhost.Replace, Value: json.RawMessage(`{"cost":2.5}`)}
	if r := ask(t, a, "", w); !strings.HasPrefix(r.Text, "{'cost': 2.5}") {
		t.Errorf("%+v", r)
	}
}

func TestAgentSources(t *testing.T) {
	plan := agentPlan(t, "agents:uses_source")
	plan.Sources = map[string]string{"given": "import inner\ndef answer(x):\n    return inner.SIGN + x\n", "inner": "SIGN = '>'\n"}
	if r := ask(t, openAgent(t, plan), "x", nil); r.Text != ">x" {
		t.Errorf("%+v", r)
	}
}

// Arguments are told by the names of the tool's parameters, however they were given.
func TestArgumentsByName(t *testing.T) {
	t.Parallel() // mostly waits
	for call, want := range map[string]string{
		`agents.search("a")`: `{"query": "a"}`, `agents.search("a", limit=1)`: `{"query": "a", "limit": 1}`, `agents.search("a", 2)`: `{"query": "a", "limit": 2}`,
		`agents.search("a", 2, 3)`: `null`, `agents.several("a", "b")`: `null`, `agents.several(x=1)`: `{"x": 1}`,
	} {
		plan := agentPlan(t, "caller:run")
		plan.Tools = []string{"agents:search", "agents:several"}
		plan.Sources = map[string]string{"caller": "import agents\ndef run(_):\n    try:\n        " + call + "\n    except TypeError:\n        pass\n"}
		var s script
		ask(t, openAgent(t, plan), "", &s)
		if !slices.Equal(s.named, []string{want}) {
			t.Errorf("%s: %q, want %s", call, s.named, want)
		}
	}
}

// A call that returns is the one that was made, with its names, although the tool has
// changed what it was given.
func TestToolsThatChangeTheirArguments(t *testing.T) {
	t.Parallel() // mostly waits
	plan := agentPlan(t, "caller:run")
	plan.Tools = []string{"caller:add", "caller:add_later"}
	plan.Sources = map[string]string{"caller": `
def add(item, cart):
    cart.append(item)
async def add_later(item, cart):
    cart.append(item)
async def run(_):
    add("a", [])
    await add_later("b", cart=[])
`}
	var s script
	ask(t, openAgent(t, plan), "", &s)
	want := []pyhost.ToolCall{
		{Tool: "add", Args: json.RawMessage(`["a", []]`), Kwargs: json.RawMessage(`{}`), Named: json.RawMessage(`{"item": "a", "cart": []}`)},
		{Tool: "add_later", Args: json.RawMessage(`["b"]`), Kwargs: json.RawMessage(`{"cart": []}`), Named: json.RawMessage(`{"item": "b", "cart": []}`)},
	}
	if diff := cmp.Diff(want, s.called); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, s.returned); diff != "" {
		t.Error(diff)
	}
}

// langchain is a module with a runnable and a tool of the real library.
const langchain = `
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

@tool
def look_up(word: str) -> str:
    """Looks a word up."""
    return "meaning of " + word

def answer(value):
    return {"output": look_up.invoke({"word": value["input"]})}

agent = RunnableLambda(answer)
`

func TestRealLangChain(t *testing.T) {
	plan := agentPlan(t, "real:agent")
	if err := exec.Command(plan.Python, "-c", "import langchain_core").Run(); err != nil {
		t.Skipf("langchain_core is not installed for %s", plan.Python)
	}
	plan.Style, plan.Tools, plan.Sources = pyhost.LangChain, []string{"real:look_up"}, map[string]string{"real": langchain}
	a := openAgent(t, plan)
	var s script
	if r := ask(t, a, "thresh", &s); r.Text != "meaning of thresh" || !slices.Equal(s.log, []string{`look_up[]{"word": "thresh"}`, `look_up -> "meaning of thresh"`}) {
		t.Errorf("%+v, saw %q", r, s.log)
	}
	s = script{before: pyhost.ToolAnswer{Action: pyhost.Replace, Value: json.RawMessage(`"nothing"`)}}
	if r := ask(t, a, "thresh", &s); r.Text != "nothing" {
		t.Errorf("%+v", r)
	}
}
