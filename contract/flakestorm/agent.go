package flakestorm

import (
	"fmt"
	"iter"
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// agentPlan says how to reach the agent of a configuration. Folders are relative to the document's.
func agentPlan(a *config.Agent, adv config.Advanced, dir string, getenv func(string) (string, bool), missing func(diag.Diagnostic, string)) agentcall.Plan {
	p := agentcall.Plan{Concurrency: adv.Concurrency}
	if !filepath.IsAbs(a.Dir) {
		dir = filepath.Join(dir, a.Dir)
	} else {
		dir = a.Dir
	}
	argv, env := placed(a)
	switch a.Type {
	case config.HTTP:
		p.HTTP = &agentcall.HTTP{
			URL: a.Endpoint, Method: a.Method, ResponsePath: a.ResponsePath, Query: pairs(a.Query), Headers: pairs(a.Headers),
			Fields: a.ParseStructured, Retries: adv.Retries,
		}
		if a.Template != nil {
			p.HTTP.Template = *a.Template
		}
	case config.OpenAI:
		p.Chat = &agentcall.Chat{URL: a.Endpoint, Model: a.Model, System: a.System, Headers: pairs(a.Headers), Retries: adv.Retries}
		if a.APIKey != "" {
			key, name, ok := config.Key(a.APIKey, getenv)
			if !ok {
				missing(diag.Diagnostic{Pos: diag.Pos{Line: a.At.Line, Col: a.At.Col}, Path: "agent.api_key"}, name)
			}
			p.Chat.Headers = append(p.Chat.Headers, [2]string{"Authorization", "Bearer " + key})
		}
	case config.Python, config.LangChain:
		style := pyhost.Plain
		if a.Type == config.LangChain {
			style = pyhost.LangChain
		}
		p.Python = &agentcall.Python{Env: env, Plan: pyhost.AgentPlan{
			Python: a.Interpreter, Target: a.Endpoint, Style: style, SearchPath: []string{".", dir}, Reset: a.ResetFunction,
			Tools: a.Tools, Registry: a.Registry, LoadLimit: a.ReadyTimeout,
		}}
		if a.Template != nil && style == pyhost.LangChain { // a function takes the prompt as it is
			p.Python.Template, p.Python.Fields = *a.Template, a.ParseStructured
		}
		p.Reset.Renew = a.Isolate
		p.Concurrency = 0 // each lane has its own process
	case config.Command:
		p.Command = &agentcall.Command{Argv: argv, Dir: dir, Env: env, ResponsePath: a.ResponsePath, Fields: a.ParseStructured}
		if a.Template != nil {
			p.Command.Template = *a.Template
		}
	case config.MCP:
		p.MCP = &agentcall.MCP{URL: a.Endpoint, Headers: pairs(a.Headers)}
		if a.Endpoint == "" {
			p.MCP.Argv, p.MCP.Dir, p.MCP.Env = argv, dir, env
		}
		if a.Template != nil {
			p.MCP.Arguments = *a.Template
		}
		p.MCP.Tool = a.Tool
		p.Reset.Renew = a.Isolate && a.Endpoint == ""
	}
	if len(argv) > 0 && a.Endpoint != "" && (a.Type == config.HTTP || a.Type == config.OpenAI || a.Type == config.MCP) {
		p.Start = &agentcall.Start{Argv: argv, Dir: dir, Env: env, Ready: a.Ready, Patience: a.ReadyTimeout}
		p.Reset.Renew = a.Isolate
	}
	if a.ResetEndpoint != "" {
		p.Reset = agentcall.Reset{URL: absolute(a.ResetEndpoint, a.Endpoint)}
	}
	return p
}

// absolute turns a path into an address on the agent's host.
func absolute(reset, endpoint string) string {
	base, err := url.Parse(endpoint)
	if err != nil || !strings.HasPrefix(reset, "/") {
		return reset
	}
	return base.Scheme + "://" + base.Host + reset
}

func pairs(list []config.Pair) [][2]string {
	var out [][2]string
	for _, p := range list {
		out = append(out, [2]string{p.Key, p.Value})
	}
	return out
}

func placed(a *config.Agent) (argv, env []string) {
	for _, p := range a.Env {
		env = append(env, p.Key+"="+p.Value)
	}
	return a.Argv, env
}

// gateways returns the tools and the LLM whose addresses an agent receives.
func gateways(a *config.Agent) []config.Pair {
	list := a.Gateways
	if a.LLMGateway != "" {
		list = append(list[:len(list):len(list)], config.Pair{Key: "llm", Value: a.LLMGateway})
	}
	return list
}

// gatewayMark returns the placeholder in the agent's command and environment for the address of a
// gateway.
func gatewayMark(name string) string { return "{gateway:" + name + "}" }

// point inserts the addresses of the gateways wherever the agent reads an address.
func (c *Campaign) point(plan agentcall.Plan, at func(config.Pair) (string, error)) (agentcall.Plan, error) {
	var marks []string
	for _, g := range gateways(&c.cfg.Agent) {
		u, err := at(g)
		if err != nil {
			return plan, diag.Environment("opening the gateway of %s: %w", g.Key, err)
		}
		marks = append(marks, gatewayMark(g.Key), u)
	}
	r := strings.NewReplacer(marks...)
	in := func(list []string) []string {
		return seq.Map(list, r.Replace)
	}
	return plan.Process(func(argv, env []string) ([]string, []string) { return in(argv), in(env) }), nil
}

// resetLimit is how long clearing the agent's memory may take.
const resetLimit = 10 * time.Second

// replyExhibit is the title of the exhibit that holds the agent's reply.
const replyExhibit = "Reply"

// replied returns the agent's reply, or its report of why it gave none.
func replied(r *agentcall.Reply) campaign.Exhibit {
	if r.OK() {
		return campaign.TextExhibit(replyExhibit, r.Text)
	}
	e := campaign.TextExhibit(replyExhibit, fmt.Sprintf("(no answer: %s: %s)\n%s", r.End, r.Error, r.Text))
	if r.End == agentcall.Refused || r.End == agentcall.Reported || r.End == agentcall.Raised {
		e.Text.ReportOf = "agent"
	}
	return e
}

// system uses a system as the agent: the one that --system names, or else that of agent.system. It
// returns the secrets that the system gets.
func (b *builder) system() (given []config.Pair) {
	path := b.set.Get(OptSystem, "")
	if path == "" {
		if path = b.cfg.Agent.SystemFile; path == "" {
			return nil
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(b.spec.Path), path)
		}
	}
	plan, list := systemfile.Load(path, b.set.Read, b.set.Digest)
	if b.list = append(b.list, list...); plan == nil {
		return nil
	}
	if text, err := b.set.Read(path); err == nil {
		given = b.declared(path, text)
	}
	b.c.agent = agentcall.Plan{System: plan, Concurrency: b.cfg.Advanced.Concurrency}
	b.c.reach = reach{system: true}
	if c := program(plan); c != nil { // its calls can be seen, and faults can be injected into them
		b.c.agent.System, b.c.agent.Command = nil, c
		b.c.reach = reach{own: true}
	}
	b.read = append(b.read, []byte(plan.Digest))
	return given
}

// declared returns the secrets that a text declares.
func (b *builder) declared(name string, text []byte) (given []config.Pair) {
	d := secret.Scan(text)
	for _, v := range d.Variables {
		if value, _ := b.k.getenv(v); len(value) >= secret.Shortest {
			given = append(given, config.Pair{Key: v, Value: value})
		}
	}
	for _, x := range d.Literals {
		given = append(given, config.Pair{Key: name, Value: x.Value})
		if text, err := url.QueryUnescape(x.Value); err == nil && text != x.Value { // in the form in which its server reads it
			given = append(given, config.Pair{Key: name, Value: text})
		}
	}
	return given
}

// program returns a system as a program that is started for each call, like an agent of type
// command; nil: the system is more than that.
func program(p *sut.Plan) *agentcall.Command {
	bare := p.Kind == sut.Command && p.Input == (sut.Input{}) && p.Limits == (sut.Limits{}) && len(p.Operations) == 0 && p.Reset == (sut.Reset{})
	if !bare || strings.Contains(strings.ReplaceAll(strings.Join(p.Command, ""), "{prompt}", ""), "{") {
		return nil
	}
	return &agentcall.Command{Argv: p.Command, Dir: p.Dir, ResponsePath: p.Reply}
}
