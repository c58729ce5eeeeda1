package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// editor is a client of thresh lsp, over the pipes of a process.
type editor struct {
	t    testing.TB
	dir  string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *textproto.Reader
	last int
	said []incoming // what came while something else was waited for
}

type incoming struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func openEditor(t testing.TB) *editor {
	t.Helper()
	e := &editor{t: t, dir: t.TempDir()}
	var err error
	e.dir, err = filepath.EvalSymlinks(e.dir)
	must(t, err)
	e.cmd = child(t, "thresh", "lsp")
	e.cmd.Dir = e.t.TempDir() // and not where the documents are: the client says that
	e.cmd.Stderr = os.Stderr
	e.in, err = e.cmd.StdinPipe()
	must(t, err)
	out, err := e.cmd.StdoutPipe()
	must(t, err)
	e.out = textproto.NewReader(bufio.NewReader(out))
	must(t, e.cmd.Start())
	if got := e.failed("textDocument/hover", nil); !strings.Contains(got, "before initialize") {
		t.Errorf("a question before initialize: %s", got)
	}
	var hello struct{ ServerInfo struct{ Name string } }
	e.ask("initialize", `{"processId":null,"rootUri":"file://`+e.dir+`","capabilities":{"window":{"showDocument":{"support":true}},"workspace":{"codeLens":{"refreshSupport":true}}}}`, &hello)
	if hello.ServerInfo.Name != "thresh" {
		t.Errorf("the server is %q", hello.ServerInfo.Name)
	}
	e.send("initialized", "{}", false)
	return e
}

// leave ends the conversation as an editor does.
func (e *editor) leave() {
	e.t.Helper()
	e.ask("shutdown", "null", nil)
	e.send("exit", "null", false)
	if err := e.cmd.Wait(); err != nil {
		e.t.Errorf("thresh lsp: %v", err)
	}
}

func (e *editor) send(method, params string, request bool) {
	e.t.Helper()
	id := ""
	if request {
		e.last++
		id = fmt.Sprintf(`"id":%d,`, e.last)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, id, method, params)
	_, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	must(e.t, err)
}

func (e *editor) receive() incoming {
	e.t.Helper()
	head, err := e.out.ReadMIMEHeader()
	must(e.t, err)
	n, err := strconv.Atoi(head.Get("Content-Length"))
	must(e.t, err)
	body := make([]byte, n)
	_, err = io.ReadFull(e.out.R, body)
	must(e.t, err)
	var m incoming
	must(e.t, json.Unmarshal(body, &m))
	return m
}

func (e *editor) answer(method, params string) incoming {
	e.t.Helper()
	e.send(method, params, true)
	for {
		m := e.receive()
		if m.Method == "" && string(m.ID) == strconv.Itoa(e.last) {
			return m
		}
		e.said = append(e.said, m)
	}
}

func (e *editor) ask(method, params string, into any) {
	e.t.Helper()
	m := e.answer(method, params)
	if m.Error != nil {
		e.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if into != nil {
		must(e.t, json.Unmarshal(m.Result, into))
	}
}

// failed is what the server says of a request that it refuses.
func (e *editor) failed(method string, params map[string]any) string {
	e.t.Helper()
	body, err := json.Marshal(params)
	must(e.t, err)
	m := e.answer(method, string(body))
	if m.Error == nil {
		e.t.Fatalf("%s was answered: %s", method, m.Result)
	}
	return m.Error.Message
}

// wait returns the next message of a method that holds a text.
func (e *editor) wait(method, holds string) string {
	e.t.Helper()
	for {
		for i, m := range e.said {
			if m.Method == method && strings.Contains(string(m.Params), holds) {
				e.said = slices.Delete(e.said, i, i+1)
				return string(m.Params)
			}
		}
		e.said = append(e.said, e.receive())
	}
}

func (e *editor) uri(name string) string { return "file://" + filepath.Join(e.dir, name) }

func (e *editor) open(name, text string) {
	e.t.Helper()
	body, err := json.Marshal(text)
	must(e.t, err)
	e.send("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"yaml","version":1,"text":%s}}`, e.uri(name), body), false)
}

// edit replaces a span of one line.
func (e *editor) edit(name string, line, from, to int, text string) {
	e.t.Helper()
	e.change(name, line, from, line, to, text)
}

// change replaces a span.
func (e *editor) change(name string, line, from, toLine, to int, text string) {
	e.t.Helper()
	e.send("textDocument/didChange", fmt.Sprintf(
		`{"textDocument":{"uri":%q,"version":2},"contentChanges":[{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"text":%q}]}`,
		e.uri(name), line, from, toLine, to, text), false)
}

// at are the parameters of a question about a place.
func (e *editor) at(name string, line, character int) string {
	return fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d},"range":{"start":{"line":%d,"character":0},"end":{"line":%d,"character":999}},"context":{"diagnostics":[]}}`,
		e.uri(name), line, character, line, line)
}

type label struct {
	Label, Detail string
	TextEdit      struct{ NewText string }
}

func labels(list []label) string {
	var words []string
	for _, x := range list {
		words = append(words, x.Label)
	}
	return strings.Join(words, " ")
}

const agentFile = `version: "2.0"
agent:
  endpoint: http://127.0.0.1:1/chat
  type: htp
golden_prompts:
  - "Grüße 😀"
invariants:
  - type: latency
    max_ms: 100
`

// A conversation as an editor has it: open, see what is wrong, take the fix,
// complete, ask what a key means.
func TestEditorTypesADocument(t *testing.T) {
	e := openEditor(t)
	defer e.leave()
	e.open("notes.yaml", "shopping:\n  - milk\n")
	if got := e.wait("textDocument/publishDiagnostics", "notes.yaml"); !strings.Contains(got, `"diagnostics":[]`) {
		t.Errorf("a file that is none of ours: %s", got)
	}
	e.open("flakestorm.yaml", agentFile)
	got := e.wait("textDocument/publishDiagnostics", "flakestorm.yaml")
	for _, want := range []string{`"start":{"line":3,"character":8},"end":{"line":3,"character":11}`, `"severity":1`, `"code":"flakestorm.unknown-word"`, "did you mean http?"} {
		if !strings.Contains(got, want) {
			t.Errorf("the diagnostics lack %s:\n%s", want, got)
		}
	}
	var fixes []struct {
		Title string
		Edit  struct {
			Changes map[string][]struct{ NewText string }
		}
	}
	e.ask("textDocument/codeAction", e.at("flakestorm.yaml", 3, 0), &fixes)
	if len(fixes) != 1 || fixes[0].Title != "Change to http" || fixes[0].Edit.Changes[e.uri("flakestorm.yaml")][0].NewText != "http" {
		t.Fatalf("the fixes: %+v", fixes)
	}
	e.edit("flakestorm.yaml", 3, 8, 11, "http")
	if got := e.wait("textDocument/publishDiagnostics", "flakestorm.yaml"); strings.Contains(got, `"severity":1`) {
		t.Errorf("after the fix: %s", got)
	}
	// Characters are counted in UTF-16 units: a fault behind an emoji is placed by them.
	e.edit("flakestorm.yaml", 5, 14, 14, ", promt: x}")
	e.edit("flakestorm.yaml", 5, 4, 4, "{prompt: ")
	e.wait("textDocument/publishDiagnostics", `"start":{"line":5,"character":25}`)
	e.edit("flakestorm.yaml", 5, 23, 34, "")
	e.edit("flakestorm.yaml", 5, 4, 13, "")
	var list []label
	e.edit("flakestorm.yaml", 8, 15, 15, "\n    ")
	e.ask("textDocument/completion", e.at("flakestorm.yaml", 9, 4), &list)
	if got := labels(list); !strings.Contains(got, "percentile") || strings.Contains(got, "max_ms") || strings.Contains(got, "value") {
		t.Errorf("keys of a latency invariant that has max_ms: %s", got)
	}
	e.ask("textDocument/completion", e.at("flakestorm.yaml", 7, 13), &list)
	if got := labels(list); !strings.Contains(got, "latency contains") && !strings.Contains(got, "contains_all") && !strings.Contains(got, "contains") {
		t.Errorf("words of type: %s", got)
	}
	var about struct{ Contents struct{ Value string } }
	e.ask("textDocument/hover", e.at("flakestorm.yaml", 8, 6), &about)
	if !strings.Contains(about.Contents.Value, "**max_ms**: number") && !strings.Contains(about.Contents.Value, "**max_ms**: integer") {
		t.Errorf("hover: %q", about.Contents.Value)
	}
	if got := e.failed("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": "file:///nowhere"}}); !strings.Contains(got, "is not open") {
		t.Errorf("a document that is not open: %s", got)
	}
	if got := e.failed("textDocument/rename", map[string]any{}); !strings.Contains(got, "textDocument/rename") {
		t.Errorf("a method that there is not: %s", got)
	}
}

const pageText = "# A page\n\n" + "```yaml spec-test\nid: HOLDS\ntype: cli.run\nharness:\n  entrypoint: echo held\nassert:\n  - target: stdout\n    must:\n      - contain: [held]\n```\n\n" +
	"```yaml spec-test\nid: FAILS\ntype: cli.run\nharness:\n  entrypoint: echo other\nassert:\n  - target: stdout\n    must:\n      - contain: [held]\n```\n"

type lens struct {
	Range   struct{ Start struct{ Line int } }
	Command struct {
		Title, Command string
		Arguments      []string
	}
}

// Lenses run a document and a case of it, and show the finding where it is.
func TestEditorRunsADocument(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the page runs echo")
	}
	e := openEditor(t)
	defer e.leave()
	must(t, os.WriteFile(filepath.Join(e.dir, "page.md"), []byte(pageText), 0o600))
	e.open("page.md", pageText)
	var list []lens
	e.ask("textDocument/codeLens", e.at("page.md", 0, 0), &list)
	if len(list) != 3 || list[1].Command.Title != "run HOLDS" || list[2].Range.Start.Line != 14 {
		t.Fatalf("the lenses before a run: %+v", list)
	}
	var done struct {
		Verdict, Title string
		Findings       []string
	}
	for i, want := range []string{"pass", "fail"} {
		e.ask("workspace/executeCommand", fmt.Sprintf(`{"command":%q,"arguments":[%q,%q]}`, list[1+i].Command.Command, list[1+i].Command.Arguments[0], list[1+i].Command.Arguments[1]), &done)
		if done.Verdict != want {
			t.Errorf("%s: %+v", list[1+i].Command.Title, done)
		}
	}
	e.wait("window/showMessage", "FAILS: fail")
	e.ask("workspace/executeCommand", fmt.Sprintf(`{"command":"thresh.run","arguments":[%q]}`, e.uri("page.md")), &done)
	if done.Verdict != "fail" || len(done.Findings) != 1 {
		t.Fatalf("the run: %+v", done)
	}
	e.wait("workspace/codeLens/refresh", "")
	if _, err := os.Stat(filepath.Join(e.dir, ".thresh")); err != nil {
		t.Errorf("the run is not kept in the folder of the editor: %v", err)
	}
	e.ask("textDocument/codeLens", e.at("page.md", 0, 0), &list)
	found := list[len(list)-1]
	if len(list) != 4 || !strings.Contains(found.Command.Title, done.Findings[0]) || found.Range.Start.Line != 14 {
		t.Fatalf("the lenses after a run: %+v", list)
	}
	var text string
	e.ask("workspace/executeCommand", fmt.Sprintf(`{"command":%q,"arguments":[%q]}`, found.Command.Command, found.Command.Arguments[0]), &text)
	if !strings.Contains(text, "thresh replay "+done.Findings[0]) {
		t.Errorf("the finding as it is shown:\n%s", text)
	}
	e.wait("window/showDocument", done.Findings[0]+".txt")
	var places []struct {
		Name     string
		Location struct {
			URI   string
			Range struct{ Start struct{ Line int } }
		}
	}
	e.ask("workspace/symbol", fmt.Sprintf(`{"query":%q}`, done.Findings[0]), &places)
	if len(places) != 1 || places[0].Location.URI != e.uri("page.md") || places[0].Location.Range.Start.Line != 14 {
		t.Errorf("the place of the finding: %+v", places)
	}
	e.open("todo.txt", "look at "+done.Findings[0]+" today\n")
	e.ask("textDocument/definition", e.at("todo.txt", 0, 12), &places[0].Location)
	if places[0].Location.URI != e.uri("page.md") || places[0].Location.Range.Start.Line != 14 {
		t.Errorf("from the finding's name in a text: %+v", places[0].Location)
	}
}

// In a model in the language a fix replaces the word that is wrong, and no keys of the IR are
// offered.
func TestEditorTypesAModel(t *testing.T) {
	e := openEditor(t)
	defer e.leave()
	e.open("m.model.star", "# 주문 😀\nOrder = entity(total = int(0, 9), 상태 = enum(\"새\", \"😀\"))\ndef pay():\n    o = any(Ordr)\n    call(\"pay\", o)\n")
	if got := e.wait("textDocument/publishDiagnostics", "m.model.star"); !strings.Contains(got, `"start":{"line":3,"character":12},"end":{"line":3,"character":16}`) {
		t.Errorf("what is marked: %s", got)
	}
	var fixes []struct {
		Edit struct {
			Changes map[string][]struct {
				Range   struct{ Start, End struct{ Line, Character int } }
				NewText string
			}
		}
	}
	e.ask("textDocument/codeAction", e.at("m.model.star", 3, 0), &fixes)
	if got := fmt.Sprint(fixes); len(fixes) != 1 || !strings.HasSuffix(got, "[{{{3 12} {3 16}} Order}]]}}]") {
		t.Errorf("the fixes: %s", got)
	}
	var offered []label
	for _, at := range [][2]int{{1, 0}, {1, 8}, {1, 25}, {3, 4}} {
		if e.ask("textDocument/completion", e.at("m.model.star", at[0], at[1]), &offered); len(offered) > 0 {
			t.Errorf("at %d: %s", at, labels(offered))
		}
	}
}

// A real editor: Neovim shows what the server says and takes its fix.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		if os.Getenv("THRESH_CI") != "" && runtime.GOOS == "linux" {
			t.Fatal("CI tries a real editor, and Neovim is not installed")
		}
		t.Skip("Neovim is not installed: apt-get install neovim")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "flakestorm.yaml")
	must(t, os.WriteFile(file, []byte(agentFile), 0o600))
	server := child(t, "thresh")
	script := filepath.Join(dir, "client.lua")
	must(t, os.WriteFile(script, []byte(fmt.Sprintf(`
vim.lsp.start_client({name = "thresh", cmd = {%q, "lsp"}, root_dir = %q, on_init = function(client)
  vim.lsp.buf_attach_client(0, client.id)
end})
local function await(f) if not vim.wait(20000, f, 20) then print("NEVER " .. debug.traceback()) vim.cmd("cquit 1") end end
await(function() return #vim.diagnostic.get(0) > 0 end)
for _, d in ipairs(vim.diagnostic.get(0)) do print("LINE " .. (d.lnum + 1) .. ": " .. d.message) end
local params = {textDocument = vim.lsp.util.make_text_document_params(), range = {start = {line = 3, character = 0}, ["end"] = {line = 3, character = 12}}, context = {diagnostics = {}}}
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 20000)
for _, a in pairs(answers) do vim.lsp.util.apply_workspace_edit(a.result[1].edit, "utf-16") end
print("NOW " .. vim.api.nvim_buf_get_lines(0, 3, 4, false)[1])
vim.cmd("qall!")
`, server.Path, dir)), 0o600))
	cmd := exec.Command(nvim, "--headless", "-u", "NONE", "-n", file, "-c", "luafile "+script)
	cmd.Env = append(server.Env, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CACHE_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "LINE 4:") || !strings.Contains(string(out), "NOW   type: http") {
		t.Errorf("%v\n%s", err, out)
	}
}
