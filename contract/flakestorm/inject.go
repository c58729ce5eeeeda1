package flakestorm

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
)

// point is where a fault reaches the agent.
type point string

// The points of injection. The last two are those of existing tools. They are used for agents that
// Thresh cannot observe in any other way, and this is reported.
const (
	atProxy   point = "the agent's own calls, which go through a proxy"
	atHost    point = "calls of the wrapped Python tools"
	atServer  point = "calls of the MCP server"
	atPrompt  point = "the prompt"
	atModel   point = "the request to the model"
	atRequest point = "the request to the agent, in place of its tools"
	atReply   point = "the agent's reply, in place of its LLM's"
)

// injection is the chaos of a scenario, prepared for use in cells.
type injection struct {
	name   string
	rules  []fault.Rule // for the cells of the injector
	reply  []fault.Rule // applied to the reply afterwards
	via    bool         // the request to the agent goes through the proxy
	active activity
	first  int // index of the first rule among all rules of the campaign
}

func (j *injection) all() []fault.Rule { return slices.Concat(j.rules, j.reply) }

// activity is what when conditions refer to.
type activity struct{ tools, llm, any bool }

// applies reports whether an invariant is checked under this activity.
func (a activity) applies(when string) bool {
	switch when {
	case "tool_faults_active":
		return a.tools
	case "llm_faults_active":
		return a.llm
	case "any_chaos_active":
		return a.any
	case "no_chaos":
		return !a.any
	}
	return true
}

// reach says by which means the calls of an agent can be reached.
type reach struct {
	python bool // the agent runs in the Python host
	tools  bool // its tools are wrapped
	own    bool // Thresh starts its process and controls its environment
	model  bool // it is a bare model
	mcp    bool // it is an MCP server
	system bool // a system file describes it
	url    string
}

func reachOf(a *config.Agent) reach {
	python := a.Type == config.Python || a.Type == config.LangChain
	return reach{
		python: python, tools: len(a.Tools) > 0 || a.Registry != "",
		own:   python || len(a.Argv) > 0,
		model: a.Type == config.OpenAI && len(a.Argv) == 0, mcp: a.Type == config.MCP, url: a.Endpoint,
	}
}

// plan finds the point of injection of every fault. It refuses faults that have none, because a
// fault that is not injected would make everything pass.
func (r reach) plan(file, name string, c *config.Chaos, say func(f *config.Fault, p point)) (injection, diag.List) {
	j := injection{name: name}
	var list diag.List
	if c == nil {
		return j, nil
	}
	j.active = activity{tools: len(c.Tools) > 0, llm: len(c.LLM) > 0, any: c.Active()}
	faults := c.Faults()
	for i := range faults {
		f := &faults[i]
		p, why, hint := r.point(f)
		d := diag.Diagnostic{Code: "flakestorm.cannot-inject", Pos: f.At.In(file), Path: f.ID, Message: why, Hint: hint}
		if p == "" {
			list = append(list, d)
			continue
		}
		if say != nil {
			say(f, p)
		}
		rule := f.Rule
		switch p {
		case atRequest:
			rule.MatchURL, j.via = "*", true // the only call that exists
			d.Message = fmt.Sprintf("%s %s is injected into %s: the agent's own calls cannot be seen", rule.Layer, rule.Mode, p)
		case atReply:
			j.reply = append(j.reply, rule)
			d.Message = fmt.Sprintf("%s %s is injected into %s: the agent's own calls cannot be seen", rule.Layer, rule.Mode, p)
		case atModel:
			j.via = true
		}
		if p == atRequest || p == atReply {
			d.Code, d.Level = "flakestorm.compatibility", diag.Warning
			d.Hint = "agent.command has Thresh start the agent behind its proxy, so that faults hit the agent's real calls"
			list = append(list, d)
		}
		if p != atReply {
			j.rules = append(j.rules, rule)
		}
	}
	return j, list
}

// point returns where a fault can be injected; "" and a reason: nowhere.
func (r reach) point(f *config.Fault) (p point, why, hint string) {
	switch f.Layer {
	case fault.Tool:
		return r.toolPoint(f)
	case fault.LLM:
		switch {
		case r.model:
			return atModel, "", ""
		case r.own && !r.mcp:
			return atProxy, "", ""
		case r.mcp:
			return "", "the fault cannot be injected: the agent is an MCP server, whose calls to an LLM Thresh cannot see", "use llm_faults with an agent that calls an LLM itself"
		}
		switch f.Mode {
		case fault.Truncated, fault.Empty, fault.Garbage, fault.Drift, fault.Timeout, fault.Error, fault.RateLimit:
			return atReply, "", ""
		}
		return "", fmt.Sprintf("%s cannot be injected: the agent runs elsewhere, so its calls to its LLM cannot be reached", f.Mode), startIt
	}
	switch f.Filled().At {
	case fault.AtPrompt:
		return atPrompt, "", ""
	case fault.AtToolResult:
		q, why, hint := r.toolPoint(f)
		if q == atRequest { // a tool's result does not come back here, but the agent's answer
			return "", fmt.Sprintf("%s cannot be injected: the agent runs elsewhere, so the results of its tools cannot be reached", f.Mode), startIt
		}
		return q, why, hint
	}
	if r.own && !r.mcp {
		return atProxy, "", ""
	}
	if r.model {
		return atModel, "", ""
	}
	return "", fmt.Sprintf("%s at %s cannot be injected: the agent's calls to its LLM cannot be reached", f.Mode, f.Filled().At), startIt
}

const startIt = "have Thresh start the agent by agent.command: its calls then go through the proxy"

// toolPoint returns where a fault of a tool can be injected.
func (r reach) toolPoint(f *config.Fault) (p point, why, hint string) {
	switch {
	case r.system:
		return "", "the fault cannot be injected: the calls of an agent that is described by a system file cannot be reached, except those of a bare command", "say in the section agent how it is reached: type, endpoint, command"
	case r.python && !r.tools:
		return "", "tool faults need the agent's tools: agent.type python and langchain must name them by agent.tools or agent.tool_registry, and this agent names neither",
			"such as tools: [my_agent:search], or tool_registry: my_agent:TOOLS"
	case r.python && f.MatchURL == "" && (f.Mode == fault.Twice || f.Mode == fault.PartialWrite):
		return "", fmt.Sprintf("%s cannot be injected into a single call of a Python function", f.Mode), "match_url applies to what the tool calls over HTTP"
	case r.python && f.MatchURL != "":
		return atProxy, "", "" // calls made by the tools are matched by address
	case r.python:
		return atHost, "", ""
	case r.mcp:
		return atServer, "", ""
	case r.own:
		return atProxy, "", ""
	case f.MatchURL == "" && (f.Tool == "*" || f.Tool == ""):
		return atRequest, "", ""
	case f.MatchURL != "" && fault.MatchURL(f.MatchURL, r.url):
		return atRequest, "", ""
	case f.MatchURL != "":
		return "", fmt.Sprintf("calls to %s cannot be reached: the agent runs elsewhere", f.MatchURL), startIt
	}
	return "", fmt.Sprintf("calls of the tool %q cannot be reached: the agent runs elsewhere", f.Tool), startIt
}
