package systemfile

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/port/sut"
)

// reached decodes how the system is started and reached.
func (d *decoder) reached(root *doctree.Node, p *sut.Plan) {
	if n := root.Get("name"); n != nil {
		p.Name = d.text(n, "name")
	}
	if n := root.Get("command"); n != nil {
		p.Command = d.texts(n, "command", `[python3, shop.py, "{port}"]`)
	}
	if n := root.Get("per"); n != nil {
		p.Per = sut.Per(d.word(n, "per", string(sut.PerWorker), string(sut.PerCase), string(sut.PerRun)))
		if len(p.Command) == 0 {
			d.refuse(n.Pos, "per", codeConflict, "give the command, or leave per out", "says whose instance is started, but without command nothing is")
		}
	}
	if n := root.Get("url"); n != nil {
		p.URL = d.url(n, "url", p)
	}
	if n := root.Get("headers"); n != nil {
		p.Headers = d.pairs(n, "headers")
		for i := range n.Members() {
			d.variables(&n.Members()[i].Value, "headers."+n.Members()[i].Key.Text, n.Members()[i].Value.Text)
		}
	}
	d.ready(root.Get("ready"), p)
	for _, k := range []struct {
		key string
		to  *string
	}{{"entry", &p.Entry}, {"openapi", &p.OpenAPI}, {"model", &p.Model}, {"system", &p.System}} {
		if n := root.Get(k.key); n != nil {
			*k.to = d.text(n, k.key)
		}
	}
	if n := root.Get("entry"); n != nil && p.Kind == sut.Python && p.Entry != "" {
		if file, name, ok := strings.Cut(p.Entry, ":"); !ok || file == "" || name == "" || !strings.HasSuffix(file, ".py") {
			d.refuse(n.Pos, "entry", codeValue, "", "must be FILE.py:NAME, such as shop.py:Shop, got %q", p.Entry)
		}
	}
	if n := root.Get("api"); n != nil {
		p.API = d.word(n, "api", "openai", "responses", "anthropic", "ollama")
	}
	if n := root.Get("stream"); n != nil {
		if n.Kind != doctree.Bool {
			d.refuse(n.Pos, "stream", codeType, "", "must be true or false, got %s", n.Kind)
		}
		p.Stream = n.Bool
	}
	d.needs(root, p)
}

// needs checks what the kind cannot be without.
func (d *decoder) needs(root *doctree.Node, p *sut.Plan) {
	need := func(key, why string) {
		if root.Get(key) == nil {
			d.refuse(root.Pos, key, codeMissing, "", "must be given: %s", why)
		}
	}
	switch p.Kind {
	case sut.Command, sut.Driver:
		need("command", "a list of the program and its arguments")
	case sut.HTTP:
		need("url", "where the service is called")
		if root.Get("operations") == nil && root.Get("openapi") == nil {
			d.refuse(root.Pos, "operations", codeMissing, "", "must be given, or openapi: what the service can be asked")
		}
	case sut.Chat:
		need("url", "the address of the interface, such as https://api.openai.com/v1")
		need("model", "the model that is asked")
	case sut.MCP:
		if root.Get("url") == nil && root.Get("command") == nil {
			d.refuse(root.Pos, "command", codeMissing, "", "must be given, or url: the program that speaks MCP on its standard streams, or the address of the server")
		}
	case sut.Python:
		need("entry", "FILE.py:NAME, such as shop.py:Shop")
	case sut.WASM:
		need("entry", "the file of the module")
	}
}

func (d *decoder) url(n *doctree.Node, path string, p *sut.Plan) string {
	text := d.text(n, path)
	if text == "" {
		return ""
	}
	d.variables(n, path, text)
	sample := regexp.MustCompile(`\$\{\w+\}`).ReplaceAllString(strings.ReplaceAll(text, "{port}", "80"), "x")
	u, err := url.Parse(sample)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" && !strings.HasPrefix(text, "${") || u.Host == "" && !strings.HasPrefix(text, "${"):
		d.refuse(n.Pos, path, codeValue, "", "must be a URL that begins with http:// or https://, got %q", text)
	case strings.Contains(text, "{port}") && len(p.Command) == 0:
		d.refuse(n.Pos, path, codeConflict, "give the command, or the port's number", "{port} is the port of a program that Thresh starts, but there is no command")
	}
	return text
}

func (d *decoder) ready(n *doctree.Node, p *sut.Plan) {
	switch {
	case n == nil:
		return
	case len(p.Command) == 0:
		d.refuse(n.Pos, "ready", codeConflict, "", "says when a started program is ready, but there is no command")
	case n.Kind == doctree.Map:
		if !d.fields(n, "ready", "log") {
			return
		}
		line := n.Get("log")
		if line == nil {
			d.refuse(n.Pos, "ready.log", codeMissing, "", "must be given: a regular expression that a line of the program's output matches")
			return
		}
		re, err := regexp.Compile(d.text(line, "ready.log"))
		if err != nil {
			d.refuse(line.Pos, "ready.log", codeValue, "", "must be a regular expression: %v", err)
		}
		p.Ready.Log = re
	default:
		p.Ready.URL = d.url(n, "ready", p)
	}
}

// asked decodes what is asked of the system, and within what limits.
func (d *decoder) asked(root *doctree.Node, p *sut.Plan) {
	if n := root.Get("operations"); n != nil {
		if n.Kind != doctree.Map || len(n.Members()) == 0 {
			d.refuse(n.Pos, "operations", codeType, "", "must be a mapping from names to operations, with one at least")
		} else {
			for i := range n.Members() {
				m := &n.Members()[i]
				p.Operations = append(p.Operations, d.operation(keyText(m), &m.Value, p.Kind))
			}
		}
	}
	if n := root.Get("input"); n != nil {
		d.input(n, p)
	}
	if n := root.Get("reply"); n != nil {
		p.Reply = d.path(n, "reply")
	}
	if n := root.Get("reset"); n != nil {
		d.reset(n, p)
	}
	if n := root.Get("limits"); n != nil {
		d.limits(n, p)
	}
}

// named checks a name of an operation where all of them are known.
func (d *decoder) named(n *doctree.Node, path, name string, p *sut.Plan) *sut.Operation {
	o, ok := sut.Find(p.Operations, name)
	complete := p.Kind == sut.HTTP && p.OpenAPI == ""
	if !ok && complete && name != "" {
		var names []string
		for _, o := range p.Operations {
			names = append(names, o.Name)
		}
		hint := diag.DidYouMean(name, names)
		if hint == "" && len(names) > 0 {
			hint = "operations: " + strings.Join(names, ", ")
		}
		d.refuse(n.Pos, path, codeName, hint, "there is no operation %q", name)
	}
	return o
}

func (d *decoder) input(n *doctree.Node, p *sut.Plan) {
	if !d.fields(n, "input", "operation", "argument", "body") {
		return
	}
	var op *sut.Operation
	if o := n.Get("operation"); o != nil {
		p.Input.Operation = d.text(o, "input.operation")
		op = d.named(o, "input.operation", p.Input.Operation, p)
	} else if p.Kind != sut.Command && p.Kind != sut.Chat && p.Kind != sut.WASM {
		d.refuse(n.Pos, "input.operation", codeMissing, "", "must be given: the operation that takes the input")
	}
	body, argument := n.Get("body"), n.Get("argument")
	if body != nil {
		d.word(body, "input.body", "raw")
	}
	if body != nil && argument != nil {
		d.refuse(argument.Pos, "input.argument", codeConflict, "", "the input goes to one place: the raw body or an argument")
	}
	if argument == nil {
		return
	}
	p.Input.Argument = d.text(argument, "input.argument")
	if op == nil || len(op.Arguments) == 0 {
		return
	}
	names := argumentNames(op.Arguments)
	if !slices.Contains(names, p.Input.Argument) {
		hint := diag.DidYouMean(p.Input.Argument, names)
		if hint == "" {
			hint = "arguments: " + strings.Join(names, ", ")
		}
		d.refuse(argument.Pos, "input.argument", codeName, hint, "the operation %s has no argument %q", op.Name, p.Input.Argument)
	}
}

func (d *decoder) reset(n *doctree.Node, p *sut.Plan) {
	if n.Kind == doctree.Map {
		if !d.fields(n, "reset", "operation") {
			return
		}
		o := n.Get("operation")
		if o == nil {
			d.refuse(n.Pos, "reset.operation", codeMissing, "", "must be given: the operation that makes a fresh state")
			return
		}
		p.Reset = sut.Reset{Mode: sut.ResetOperation, Operation: d.text(o, "reset.operation")}
		d.named(o, "reset.operation", p.Reset.Operation, p)
		return
	}
	p.Reset.Mode = sut.ResetMode(d.word(n, "reset", string(sut.ResetRestart), string(sut.ResetNone)))
	if p.Reset.Mode == sut.ResetRestart && len(p.Command) == 0 {
		d.refuse(n.Pos, "reset", codeConflict, "", "restart needs a program that Thresh starts, but there is no command")
	}
}

func (d *decoder) limits(n *doctree.Node, p *sut.Plan) {
	if !d.fields(n, "limits", "timeout", "rate", "concurrency", "retries") {
		return
	}
	if t := n.Get("timeout"); t != nil {
		p.Limits.Timeout = d.duration(t, "limits.timeout")
	}
	if r := n.Get("rate"); r != nil {
		p.Limits.Rate = d.rate(r)
	}
	p.Limits.Concurrency = d.count(n.Get("concurrency"), "limits.concurrency", 1, 10_000)
	p.Limits.Retries = d.count(n.Get("retries"), "limits.retries", 0, 100)
}

func (d *decoder) count(n *doctree.Node, path string, least, most int64) int {
	if n == nil {
		return 0
	}
	v, ok := n.Int64()
	if !ok || v < least || v > most {
		d.refuse(n.Pos, path, codeValue, "", "must be an integer from %d to %d, got %s", least, most, shown(n))
		return 0
	}
	return int(v)
}

// shown is a value as written, or what it is.
func shown(n *doctree.Node) string {
	if n.Raw != "" {
		return strconv.Quote(n.Raw)
	}
	return n.Kind.String()
}

func (d *decoder) duration(n *doctree.Node, path string) time.Duration {
	var v time.Duration
	err := fmt.Errorf("not a duration")
	if f, ok := n.Float(); ok && !math.IsNaN(f) && f < 1e6 {
		v, err = time.Duration(f*float64(time.Second)), nil
	} else if n.Kind == doctree.String {
		v, err = time.ParseDuration(n.Text)
	}
	if err != nil || v <= 0 || v > 24*time.Hour {
		d.refuse(n.Pos, path, codeValue, "", "must be a duration above 0, such as 5s or 500ms, got %s", shown(n))
		return 0
	}
	return v
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

func (d *decoder) rate(n *doctree.Node) sut.Rate {
	count, unit, ok := strings.Cut(n.Text, "/")
	v, err := strconv.Atoi(strings.TrimSpace(count))
	per := rateUnits[strings.TrimSpace(unit)]
	if !ok || err != nil || v < 1 || per == 0 {
		d.refuse(n.Pos, "limits.rate", codeValue, "", "must be calls in a time, such as 50/s, 600/m or 1000/h, got %s", shown(n))
		return sut.Rate{}
	}
	return sut.Rate{Count: v, Per: per}
}
