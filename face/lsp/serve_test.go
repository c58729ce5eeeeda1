package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app"
)

// client is an editor's side of a conversation with a server in this process.
type client struct {
	t       *testing.T
	dir     string // that the editor has open, and the working directory
	in      *io.PipeWriter
	out     chan message // as many as a test waits for, so that the server never does
	last    int
	said    []message // what came while something else was waited for
	left    chan error
	entered []string
	fault   error // of what the server asks its host
}

// begin starts a server. The document tells it nothing yet.
func begin(t *testing.T) *client {
	t.Helper()
	c := &client{t: t, left: make(chan error, 1)}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.dir = dir
	t.Chdir(dir)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c.in, c.out = toServer, make(chan message, 1000)
	go c.listen(fromServer)
	go func() {
		err := Serve(t.Context(), in, out, Config{
			Editor: app.New().Editor(filepath.Join(dir, "store")), Version: "9.8.7",
			Enter: func(dir string) error { c.entered = append(c.entered, dir); return c.fault },
			Show:  func(id string) (string, error) { return "all about " + id, c.fault },
		})
		out.Close()
		c.left <- err
	}()
	t.Cleanup(func() {
		c.in.Close()
		fromServer.Close()
	})
	return c
}

// greet says what the editor can do.
func (c *client) greet(capabilities string) *client {
	c.t.Helper()
	c.ask("initialize", fmt.Sprintf(`{"rootUri":%q,"capabilities":%s}`, uriOf(c.dir), capabilities), nil)
	return c
}

// leave ends the conversation as an editor does.
func (c *client) leave() {
	c.t.Helper()
	c.ask("shutdown", "null", nil)
	c.tell("exit", "null")
	if err := <-c.left; err != nil {
		c.t.Errorf("the server ended with %v", err)
	}
}

func (c *client) post(body string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) tell(method, params string) {
	c.t.Helper()
	c.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// listen takes what the server sends, to its end.
func (c *client) listen(from io.Reader) {
	defer close(c.out)
	for r := textproto.NewReader(bufio.NewReader(from)); ; {
		head, err := r.ReadMIMEHeader()
		if err != nil {
			return
		}
		var m struct {
			message
			JSONRPC string
		}
		n, err := strconv.Atoi(head.Get("Content-Length"))
		body := make([]byte, max(n, 0))
		_, cut := io.ReadFull(r.R, body)
		if err := errors.Join(err, cut, json.Unmarshal(body, &m)); err != nil || m.JSONRPC != "2.0" {
			c.t.Errorf("%v in %v, %s", err, head, body)
			return
		}
		c.out <- m.message
	}
}

func (c *client) receive() message {
	c.t.Helper()
	m, ok := <-c.out
	if !ok {
		c.t.Fatal("the server has left")
	}
	return m
}

// answer returns what the server answers to a request.
func (c *client) answer(method, params string) message {
	c.t.Helper()
	c.last++
	c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.last, method, params))
	for {
		m := c.receive()
		if m.Method == "" && string(m.ID) == strconv.Itoa(c.last) {
			return m
		}
		c.said = append(c.said, m)
	}
}

func (c *client) ask(method, params string, into any) {
	c.t.Helper()
	m := c.answer(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if into != nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			c.t.Fatal(err)
		}
	}
}

// refused returns the code and the text of an error.
func (c *client) refused(method, params string) string {
	c.t.Helper()
	m := c.answer(method, params)
	if m.Error == nil {
		c.t.Fatalf("%s %s was answered: %s", method, params, m.Result)
	}
	return fmt.Sprint(m.Error.Code, " ", m.Error.Message)
}

// wait returns the parameters of the next message of a method.
func (c *client) wait(method string) string {
	c.t.Helper()
	for {
		for i, m := range c.said {
			if m.Method == method {
				c.said = slices.Delete(c.said, i, i+1)
				return string(m.Params)
			}
		}
		c.said = append(c.said, c.receive())
	}
}

func (c *client) uri(name string) string { return uriOf(filepath.Join(c.dir, name)) }

func (c *client) open(name, text string) {
	c.t.Helper()
	c.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":1,"text":%s}}`, c.uri(name), encode(text)))
}

// problems returns what the server publishes next.
func (c *client) problems() (list []diagnostic) {
	c.t.Helper()
	var p struct{ Diagnostics []diagnostic }
	if err := json.Unmarshal([]byte(c.wait("textDocument/publishDiagnostics")), &p); err != nil {
		c.t.Fatal(err)
	}
	return p.Diagnostics
}

// at are the parameters of a question about a place.
func (c *client) at(name string, line, character int) string {
	return fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d},"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}}`,
		c.uri(name), line, character, line, character, line, character)
}

func (c *client) execute(command string, args ...string) message {
	c.t.Helper()
	return c.answer("workspace/executeCommand", fmt.Sprintf(`{"command":%q,"arguments":%s}`, command, encode(args)))
}

func (c *client) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// A server answers by the state of the conversation, and nothing that a client
// sends ends it but its leaving.
func TestConversation(t *testing.T) {
	c := begin(t)
	for _, ask := range [][3]string{
		{"textDocument/hover", `{}`, "-32002 textDocument/hover came before initialize"},
		{"initialize", `[]`, "-32602 initialize: json: cannot unmarshal array"},
		{"shutdown", `null`, "-32002 shutdown came before initialize"},
	} {
		if got := c.refused(ask[0], ask[1]); !strings.HasPrefix(got, ask[2]) {
			t.Errorf("%s: %s", ask[0], got)
		}
	}
	c.fault = errors.New("it is locked")
	var hello struct {
		Capabilities struct {
			PositionEncoding       string
			TextDocumentSync       struct{ Change int }
			ExecuteCommandProvider struct{ Commands []string }
		}
		ServerInfo struct{ Version string }
	}
	c.ask("initialize", fmt.Sprintf(`{"rootUri":%q}`, uriOf(c.dir)), &hello)
	if p := hello.Capabilities; p.PositionEncoding != "utf-16" || p.TextDocumentSync.Change != 2 || len(p.ExecuteCommandProvider.Commands) != 4 || hello.ServerInfo.Version != "9.8.7" {
		t.Errorf("the server is %+v", hello)
	}
	if !slices.Equal(c.entered, []string{c.dir}) {
		t.Errorf("entered %q", c.entered)
	}
	if got := c.wait("window/showMessage"); got != `{"message":"it is locked","type":2}` {
		t.Errorf("a folder that cannot be entered: %s", got)
	}
	for _, ask := range [][3]string{
		{"textDocument/rename", `{}`, "-32601 there is no method textDocument/rename"},
		{"textDocument/hover", `[]`, "-32602 textDocument/hover: json"},
		{"textDocument/hover", `{"textDocument":{"uri":"file:///nowhere"}}`, "-32602 file:///nowhere is not open"},
		{"workspace/symbol", `[]`, "-32602 workspace/symbol: json"},
		{"workspace/executeCommand", `[]`, "-32602 workspace/executeCommand: json"},
		{"workspace/executeCommand", `{"command":"thresh.sing"}`, "-32602 there is no command thresh.sing"},
		{"workspace/executeCommand", `{"command":"thresh.run"}`, "-32602 thresh.run takes the URI of a document that is open"},
		{"workspace/executeCommand", `{"command":"thresh.runCase","arguments":["file:///nowhere","X"]}`, "-32602 thresh.runCase takes the URI"},
		{"workspace/executeCommand", `{"command":"thresh.show","arguments":["F-1"]}`, "-32803 it is locked"},
		{"workspace/executeCommand", `{"command":"thresh.goto","arguments":["F-12345678"]}`, "-32803 "},
	} {
		if got := c.refused(ask[0], ask[1]); !strings.HasPrefix(got, ask[2]) {
			t.Errorf("%s %s: %s", ask[0], ask[1], got)
		}
	}
	// What nobody waits for an answer to is passed over, and so are texts that are not open.
	for _, note := range [][2]string{
		{"$/setTrace", `{}`}, {"textDocument/didOpen", `[]`}, {"textDocument/didChange", `[]`}, {"textDocument/didClose", `[]`}, {"textDocument/didSave", `[]`},
		{"textDocument/didChange", `{"textDocument":{"uri":"file:///nowhere"},"contentChanges":[{"text":"x"}]}`},
		{"textDocument/didClose", `{"textDocument":{"uri":"file:///nowhere"}}`}, {"textDocument/didSave", `{"textDocument":{"uri":"file:///nowhere"}}`},
		{"textDocument/hover", `[]`},
	} {
		c.tell(note[0], note[1])
	}
	c.post(`{"jsonrpc":"2.0","id":"thresh-1","result":null}`)
	c.post(`{`)
	if m := c.receive(); m.Error == nil || m.Error.Code != -32700 || string(m.ID) != "null" {
		t.Errorf("no JSON: %+v", m)
	}
	c.ask("shutdown", "null", nil)
	if got := c.refused("textDocument/hover", "{}"); got != "-32600 textDocument/hover came after shutdown" {
		t.Errorf("a question after shutdown: %s", got)
	}
	if len(c.said) > 0 {
		t.Errorf("said besides: %+v", c.said)
	}
	c.tell("exit", "null")
	if err := <-c.left; err != nil {
		t.Error(err)
	}
}

func TestEndOfAConversation(t *testing.T) {
	for _, end := range []struct {
		name string
		do   func(*client)
		want string // of the error; "": none
	}{
		{"exit at once", func(c *client) { c.tell("exit", "null") }, "the editor exited without a shutdown request"},
		{"gone", func(c *client) { c.in.Close() }, "the editor disconnected: EOF"},
		{"gone after shutdown", func(c *client) { c.ask("shutdown", "null", nil); c.in.Close() }, ""},
		{"gone within a header", func(c *client) { fmt.Fprint(c.in, "Content-Length: 5\r\n"); c.in.Close() }, "reading the header of a message"},
		{"gone within a message", func(c *client) { fmt.Fprint(c.in, "Content-Length: 5\r\n\r\n{"); c.in.Close() }, "reading a message of 5 bytes"},
		{"no length", func(c *client) { fmt.Fprint(c.in, "Content-Type: x\r\n\r\n") }, `Content-Length must be from 0 to 67108864, got ""`},
		{"less than nothing", func(c *client) { fmt.Fprint(c.in, "Content-Length: -1\r\n\r\n") }, `got "-1"`},
		{"too long", func(c *client) { fmt.Fprint(c.in, "Content-Length: 67108865\r\n\r\n") }, `got "67108865"`},
		{"the longest", func(c *client) { fmt.Fprint(c.in, "Content-Length: 67108864\r\n\r\n"); c.in.Close() }, "reading a message of 67108864 bytes"},
		{"an empty one, then gone", func(c *client) { fmt.Fprint(c.in, "Content-Length: 0\r\n\r\n"); c.receive(); c.in.Close() }, "the editor disconnected: EOF"},
	} {
		t.Run(end.name, func(t *testing.T) {
			c := begin(t).greet("{}")
			end.do(c)
			if err := <-c.left; err == nil != (end.want == "") || err != nil && !strings.Contains(err.Error(), end.want) {
				t.Errorf("ended with %v, want %q", err, end.want)
			}
		})
	}
}

const page = "# Page\n\n```yaml spec-test\nid: HOLDS\ntype: text.file\npath: words.txt\nassert: [{target: text, must: [{contain: [one]}]}]\n```\n\n" +
	"```yaml spec-test\nid: FAILS\ntype: text.file\npath: words.txt\nassert: [{target: text, must: [{contain: [two, " + long + "]}]}]\n```\n"

const long = "a-word-that-is-so-long-that-no-title-of-a-finding-has-room-for-the-whole-of-it"

func (c *client) lenses(name string) string {
	c.t.Helper()
	var list []codeLens
	c.ask("textDocument/codeLens", c.at(name, 0, 0), &list)
	var lines []string
	for _, l := range list {
		lines = append(lines, fmt.Sprint(l.Range, " ", l.Command.Title, " ", l.Command.Command, " ", l.Command.Arguments))
	}
	return strings.Join(lines, "\n")
}

// Lenses run a document and its cases, and lead to what was found, which the
// editor shows if it can.
func TestRunsAndFindings(t *testing.T) {
	c := begin(t).greet(`{"window":{"showDocument":{"support":true}},"workspace":{"codeLens":{"refreshSupport":true}}}`)
	defer c.leave()
	c.write("page.md", page)
	c.write("words.txt", "one\n")
	c.open("page.md", page)
	uri := c.uri("page.md")
	before := fmt.Sprintf("{{0 0} {0 6}} run thresh.run [%[1]s]\n{{3 0} {3 9}} run HOLDS thresh.runCase [%[1]s HOLDS]\n{{10 0} {10 9}} run FAILS thresh.runCase [%[1]s FAILS]", uri)
	if got := c.lenses("page.md"); got != before {
		t.Errorf("the lenses before a run:\n%s", got)
	}
	for _, x := range [][3]string{
		{"HOLDS", `{"title":"","verdict":"pass"}`, `{"message":"HOLDS: pass","type":3}`},
		{"FAILS", `{"title":"page.md:14 FAILS: expected text to contain `, `{"message":"FAILS: fail: page.md:14 FAILS: expected text to contain `},
	} {
		m := c.execute("thresh.runCase", uri, x[0])
		said := c.wait("window/showMessage")
		if !strings.HasPrefix(string(m.Result), x[1]) || !strings.HasPrefix(said, x[2]) || strings.HasSuffix(said, `"type":1}`) != (x[0] == "FAILS") {
			t.Errorf("%s: %s, and the editor shows %s", x[0], m.Result, said)
		}
	}
	if m, said := c.execute("thresh.runCase", uri, "NONE"), c.wait("window/showMessage"); m.Error == nil || !strings.Contains(m.Error.Message, `no case "NONE"`) ||
		!strings.Contains(said, "no case") || !strings.HasSuffix(said, `"type":1}`) {
		t.Errorf("a case that there is not: %+v, and the editor shows %s", m.Error, said)
	}
	var ran struct {
		Run, Verdict string
		Findings     []string
	}
	if err := json.Unmarshal(c.execute("thresh.run", uri).Result, &ran); err != nil || ran.Verdict != "fail" || len(ran.Findings) != 1 {
		t.Fatalf("the run: %+v, %v", ran, err)
	}
	if got, want := c.wait("window/showMessage"), `{"message":"fail: 2 cases, 1 finding, run `+ran.Run+`","type":3}`; got != want {
		t.Errorf("after the run the editor shows %s, want %s", got, want)
	}
	if got := c.wait("workspace/codeLens/refresh"); got != "null" {
		t.Errorf("asked to refresh: %s", got)
	}
	id := ran.Findings[0]
	after, full := c.lenses("page.md"), ran.Run+"/"+id
	added, ok := strings.CutPrefix(after, before+"\n")
	title, args, _ := strings.Cut(added, " thresh.show ")
	title, at := strings.CutPrefix(title, "{{10 0} {10 9}} medium "+id+": page.md:14 FAILS: expected text to contain ")
	if !ok || !at || args != "["+full+"]" || strings.Contains(title, long) || len(title) > 60 {
		t.Errorf("the lenses after a run:\n%s", after)
	}
	var list []symbol
	for query, want := range map[string]int{"": 1, strings.ToUpper(id): 1, "TEXT TO contain": 1, "nothing like it": 0} {
		c.ask("workspace/symbol", fmt.Sprintf(`{"query":%q}`, query), &list)
		if len(list) != want {
			t.Errorf("findings named %q: %+v", query, list)
		}
		for _, s := range list {
			if !strings.HasPrefix(s.Name, id+" page.md:14") || s.Kind != 24 || s.Location != (location{uri, span{position{10, 4}, position{10, 4}}}) {
				t.Errorf("a finding named %q: %+v", query, s)
			}
		}
	}
	var text string
	if err := json.Unmarshal(c.execute("thresh.show", full).Result, &text); err != nil || text != "all about "+full {
		t.Errorf("shown: %q, %v", text, err)
	}
	var doc struct {
		URI       string
		TakeFocus bool
		Selection *span
	}
	shown := func() {
		t.Helper()
		doc.Selection = nil
		if err := json.Unmarshal([]byte(c.wait("window/showDocument")), &doc); err != nil || !doc.TakeFocus {
			t.Errorf("%+v, %v", doc, err)
		}
	}
	shown()
	data, err := os.ReadFile(pathOf(doc.URI))
	if scratch := pathOf(doc.URI); err != nil || string(data) != text || filepath.Base(scratch) != id+".txt" || doc.Selection != nil {
		t.Errorf("the text to be shown: %q, %+v, %v", data, doc, err)
	}
	scratch := filepath.Dir(pathOf(doc.URI))
	var place location
	want := location{uri, span{position{10, 4}, position{10, 4}}}
	if err := json.Unmarshal(c.execute("thresh.goto", full).Result, &place); err != nil || place != want {
		t.Errorf("the place of the finding: %+v, %v", place, err)
	}
	if shown(); doc.URI != uri || doc.Selection == nil || *doc.Selection != want.Range {
		t.Errorf("the place to be shown: %+v", doc)
	}
	// Its name, in whatever text, leads there from its first letter to its last.
	c.open("todo.txt", "one\nlook at "+id+" today, and not at F-12\n")
	for from, is := range map[int]bool{7: false, 8: true, 12: true, 8 + len(id): true, 9 + len(id): false, 38: false} {
		m := c.answer("textDocument/definition", c.at("todo.txt", 1, from))
		if got, _ := json.Marshal(want); (string(m.Result) == string(got)) != is || !is && string(m.Result) != "null" {
			t.Errorf("from character %d: %s", from, m.Result)
		}
	}
	if got := c.refused("workspace/executeCommand", fmt.Sprintf(`{"command":"thresh.run","arguments":[%q]}`, c.uri("todo.txt"))); !strings.Contains(got, "todo.txt is not a document") {
		t.Errorf("a run of what is none of ours: %s", got)
	}
	if got := c.wait("window/showMessage"); !strings.HasSuffix(got, `"type":1}`) {
		t.Errorf("the editor shows %s", got)
	}
	if got := c.lenses("todo.txt"); got != "" {
		t.Errorf("the lenses of what is none of ours: %s", got)
	}
	var ids []string
	for _, m := range c.said {
		if m.ID != nil {
			ids = append(ids, string(m.ID))
		}
	}
	if len(ids) > 0 {
		t.Errorf("asked besides: %q", ids)
	}
	t.Cleanup(func() {
		if _, err := os.Stat(scratch); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the texts that were shown are still there: %v", err)
		}
	})
}

// An editor that cannot show a text gets it as the answer alone.
func TestEditorThatShowsNothing(t *testing.T) {
	c := begin(t).greet("{}")
	defer c.leave()
	c.write("page.md", page)
	c.write("words.txt", "one\n")
	c.open("page.md", page)
	c.execute("thresh.run", c.uri("page.md"))
	var list []symbol
	if c.ask("workspace/symbol", `{"query":"F-"}`, &list); len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	id, _, _ := strings.Cut(list[0].Name, " ")
	if m := c.execute("thresh.show", id); string(m.Result) != `"all about `+id+`"` {
		t.Errorf("%s", m.Result)
	}
	if m := c.execute("thresh.goto", id); !strings.Contains(string(m.Result), `"line":10`) {
		t.Errorf("%s", m.Result)
	}
	for _, m := range c.said {
		if m.ID != nil {
			t.Errorf("the editor is asked for %s", m.Method)
		}
	}
	// A finding whose document is gone is at no place in it.
	if err := os.Remove(filepath.Join(c.dir, "page.md")); err != nil {
		t.Fatal(err)
	}
	c.ask("workspace/symbol", `{"query":"F-"}`, &list)
	if len(list) != 1 || list[0].Location != (location{URI: c.uri("page.md")}) {
		t.Errorf("of a document that is gone: %+v", list)
	}
}

const agent = "version: \"2.0\"\nagent:\n  endpoint: http://127.0.0.1:1/chat\n  type: htp\ngolden_prompts: [\"a\"]\ninvariants:\n  - type: latency\n    max_ms: 100\n"

// What is wrong is published with each version of a text, and a fix and a key's
// meaning are offered where they stand.
func TestDiagnosticsFixesAndKeys(t *testing.T) {
	c := begin(t).greet("{}")
	defer c.leave()
	c.open("a.yaml", agent)
	list := c.problems()
	want := diagnostic{span{position{3, 8}, position{3, 11}}, 1, "flakestorm.unknown-word", "thresh", "", nil}
	if len(list) != 1 || !strings.HasPrefix(list[0].Message, "agent.type: ") || !strings.HasSuffix(list[0].Message, " (did you mean http?)") {
		t.Fatalf("%+v", list)
	}
	if list[0].Message = ""; !equal(list[0], want) {
		t.Errorf("%+v", list[0])
	}
	// A fix is offered where the range that is asked about meets what is wrong.
	for _, at := range []struct {
		line, from, toLine, to int
		is                     bool
	}{
		{3, 0, 3, 7, false}, {3, 0, 3, 8, true}, {3, 9, 3, 9, true}, {3, 11, 3, 40, true}, {3, 12, 3, 40, false}, {2, 9, 4, 0, true}, {0, 0, 2, 30, false}, {4, 0, 5, 0, false},
	} {
		var fixes []codeAction
		c.ask("textDocument/codeAction", fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}}`,
			c.uri("a.yaml"), at.line, at.from, at.toLine, at.to), &fixes)
		if (len(fixes) == 1) != at.is || len(fixes) > 1 {
			t.Errorf("from %d:%d to %d:%d: %+v", at.line, at.from, at.toLine, at.to, fixes)
		}
		for _, f := range fixes {
			edits := f.Edit.Changes[c.uri("a.yaml")]
			if f.Title != "Change to http" || f.Kind != "quickfix" || !f.IsPreferred || len(f.Diagnostics) != 1 || len(edits) != 1 || edits[0] != (textEdit{want.Range, "http"}) {
				t.Errorf("the fix: %+v", f)
			}
		}
	}
	var about hover
	if c.ask("textDocument/hover", c.at("a.yaml", 7, 6), &about); !strings.HasPrefix(about.Contents.Value, "**max_ms**") || about.Contents.Kind != "markdown" ||
		about.Range != (span{position{7, 4}, position{7, 10}}) {
		t.Errorf("the key: %+v", about)
	}
	if m := c.answer("textDocument/hover", c.at("a.yaml", 7, 0)); string(m.Result) != "null" {
		t.Errorf("beside a key: %s", m.Result)
	}
	var items []completion
	c.ask("textDocument/completion", c.at("a.yaml", 6, 17), &items)
	for i, x := range items {
		if x.Kind != 12 || x.SortText != fmt.Sprintf("%04d", i) || x.TextEdit.NewText != x.Label || x.TextEdit.Range != (span{position{6, 10}, position{6, 17}}) {
			t.Errorf("a word: %+v", x)
		}
	}
	if !slices.ContainsFunc(items, func(x completion) bool { return x.Label == "latency" && x.Documentation == "what to check" }) {
		t.Errorf("words: %+v", items)
	}
	c.ask("textDocument/completion", c.at("a.yaml", 7, 4), &items)
	if !slices.ContainsFunc(items, func(x completion) bool { return x.Label == "negate" && x.Kind == 10 && x.Detail == "boolean" }) {
		t.Errorf("keys: %+v", items)
	}
	c.open("notes.txt", "nothing\n")
	if list := c.problems(); list == nil || len(list) > 0 {
		t.Errorf("what is none of ours: %#v", list)
	}
	if m := c.answer("textDocument/completion", c.at("notes.txt", 0, 0)); string(m.Result) != "[]" {
		t.Errorf("words for what is none of ours: %s", m.Result)
	}
}

func equal(a, b diagnostic) bool { return string(encode(a)) == string(encode(b)) }

// What another file has wrong is shown at the top of the document, with the way
// there; it is looked at again when the document is saved.
func TestProblemsInOtherFiles(t *testing.T) {
	c := begin(t).greet("{}")
	defer c.leave()
	const text = "{\"schema_version\": \"thresh.operators.v1\", \"name\": \"x\",\n  \"seeds\": [\"seeds.jsonl\"]}\n"
	c.write("seeds.jsonl", "{\"id\": \"a\", \"text\": \"t\"}\n{\"id\":\n")
	c.open("op.json", text)
	list := c.problems()
	i := slices.IndexFunc(list, func(d diagnostic) bool { return d.Code == "operator.seed-syntax" })
	if i < 0 || list[i].Range != (span{position{0, 0}, position{0, 54}}) || len(list[i].Related) != 1 || list[i].Related[0].Message != "here" ||
		list[i].Related[0].Location != (location{c.uri("seeds.jsonl"), span{position{1, 0}, position{1, 0}}}) {
		t.Fatalf("%+v", list)
	}
	// Nothing that could be typed in this document mends it.
	if m := c.answer("textDocument/codeAction", c.at("op.json", 0, 3)); string(m.Result) != "[]" {
		t.Errorf("fixes: %s", m.Result)
	}
	c.write("seeds.jsonl", "{\"id\": \"a\", \"text\": \"a text of some words\", \"bucket_id\": \"INPUT_ROBUSTNESS\", \"surface\": \"PROMPT_TEXT\"}\n")
	c.tell("textDocument/didSave", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, c.uri("op.json")))
	if list := c.problems(); slices.ContainsFunc(list, func(d diagnostic) bool { return d.Code == "operator.seed-syntax" }) {
		t.Errorf("after it was mended: %+v", list)
	}
	// What stands elsewhere in the document itself is related, too.
	c.open("twice.json", "{\"schema_version\": \"thresh.operators.v1\",\n \"name\": \"x\",\n \"name\": \"y\", \"seeds\": [\"seeds.jsonl\"]}\n")
	list = c.problems()
	i = slices.IndexFunc(list, func(d diagnostic) bool { return len(d.Related) > 0 })
	if i < 0 || list[i].Range.Start.Line != 2 || list[i].Related[0].Location.URI != c.uri("twice.json") || list[i].Related[0].Location.Range.Start.Line != 1 ||
		list[i].Related[0].Message != "given first here" {
		t.Errorf("a key that is given twice: %+v", list)
	}
}

// A text is what the editor's changes make of it, one after the other.
func TestChangesOfAText(t *testing.T) {
	c := begin(t).greet("{}")
	defer c.leave()
	c.open("a.yaml", agent)
	if list := c.problems(); len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	for _, x := range []struct {
		changes string
		where   string // what is wrong then
	}{
		{`{"range":{"start":{"line":3,"character":9},"end":{"line":3,"character":9}},"text":"t"}`, ""},
		{`{"range":{"start":{"line":3,"character":9},"end":{"line":3,"character":10}},"text":""},{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"# 😀\n"}`, "{{4 8} {4 11}}"},
		{`{"range":{"start":{"line":0,"character":2},"end":{"line":1,"character":0}},"text":"é\n"}`, "{{4 8} {4 11}}"},
		{`{"range":{"start":{"line":1,"character":0},"end":{"line":0,"character":0}},"text":""},{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"text":""}`, "{{3 8} {3 11}}"},
		{`{"text":""},{"range":{"start":{"line":9,"character":9},"end":{"line":9,"character":9}},"text":` + string(encode(strings.Replace(agent, "htp", "http", 1))) + `}`, ""},
		{`{"text":` + string(encode("\n"+agent)) + `}`, "{{4 8} {4 11}}"},
	} {
		c.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":2},"contentChanges":[%s]}`, c.uri("a.yaml"), x.changes))
		got := ""
		for _, d := range c.problems() {
			got += fmt.Sprint(d.Range)
		}
		if got != x.where {
			t.Errorf("after %s: wrong at %q, want %q", x.changes, got, x.where)
		}
	}
	// A text that is closed has no problems, and one that is opened again begins anew.
	c.open("a.yaml", agent)
	if list := c.problems(); list == nil || len(list) != 0 {
		t.Errorf("of the text before: %+v", list)
	}
	if list := c.problems(); len(list) != 1 {
		t.Errorf("of the text now: %+v", list)
	}
	c.tell("textDocument/didClose", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, c.uri("a.yaml")))
	if list := c.problems(); list == nil || len(list) != 0 {
		t.Errorf("of a text that is closed: %+v", list)
	}
	if got := c.refused("textDocument/hover", c.at("a.yaml", 0, 0)); !strings.HasSuffix(got, "is not open") {
		t.Error(got)
	}
	c.open("Untitled.md", page)
	c.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":"untitled:Page.md","text":%s}}`, encode(page)))
	if m := c.answer("textDocument/codeLens", `{"textDocument":{"uri":"untitled:Page.md"}}`); !strings.Contains(string(m.Result), "run HOLDS") {
		t.Errorf("a text that has no file yet: %s", m.Result)
	}
}
