package flakestorm_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/clitest"
)

// TestMain is the bundled agent, too.
func TestMain(m *testing.M) { clitest.Main(m) }

// played is a campaign that was run on one lane.
type played struct {
	campaign campaign.Any
	facts    campaign.Facts
	outcomes []campaign.Outcome
	payloads [][]byte
	errs     []error
	tally    flakestorm.Tally
	warnings []string
	advice   []string
	shown    []campaign.Exhibit
	state    any
	planned  int64
	void     string // why nothing was shown to hold
	doubts   diag.List
	notes    []string
}

func (p played) count(v campaign.Verdict) (n int) {
	for _, o := range p.outcomes {
		if o.Verdict == v {
			n++
		}
	}
	return n
}

func (p played) titles() string {
	var b strings.Builder
	for i, o := range p.outcomes {
		fmt.Fprintf(&b, "%s %s %s %v\n", o.Verdict, o.Kind, o.Title, p.errs[i])
	}
	return b.String()
}

func settings(options ...string) campaign.Settings {
	set := campaign.Settings{Options: map[string][]string{}, Read: os.ReadFile, List: func(dir string) ([]string, error) {
		entries, err := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, err
	}, Digest: func(string) (string, error) { return "digest", nil }}
	for i := 0; i+1 < len(options); i += 2 {
		if options[i] == "strict" {
			set.Strict = true
			continue
		}
		set.Options[options[i]] = append(set.Options[options[i]], options[i+1])
	}
	return set
}

// play runs a document on one lane, in case order.
func play(t *testing.T, s campaign.Spec, options ...string) played {
	t.Helper()
	return playBy(t, front(), s, options...)
}

func playBy(t *testing.T, by *flakestorm.Contract, s campaign.Spec, options ...string) played {
	t.Helper()
	list, diags := by.Compile(t.Context(), s, settings(options...))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c := list[0]
	p := played{campaign: c, doubts: diags}
	facts, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.facts = facts
	state := c.Start(facts)
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	index := int64(0)
	for number := 0; ; number++ {
		round, ok := c.Round(state)
		if !ok {
			break
		}
		before := state
		state = c.Fold(before, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range round.Len {
				at := campaign.Case{Round: number, Index: index, Payload: round.Payload(i)}
				p.payloads = append(p.payloads, at.Payload)
				index++
				o, err := x.Execute(t.Context(), before, at)
				if err != nil {
					o = campaign.Outcome{Verdict: campaign.VerdictError, Title: err.Error()}
				}
				p.outcomes, p.errs = append(p.outcomes, o), append(p.errs, err)
				if !yield(at, o) {
					return
				}
			}
		})
	}
	if n, ok := campaign.As[interface{ Notes() []string }](x); ok {
		p.notes = n.Notes()
	}
	k, _ := campaign.As[*flakestorm.Campaign](c)
	p.state, p.tally, p.planned = state, k.Tally(state), k.Planned()
	shows, _ := campaign.As[campaign.Summarizer[any]](c)
	sum := shows.Summarize(state)
	p.warnings, p.advice, p.shown, p.void = sum.Warnings, sum.Advice, sum.Exhibits, sum.Void
	return p
}

// matrix is a document with a contract alone.
func matrix(url, agent, contract string) string {
	return "agent: {endpoint: \"" + url + "/chat\"" + agent + "}\ngolden_prompts: [one, two]\ninvariants: [{type: completes}]\ncontract:\n  name: c\n" + contract
}

func contractOnly(t *testing.T, text string, options ...string) played {
	t.Helper()
	return play(t, spec(t, text), append(options, flakestorm.OptPhase, flakestorm.PhaseContract)...)
}

const allow = "  invariants: [{id: a, type: completes, severity: critical}]\n"

func echo(prompt string, _ int) (int, string) { return 200, "echo " + prompt }

// The counters of a fault begin anew in every cell.
func TestCellsShareNoCounters(t *testing.T) {
	s := answerer(t, echo)
	p := contractOnly(t, matrix(s.URL, "", "  invariants: [{id: a, type: completes}, {id: b, type: completes}, {id: c, type: completes}]\n"+
		"  chaos_matrix: [{name: later, tool_faults: [{tool: \"*\", mode: error, after_calls: 3}]}]\n"))
	if p.count(campaign.VerdictPass) != 3 {
		t.Errorf("two calls a cell, and the fault strikes from the third:\n%s", p.titles())
	}
	p = contractOnly(t, matrix(s.URL, "", allow+"  chaos_matrix: [{name: second, tool_faults: [{tool: \"*\", mode: error, after_calls: 2}]}]\n"))
	if p.count(campaign.VerdictFail) != 1 || p.tally.Contract.Passed() || p.tally.Contract.Score != 0 {
		t.Errorf("the fault strikes the second call of the cell:\n%s", p.titles())
	}
}

// Every prompt is compared with its own reply without chaos.
func TestBaselinesArePerPrompt(t *testing.T) {
	s := answerer(t, echo)
	p := contractOnly(t, matrix(s.URL, "", "  invariants: [{id: same, type: behavior_unchanged}]\n  chaos_matrix: [{name: none}]\n"))
	if p.count(campaign.VerdictPass) != 3 { // two baselines, one cell
		t.Errorf("%s", p.titles())
	}
	changing := answerer(t, func(prompt string, n int) (int, string) {
		if n > 4 { // two that try the agent, two baselines
			return 200, "something else altogether, about quarterly earnings"
		}
		return 200, "echo " + prompt
	})
	p = contractOnly(t, matrix(changing.URL, "", "  invariants: [{id: same, type: behavior_unchanged}, {id: given, type: behavior_unchanged, baseline: something else altogether about quarterly earnings}]\n  chaos_matrix: [{name: none}]\n"))
	if p.tally.Cells[0].Held() || !p.tally.Cells[1].Held() {
		t.Errorf("%s", p.titles())
	}
}

// A call without an answer breaks every invariant, whatever it asks for.
func TestNoAnswerIsNeverAPass(t *testing.T) {
	t.Parallel() // mostly waits
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reset" {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		<-r.Context().Done()
	}))
	t.Cleanup(hang.Close)
	types := "  invariants: [{id: a, type: completes}, {id: b, type: excludes_pii}, {id: c, type: excludes_pattern, patterns: [x]}, {id: d, type: refusal_check}]\n  chaos_matrix: [{name: none}]\n"
	text := strings.Replace(matrix(hang.URL, ", timeout: 1000, reset_endpoint: /reset", types), "[one, two]", "[one]", 1)
	p := contractOnly(t, text)
	if p.count(campaign.VerdictFail) != 4 {
		t.Errorf("%s", p.titles())
	}
	for _, status := range []int{500, 403, 302} {
		s := answerer(t, func(string, int) (int, string) { return status, "fine" })
		if p := contractOnly(t, matrix(s.URL, "", types)); p.count(campaign.VerdictFail) != 4 {
			t.Errorf("status %d:\n%s", status, p.titles())
		}
	}
}

func TestErrorNullIsNoError(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"error":null,"output":"x"}`)
	}))
	t.Cleanup(s.Close)
	if p := contractOnly(t, matrix(s.URL, "", allow+"  chaos_matrix: [{name: none}]\n")); p.count(campaign.VerdictPass) != 1 {
		t.Errorf("%s", p.titles())
	}
}

// The warning is the contract's sentence, once, and only without a reset.
func TestStatefulAgents(t *testing.T) {
	count := func(_ string, n int) (int, string) { return 200, fmt.Sprint("call ", n) }
	body := allow + "  chaos_matrix: [{name: none}, {name: all, tool_faults: [{tool: \"*\", mode: error}]}]\n"
	s := answerer(t, count)
	p := contractOnly(t, matrix(s.URL, "", body))
	if !slices.Equal(p.facts.Warnings, []string{flakestorm.StatefulWarning}) {
		t.Errorf("warnings %q", p.facts.Warnings)
	}
	p = contractOnly(t, matrix(answerer(t, count).URL, ", reset_endpoint: /reset", body))
	if len(p.facts.Warnings) > 0 {
		t.Errorf("with a reset: %q", p.facts.Warnings)
	}
	if p := contractOnly(t, matrix(answerer(t, echo).URL, "", body)); len(p.facts.Warnings) > 0 {
		t.Errorf("without a memory: %q", p.facts.Warnings)
	}
}

// A response_path is followed in JSON of whatever type.
func TestResponsePathOfOtherTypes(t *testing.T) {
	for _, kind := range []string{"application/json", "text/plain"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, `{"answer":""}`)
		}))
		t.Cleanup(s.Close)
		p := contractOnly(t, matrix(s.URL, ", response_path: answer", "  invariants: [{id: answers, type: output_not_empty}]\n  chaos_matrix: [{name: none}]\n"))
		if p.count(campaign.VerdictFail) != 1 {
			t.Errorf("%s: %s", kind, p.titles())
		}
	}
}

// Every cell begins with a cleared memory; a reset that fails is not a result.
func TestReset(t *testing.T) {
	s := answerer(t, func(_ string, n int) (int, string) { return 200, fmt.Sprint("call ", n) })
	p := contractOnly(t, matrix(s.URL, ", reset_endpoint: /reset", "  invariants: [{id: a, type: contains_any, values: [call 1, call 2]}, {id: b, type: contains_any, values: [call 1, call 2]}]\n  chaos_matrix: [{name: x}, {name: y}]\n"))
	if p.count(campaign.VerdictPass) != 4 {
		t.Errorf("%s", p.titles())
	}
	var asked atomic.Int64
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reset" && asked.Add(1) > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "fine")
	}))
	t.Cleanup(refusing.Close)
	p = contractOnly(t, matrix(refusing.URL, ", reset_endpoint: /reset", allow+"  chaos_matrix: [{name: x}]\n"))
	if p.count(campaign.VerdictError) != 1 || p.tally.Contract != nil {
		t.Errorf("a refused reset:\n%s", p.titles())
	}
}

// Conditions take cells out of the totals, and the formula is the contract's.
func TestWhenAndScore(t *testing.T) {
	s := answerer(t, echo)
	p := contractOnly(t, matrix(s.URL, "", `  invariants:
    - {id: a, type: contains, value: echo, severity: critical, when: no_chaos}
    - {id: b, type: contains, value: echo, severity: high}
    - {id: c, type: contains, value: nothing, severity: medium, when: no_chaos}
    - {id: d, type: completes, when: llm_faults_active}
  chaos_matrix: [{name: none}, {name: silent, llm_faults: [{mode: empty}]}]
`))
	// 3, 2 and 0 of 3, 2 and 1 without chaos; 0 and 1 of 2 and 1 with a silent LLM.
	if m := p.tally.Contract; m.Cells != 5 || m.Won != 6 || m.Weight != 9 || m.Score != 66.67 || !m.Passed() {
		t.Errorf("%+v\n%s", m, p.titles())
	}
	if p.count(campaign.VerdictSkip) != 3 {
		t.Errorf("%s", p.titles())
	}
}

// Of checks that fail outside the contract the severest decides.
func TestSeverestDecides(t *testing.T) {
	s := answerer(t, echo)
	text := "agent: {endpoint: " + s.URL + "}\ngolden_prompts: [hi]\nchaos: {llm_faults: [{mode: empty}]}\n" +
		"invariants: [{type: output_not_empty, severity: low}, {id: says, type: contains, value: echo, severity: critical}, {type: contains, value: x}]\n"
	p := play(t, spec(t, text), flakestorm.OptPhase, flakestorm.PhaseChaos)
	if o := p.outcomes[0]; o.Severity != campaign.SeverityCritical || !strings.Contains(o.Title, "says: ") || p.tally.CriticalFailed() {
		t.Errorf("%v: %s", o.Severity, o.Title)
	}
}

// The matrix at the top level serves a contract without its own.
func TestTopLevelMatrix(t *testing.T) {
	s := answerer(t, echo)
	p := contractOnly(t, matrix(s.URL, "", allow)+"chaos_matrix: [{name: none}, {name: down, tool_faults: [{tool: \"*\", mode: error}]}]\n")
	if len(p.tally.Cells) != 2 || !p.tally.CriticalFailed() {
		t.Errorf("%s", p.titles())
	}
}

func TestProbesReplacePrompts(t *testing.T) {
	var asked []string
	s := answerer(t, func(prompt string, _ int) (int, string) {
		asked = append(asked, prompt)
		return 200, "no"
	})
	contractOnly(t, matrix(s.URL, ", reset_endpoint: /reset", "  invariants: [{id: a, type: completes, probes: [p1, p2]}]\n  chaos_matrix: [{name: none}]\n"))
	if !slices.Equal(asked, []string{"one", "p1", "p2"}) { // the first tries the agent
		t.Errorf("asked %q", asked)
	}
}

// Flaky cells are shown with their rate, and do not hold.
func TestFlakyCells(t *testing.T) {
	var n atomic.Int64
	s := answerer(t, func(string, int) (int, string) { return 200, fmt.Sprint("n", n.Add(1)%2) })
	text := strings.Replace(matrix(s.URL, ", reset_endpoint: /reset", "  invariants: [{id: a, type: contains, value: n1}]\n  chaos_matrix: [{name: none}]\n"), "[one, two]", "[one]", 1)
	p := contractOnly(t, text, flakestorm.OptRuns, "6")
	if c := p.tally.Cells[0]; c.Runs != 6 || c.Passed != 3 || c.Held() {
		t.Errorf("%+v", c)
	}
}

// A fault that never fired is reported; under --strict it fails the run.
func TestIdleFaults(t *testing.T) {
	s := answerer(t, echo)
	text := matrix(s.URL, "", allow+"  chaos_matrix: [{name: late, tool_faults: [{tool: \"*\", mode: error, after_calls: 9}]}]\n")
	p := contractOnly(t, text)
	if len(p.warnings) != 1 || !strings.Contains(p.warnings[0], "never fired") || p.count(campaign.VerdictFail) != 0 {
		t.Errorf("%q\n%s", p.warnings, p.titles())
	}
	if p := contractOnly(t, text, "strict", ""); p.count(campaign.VerdictFail) != 1 {
		t.Errorf("strict:\n%s", p.titles())
	}
}

// An agent that is ours and makes no call that a fault could strike may not
// heed the proxy: the warning says what helps, unless that is there.
func TestIdleFaultsNameGateways(t *testing.T) {
	const scenario = "\ngolden_prompts: [hello]\ninvariants: [{type: output_not_empty}]\ncontract:\n  name: c\n  invariants: [{id: a, type: output_not_empty}]\n" +
		"  chaos_matrix: [{name: out, tool_faults: [{tool: stock, mode: error}], llm_faults: [{mode: empty}]}]\n"
	for agent, want := range map[string][]string{
		"type: command, command: [echo, hi]": {"agent.tool_gateways", "agent.llm_gateway"},
		"type: command, command: [echo, hi, \"{gateway:stock}\", \"{gateway:llm}\"], tool_gateways: {stock: \"http://127.0.0.1:9\"}, llm_gateway: \"http://127.0.0.1:9\"": {"", ""},
	} {
		p := contractOnly(t, "version: \"2.0\"\nagent: {"+agent+"}"+scenario)
		if len(p.warnings) != 2 {
			t.Fatalf("%s: %q\n%s", agent, p.warnings, p.titles())
		}
		for i, w := range p.warnings {
			if told := strings.Contains(w, "_gateway"); told != (want[i] != "") || !strings.Contains(w, want[i]) {
				t.Errorf("%s: %q", agent, w)
			}
		}
	}
}

// Faults of the section chaos act in the chaos phase alone.
func TestChaosStaysInItsPhase(t *testing.T) {
	s := answerer(t, echo)
	text := matrix(s.URL, "", allow+"  chaos_matrix: [{name: none}]\n") + "mutations: {count: 4, types: [noise]}\nchaos: {tool_faults: [{tool: \"*\", mode: error}]}\n"
	p := play(t, spec(t, text))
	if p.tally.Mutation.Score != 1 || p.tally.Chaos.Score != 0 || p.tally.Contract.Score != 100 || len(p.tally.Whole.Absent) != 1 {
		t.Errorf("%+v\n%s", p.tally, p.titles())
	}
	if p := play(t, spec(t, text), flakestorm.OptPhase, flakestorm.PhaseMutation, flakestorm.OptChaos, "true"); p.tally.Mutation.Score != 0 {
		t.Errorf("--chaos:\n%s", p.titles())
	}
}

// A request of a wrong shape may be refused: that is neither a pass nor a failure.
func TestRefusedShapes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		fmt.Fprint(w, "fine")
	}))
	t.Cleanup(s.Close)
	text := "agent: {endpoint: \"" + s.URL + "\"}\ngolden_prompts: [one]\ninvariants: [{type: completes}]\nmutations: {count: 4, types: [request_method_attack]}\n"
	p := play(t, spec(t, text))
	if p.tally.Mutation.Inapplicable != 4 || p.tally.Mutation.Scored {
		t.Errorf("%+v\n%s", p.tally.Mutation, p.titles())
	}
}

// The starter finds what is planted in the bundled agent, and nothing else: its
// faults reach the agent's real calls, and recorded responses its tools.
func TestStarter(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(string(front().Starter(dir)[0].Data), `["thresh", `, fmt.Sprintf("[%q, ", os.Args[0]), 1)
	p := play(t, spec(t, text))
	if len(p.warnings) > 0 || len(p.facts.Warnings) > 0 {
		t.Errorf("warnings %q %q", p.warnings, p.facts.Warnings)
	}
	var failing []string
	for _, o := range p.outcomes {
		if o.Verdict == campaign.VerdictFail {
			failing = append(failing, o.Signature)
		}
	}
	want := []string{"contract|answers|model-silent|answers|output_not_empty", "contract|no-orders|poisoned-tool|no-orders|excludes_pattern"}
	if !slices.Equal(failing, want) || p.count(campaign.VerdictError) > 0 {
		t.Errorf("failing %q, want %q\n%s", failing, want, p.titles())
	}
	if !p.tally.CriticalFailed() || p.tally.Replay.Passed != 1 {
		t.Errorf("%+v", p.tally)
	}
}

const pythonAgent = `
import itertools
calls = itertools.count()
def search(q):
    return {"found": q}
TOOLS = {"search": search}
def run(prompt):
    try:
        return "found " + str(TOOLS["search"](prompt)["found"])
    except Exception as e:
        return "sorry"
memory = []
class Shelf:
    def lend(self, book): pass
shelf = Shelf()
def stateful(prompt):
    memory.append(prompt)
    shelf.lend(book=prompt)
    return f"call {len(memory)}"
def reset_state():
    memory.clear()
`

// Faults of tools reach Python agents through a list of tools or a registry,
// and reset_function clears their memory before every cell.
func TestPythonAgents(t *testing.T) {
	t.Parallel() // mostly waits
	if err := exec.CommandContext(context.Background(), "python3", "-c", "import sys; assert sys.version_info >= (3, 9)").Run(); err != nil {
		t.Skip("needs python3")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "my_agent.py"), []byte(pythonAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(text string) campaign.Spec {
		path := filepath.Join(dir, "flakestorm.yaml")
		return campaign.Spec{Path: path, Data: []byte(text)}
	}
	body := "golden_prompts: [one]\ninvariants: [{type: completes}]\ncontract:\n  name: c\n  invariants: [{id: finds, type: contains, value: found}]\n  chaos_matrix: [{name: none}, {name: down, tool_faults: [{tool: search, mode: error}]}]\n"
	for _, how := range []string{"tool_registry: \"my_agent:TOOLS\""} {
		p := play(t, at("agent: {type: python, endpoint: \"my_agent:run\", "+how+"}\n"+body), flakestorm.OptPhase, flakestorm.PhaseContract)
		if p.count(campaign.VerdictPass) != 1 || p.count(campaign.VerdictFail) != 1 || len(p.warnings) > 0 {
			t.Errorf("%s: %q\n%s", how, p.warnings, p.titles())
		}
	}
	p := play(t, at("agent: {type: python, endpoint: \"my_agent:stateful\", reset_function: \"my_agent:reset_state\", tools: [\"my_agent:shelf.lend\"]}\ngolden_prompts: [one]\ninvariants: [{type: completes}]\n"+
		"contract:\n  name: c\n  invariants: [{id: a, type: contains, value: call 1}, {id: b, type: contains, value: call 1},\n"+
		"    {id: d, type: trace, event: {tool: lend}, exactly: 1}, {id: e, type: trace, event: shelf.lend}, {id: f, type: tool_called, tool: shelf.lend}, {id: g, type: tool_called, tool: lend}]\n"+
		"  chaos_matrix: [{name: none}]\n"), flakestorm.OptPhase, flakestorm.PhaseContract)
	if p.count(campaign.VerdictPass) != 6 || len(p.warnings) > 0 {
		t.Errorf("%s", p.titles())
	}
}

// A check that is for other prompts was not made: what it alone would have
// judged is left out and has no score, and the document is warned of.
func TestChecksOfOtherPrompts(t *testing.T) {
	s := answerer(t, echo)
	head := "agent: {endpoint: \"" + s.URL + "/chat\"}\nmutations: {count: 1, types: [noise]}\ngolden_prompts: [where is my order]\n"
	filtered := "{type: contains, value: refunded, prompt_filter: zebra}"
	p := play(t, spec(t, head+"invariants: ["+filtered+"]\n"))
	if p.count(campaign.VerdictSkip) != 1 || p.count(campaign.VerdictPass) != 0 || p.tally.Mutation.Scored || !strings.Contains(p.titles(), "not applicable (prompt_filter)") || p.void == "" {
		t.Errorf("nothing was checked:\n%s%+v", p.titles(), p.tally.Mutation)
	}
	p = play(t, spec(t, head+"invariants: ["+filtered+", {type: completes}]\n"))
	if p.count(campaign.VerdictPass) != 1 || !p.tally.Mutation.Scored || p.void != "" {
		t.Errorf("completes was checked:\n%s%+v", p.titles(), p.tally.Mutation)
	}
	_, list := front().Compile(t.Context(), spec(t, head+"invariants: ["+filtered+", {type: completes, prompt_filter: ORDER}]\n"), settings())
	if len(list) != 1 || list[0].Code != "flakestorm.never-applies" || list[0].Path != "invariants[0]" {
		t.Errorf("it says %v", list)
	}
}
