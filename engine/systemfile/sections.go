package systemfile

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
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
func (d *decoder) reached(s *doctree.Section, p *sut.Plan) {
	if s.Given("name") {
		p.Name = s.Text("name")
	}
	p.Command = s.Texts("command")
	if p.Start = s.Text("dir"); p.Start != "" {
		d.needsCommand(s, "dir", p, "give the command, or remove dir", "says where a program starts, but there is no command")
		if !filepath.IsAbs(p.Start) {
			p.Start = filepath.Join(p.Dir, p.Start)
		}
	}
	if n := s.Value("per"); n != nil {
		p.Per = sut.Per(n.Text)
		d.needsCommand(s, "per", p, "give the command, or remove per", "says who shares a started program, but there is no command")
	}
	p.URL = d.url(s, "url", p)
	p.Headers, p.Query = d.pairs(s, "headers"), d.pairs(s, "query")
	for _, e := range slices.Concat(s.Entries("headers"), s.Entries("query")) {
		d.variables(e.Node, e.Path)
	}
	d.ready(s, p)
	p.Entry, p.OpenAPI = s.Text("entry"), s.Text("openapi")
	if p.Entry != "" {
		p.EntryAt = s.PosOf("entry").In(d.File).String()
	}
	if file, name, ok := strings.Cut(p.Entry, ":"); p.Kind == sut.Python && p.Entry != "" && (!ok || file == "" || name == "" || !strings.HasSuffix(file, ".py")) {
		d.refuse(s.PosOf("entry"), "entry", codeValue, "", "must be FILE.py:NAME, such as shop.py:Shop, got %q", p.Entry)
	}
	if p.Model, p.System, p.Stream = s.Text("model"), s.Text("system"), s.True("stream"); s.Given("api") {
		p.API = s.Text("api")
	}
	d.checkRequired(s, p)
}

func (d *decoder) needsCommand(s *doctree.Section, key string, p *sut.Plan, hint, why string) {
	if len(p.Command) == 0 && !s.Given("command") { // an invalid command is reported itself
		d.refuse(s.PosOf(key), key, codeConflict, hint, "%s", why)
	}
}

// checkRequired checks what the kind requires beyond the rules of its single keys.
func (d *decoder) checkRequired(s *doctree.Section, p *sut.Plan) {
	need := func(key, other, hint string) {
		if s.Raw().Get(key) == nil && (other == "" || s.Raw().Get(other) == nil) {
			s.Missing(key, hint)
		}
	}
	switch p.Kind {
	case sut.Command, sut.Driver:
		need("command", "", "a list of the program and its arguments")
	case sut.HTTP:
		need("url", "", "where the service is called")
		need("operations", "openapi", "or openapi: what the service can be asked")
	case sut.Chat:
		need("url", "", "the address of the interface, such as https://api.openai.com/v1")
	case sut.MCP:
		need("command", "url", "a program that speaks MCP on its standard streams, or url: the address of a server")
	}
}

var placeholder = regexp.MustCompile(`\{\w*\}`)

var reference = regexp.MustCompile(`\$\{\w+\}`)

func (d *decoder) url(s *doctree.Section, key string, p *sut.Plan) string {
	text := s.Text(key)
	if text == "" {
		return ""
	}
	literal := reference.ReplaceAllString(text, "")
	if !d.variables(s.Node(key), key) || !d.closed(s, key, placeholder.ReplaceAllString(literal, ""), "{port}") {
		return text
	}
	for _, place := range placeholder.FindAllString(literal, -1) {
		if place != "{port}" {
			d.refuse(s.PosOf(key), key, codeName, diag.DidYouMean(place, []string{"{port}"}), "%s is not known here; {port} is a free port, and ${NAME} a variable of the environment", place)
			return text
		}
	}
	u, err := url.Parse(reference.ReplaceAllString(strings.ReplaceAll(text, "{port}", "80"), "x"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" && !strings.HasPrefix(text, "${") || u.Host == "" && !strings.HasPrefix(text, "${"):
		d.refuse(s.PosOf(key), key, codeValue, "", "must be a URL that begins with http:// or https://, got %q", text)
	case strings.Contains(text, "{port}"):
		d.needsCommand(s, key, p, "give the command, or the port's number", "{port} is the port of a program that Thresh starts, but there is no command")
	}
	return text
}

// closed reports whether an address has no brace left without its placeholders, and
// reports an error if it has.
func (d *decoder) closed(s *doctree.Section, key, rest, form string) bool {
	at := strings.IndexAny(rest, "{}")
	if at >= 0 {
		d.refuse(s.PosOf(key), s.At(key), codeValue, "a placeholder is of the form "+form, "%q is not a valid placeholder", rest[at:])
	}
	return at < 0
}

func (d *decoder) ready(s *doctree.Section, p *sut.Plan) {
	n := s.Value("ready")
	if n == nil {
		return
	}
	d.needsCommand(s, "ready", p, "", "says when a started program is ready, but there is no command")
	if n.Kind != doctree.Map {
		p.Ready.URL = d.url(s, "ready", p)
		return
	}
	x := s.Open(n, "ready", format().ready)
	if log := x.Text("log"); log != "" {
		var err error
		if p.Ready.Log, err = regexp.Compile(log); err != nil {
			d.refuse(x.PosOf("log"), x.At("log"), codeValue, "", "must be a regular expression: %v", err)
		}
	}
}

// asked decodes the operations of the system, and their limits.
func (d *decoder) asked(s *doctree.Section, p *sut.Plan) {
	entries := s.Entries("operations")
	if n := s.Value("operations"); n != nil && len(n.Members()) == 0 {
		d.refuse(n.Pos, "operations", "empty", "", "must not be empty")
	}
	for _, e := range entries {
		p.Operations = append(p.Operations, d.operation(s, e, p.Kind))
	}
	d.input(s.Sub("input"), p)
	p.Reply = d.path(s, "reply")
	d.reset(s, p)
	d.limits(s.Sub("limits"), p)
}

// operationOf checks the name of an operation once all are known.
func (d *decoder) operationOf(s *doctree.Section, key string, p *sut.Plan) *sut.Operation {
	name := s.Text(key)
	o, ok := sut.Find(p.Operations, name)
	complete := p.Kind == sut.HTTP && p.OpenAPI == ""
	if !ok && complete && name != "" {
		var names []string
		for _, o := range p.Operations {
			names = append(names, o.Name)
		}
		d.refuse(s.PosOf(key), s.At(key), codeName, nearest(name, "operations", names), "there is no operation %q", name)
	}
	return o
}

// nearest suggests the name that was probably meant, or all names.
func nearest(name, what string, names []string) string {
	hint := diag.DidYouMean(name, names)
	if hint == "" && len(names) > 0 {
		hint = what + ": " + strings.Join(names, ", ")
	}
	return hint
}

func (d *decoder) input(s *doctree.Section, p *sut.Plan) {
	if !s.There() {
		return
	}
	if !s.Given("operation") && p.Kind != "" && p.Kind != sut.Command && p.Kind != sut.Chat && p.Kind != sut.WASM {
		s.Missing("operation", "the operation that takes the input")
	}
	op := d.operationOf(s, "operation", p)
	p.Input.Operation, p.Input.Argument = s.Text("operation"), s.Text("argument")
	if raw := s.Text("body"); raw != "" && s.Given("argument") {
		d.refuse(s.PosOf("argument"), s.At("argument"), codeConflict, "", "the input goes to one place: the raw body or an argument")
	}
	if p.Input.Argument == "" || op == nil || len(op.Arguments) == 0 {
		return
	}
	if names := argumentNames(op.Arguments); !slices.Contains(names, p.Input.Argument) {
		d.refuse(s.PosOf("argument"), s.At("argument"), codeName, nearest(p.Input.Argument, "arguments", names),
			"the operation %s has no argument %q", op.Name, p.Input.Argument)
	}
}

func (d *decoder) reset(s *doctree.Section, p *sut.Plan) {
	n := s.Value("reset")
	if n == nil {
		return
	}
	if n.Kind == doctree.Map {
		x := s.Open(n, "reset", format().reset)
		d.operationOf(x, "operation", p)
		p.Reset = sut.Reset{Mode: sut.ResetOperation, Operation: x.Text("operation")}
		return
	}
	if p.Reset.Mode = sut.ResetMode(s.Text("reset")); p.Reset.Mode == sut.ResetRestart {
		d.needsCommand(s, "reset", p, "", "restart needs a program that Thresh starts, but there is no command")
	}
}

func (d *decoder) limits(s *doctree.Section, p *sut.Plan) {
	if !s.There() {
		return
	}
	if n := s.Value("timeout"); n != nil {
		p.Limits.Timeout = d.duration(n, s.At("timeout"))
	}
	if n := s.Value("rate"); n != nil {
		p.Limits.Rate = d.rate(n, s.At("rate"))
	}
	p.Limits.Concurrency, p.Limits.Retries = s.Integer("concurrency"), s.Integer("retries")
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
		d.refuse(n.Pos, path, codeValue, "", "must be a duration above 0, such as 5s or 500ms, got %s", describeValue(n))
		return 0
	}
	return v
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

func (d *decoder) rate(n *doctree.Node, path string) sut.Rate {
	count, unit, ok := strings.Cut(n.Text, "/")
	v, err := strconv.Atoi(strings.TrimSpace(count))
	per := rateUnits[strings.TrimSpace(unit)]
	if !ok || err != nil || v < 1 || per == 0 {
		d.refuse(n.Pos, path, codeValue, "", "must be a rate, such as 50/s, 600/m or 1000/h, got %s", describeValue(n))
		return sut.Rate{}
	}
	return sut.Rate{Count: v, Per: per}
}
