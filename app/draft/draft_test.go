package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

func TestRead(t *testing.T) {
	folder := func(path string) bool { return path == "docs" || path == "docs/" }
	for line, want := range map[string]string{
		"./parser @@":                            "program parser",
		"python3 -u tools/cli.py @@":             "program cli",
		"/usr/bin/jq .":                          "program jq",
		"docs/":                                  "pages docs",
		"README.md":                              "pages README",
		"http://127.0.0.1:8000/openapi.json":     "service 127.0.0.1-8000",
		"api.yaml":                               "service api",
		"mcp: python3 server.py":                 "server server",
		"mcp:./server --fast":                    "server server",
		"module.wasm":                            "module module",
		"chat http://localhost:11434/v1":         "chat localhost-11434",
		"agent.py:chain":                         "agent agent",
		"lib/agent.py:bot.answer":                "agent agent",
		"":                                       "! nothing to try",
		"mcp:":                                   "! needs the command",
		"chat":                                   "! needs the URL",
		"chat localhost":                         "! begins with http",
		"docs/ more":                             "! try one thing at a time",
		"module.wasm -- seed":                    "module module",
		"docs/ -- seed":                          "! seeds are for a program",
		"chat http://a.example http://b.example": "! try one thing",
	} {
		words, seeds, _ := strings.Cut(line, " -- ")
		thing, err := Read(strings.Fields(words), strings.Fields(seeds), folder)
		switch why, bad := strings.CutPrefix(want, "! "); {
		case bad && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%q: %v, want an error with %q", line, err, why)
		case !bad && err != nil:
			t.Errorf("%q: %v", line, err)
		case !bad && string(thing.Kind)+" "+thing.Name() != want:
			t.Errorf("%q: %s %s, want %s", line, thing.Kind, thing.Name(), want)
		}
	}
}

// checkDraft compares all files of a draft, its flags and questions with testdata.
func checkDraft(t *testing.T, name string, d *Draft) {
	t.Helper()
	var b strings.Builder
	b.WriteString("thresh run " + strings.Join(d.Words(d.Path()), " ") + "\n")
	if strings.HasPrefix(name, "pages") {
		b.WriteString(d.describe() + "\n")
	}
	for _, q := range d.Questions {
		b.WriteString(d.Place(q) + ": " + q.Ask + "\n")
	}
	for _, f := range d.Files {
		b.WriteString("-- " + f.Name + " --\n" + string(f.Data))
	}
	golden.Check(t, filepath.Join("testdata", name), b.String())
}

func TestDraftProgram(t *testing.T) {
	checkDraft(t, "program.txt", DraftProgram(&ProgramFacts{
		Name: "parser", Folder: "/home/me/try-parser", Command: []string{"/home/me/parser", "-f", "@@"}, Allow: "/home/me/parser",
		Seeds: []Seed{{"000-a", []byte("KV 1\n")}, {"001-b", []byte("KV [2]\n")}}, Refused: 1,
		Slowest: 120 * time.Millisecond, Usual: 5 * time.Millisecond, Exits: map[int]string{1: "", 65: "line 3: no key"}, Words: []byte("\"KV\"\n"), Lanes: 2, Unsanitized: true,
		Unset: []string{"KV_HOME", "KV_MODE"},
	}))
	checkDraft(t, "stdin.txt", DraftProgram(&ProgramFacts{
		Name: "cat", Folder: "/home/me/try-cat", Command: []string{"/bin/cat"}, Made: true, Seeds: Seeds()[:1], Slowest: time.Millisecond, Lanes: 2,
	}))
	d := DraftProgram(&ProgramFacts{Name: "p", Folder: "/p", Command: []string{"/p"}, Made: true, Seeds: Seeds()[:1], Refused: len(Seeds()), Exits: map[int]string{1: ""}, Lanes: 1})
	if says := d.describe(); !strings.Contains(says, "refuses small inputs of 17 common formats, so little of it is tested") || strings.Contains(says, "accepts") {
		t.Error(says)
	}
}

func TestDictionary(t *testing.T) {
	for text, want := range map[string]string{
		"if x == \"MAGIC\" or 'k-v' or \"two words\" in y": "\"MAGIC\"\n\"k-v\"\n",
		"\x7fELF\x00MAGIC\x00_init\x00GLIBC_2.4\x00a\x00":  "\"MAGIC\"\n",
		"nothing": "",
		"\x00asm\x01\x00\x00\x00\x01\x04\x01`\x00\x00\x0b\x15\x01\x00A\x80\x08\x0b\x0dSKU-\x00two words": "\"SKU-\"\n\"two\"\n\"words\"\n",
	} {
		if got := string(Dictionary([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDraftAgent(t *testing.T) {
	checkDraft(t, "python.txt", DraftAgent(&AgentFacts{Folder: "/home/me/try-agent", Entry: "agent:chain", Dir: "/home/me"}))
	checkDraft(t, "read.txt", DraftAgent(&AgentFacts{Folder: "/home/me/try-shop", Entry: "shop:answer", Dir: "/home/me", Text: AgentText{
		Questions: []string{"Where is my order 99?"}, Words: []string{"refund"}, IDs: []string{"99", "98", "97"},
		System: []string{"You are Heron (the agent of Acme). Be brief.\nBe kind."}, Tools: []string{"shop:lookup", "shop:refund", "shop:order_status", "shop:cancel"}, Guarded: []string{"shop:lookup", "shop:refund"}, Model: true,
	}}))
	checkDraft(t, "chat.txt", DraftAgent(&AgentFacts{Folder: "/home/me/try-localhost", URL: "http://localhost:11434/v1", Models: []string{"small", "big"}}))
}

func TestDraftModule(t *testing.T) {
	i32, i64, f64 := dut.TypeI32, dut.TypeI64, dut.TypeF64
	export := func(name string, params, results []dut.ValType) dut.Export {
		return dut.Export{Name: name, Kind: dut.Func, Sig: dut.Signature{Params: params, Results: results}}
	}
	list := []dut.Export{
		export("alloc", []dut.ValType{i32}, []dut.ValType{i32}), export("_initialize", nil, nil), {Name: "memory", Kind: dut.Memory},
		export("put", []dut.ValType{i32, i32, i64}, nil), export("get", []dut.ValType{i32}, []dut.ValType{i64}),
		export("scale", []dut.ValType{f64}, nil), export("pair", nil, []dut.ValType{i32, i32}),
	}
	pairs := func(*dut.Export, int) bool { return true }
	calls, left, single := Exports(list, pairs)
	if single != "" {
		t.Errorf("%s takes bytes, but get takes a number", single)
	}
	calls[1].Params[0].Place = true
	checkDraft(t, "module.txt", DraftModule(&ModuleFacts{Name: "store", Folder: "/home/me/try-store", Path: "/home/me/store.wasm", Calls: calls, Left: left, Words: []byte("\"MAGIC\"\n")}))

	parse := append(slices.Clone(list[:3]), export("parse", []dut.ValType{i32, i32}, []dut.ValType{i32}), export("version", nil, []dut.ValType{i32}))
	if some, left, _ := Exports([]dut.Export{export("", nil, nil), parse[3]}, pairs); len(some) != 1 || !slices.Equal(left, []string{"one without a name"}) {
		t.Errorf("%v, and not %q", some, left)
	}
	if _, _, single = Exports(parse, pairs); single != "parse" {
		t.Errorf("%q takes bytes, want parse", single)
	}
	if _, _, single = Exports(parse[1:], pairs); single != "" {
		t.Errorf("%s takes bytes, but there is no allocator", single)
	}
	if _, _, single = Exports(append(parse, list[4]), pairs); single != "" {
		t.Errorf("%s takes bytes, but get takes a number too", single)
	}
	named := []dut.Export{export("free", []dut.ValType{i32}, nil), export("freeze", []dut.ValType{i32}, nil), export("allocate_seat", nil, nil), export("deallocate", nil, nil), export("set_free", nil, []dut.ValType{i32})}
	if calls, _, _ := Exports(named, pairs); len(calls) != 3 || calls[0].Name != "freeze" || calls[1].Name != "allocate_seat" || calls[2].Name != "set_free" {
		t.Errorf("%+v are called", calls)
	}
	ends := []dut.Export{export("list_free", []dut.ValType{i32}, nil), export("list_dealloc", []dut.ValType{i32}, nil), export("slot_free", nil, []dut.ValType{i32}), export("dealloc", nil, nil)}
	if calls, left, _ := Exports(ends, pairs); len(calls) != 1 || calls[0].Name != "slot_free" || !slices.Equal(left, []string{"list_free (by its name, it frees memory)", "list_dealloc (by its name, it frees memory)"}) {
		t.Errorf("%+v are called, not %q", calls, left)
	}
	system := SystemOfModule("parse", "/home/me/parse.wasm", "parse")
	checkDraft(t, "bytes.txt", DraftProgram(&ProgramFacts{Name: "parse", Folder: "/home/me/try-parse", Command: []string{"/home/me/parse.wasm"}, System: &system,
		Function: "parse", Seeds: []Seed{{"000-a", []byte("[1]")}}, Lanes: 2}))
}

func TestDraftSystem(t *testing.T) {
	checkDraft(t, "service.txt", DraftSystem(&SystemFacts{
		Name: "shop", Folder: "/home/me/try-shop", Kind: sut.HTTP, URL: "http://127.0.0.1:8000", OpenAPI: "/openapi.json",
		Operations: []sut.Operation{{Name: "look", Method: "GET"}, {Name: "order", Method: "POST"}},
	}))
	checkDraft(t, "server.txt", DraftSystem(&SystemFacts{
		Name: "server", Folder: "/home/me/try-server", Kind: sut.MCP, Command: []string{"/usr/bin/python3", "/home/me/server.py"}, Yes: true,
		Operations: []sut.Operation{{Name: "add"}, {Name: "wipe", Destroys: true}},
	}))
}

// An endpoint that refuses callers without a key is asked for one.
func TestKeyOfAChat(t *testing.T) {
	d := DraftAgent(&AgentFacts{URL: "http://localhost:11434/v1", Denied: true})
	if text := string(d.Files[0].Data); !strings.Contains(text, "QUESTION: which key?") || !strings.Contains(d.Questions[1].Ask, "which key?") {
		t.Errorf("%+v\n%s", d.Questions, text)
	}
}

// Credentials that a description wants are sent as soon as their variables are set; a
// model's must be.
func TestCredentials(t *testing.T) {
	f := SystemFacts{Name: "shop", Kind: sut.HTTP, URL: "http://127.0.0.1:8000", OpenAPI: "/openapi.json",
		Headers: [][2]string{{"X-Key", "${SHOP_KEY}"}, {"Cookie", "sid=${SHOP_KEY}"}}, Query: [][2]string{{"key", "${SHOP_KEY}"}}}
	lines := "headers: {\"X-Key\": \"${SHOP_KEY}\", \"Cookie\": \"sid=${SHOP_KEY}\"}\nquery: {\"key\": \"${SHOP_KEY}\"}\n"
	for name, x := range map[string]struct {
		unset, must bool
		lines       string
		asks        int
	}{
		"set":             {false, false, "\n" + lines, 0},
		"not set":         {true, false, "\n# " + strings.ReplaceAll(lines, "\nquery", "\n# query"), 1},
		"of a model":      {true, true, "\n" + lines, 1},
		"of a model, set": {false, true, "\n" + lines, 0},
	} {
		f.Unset = x.unset
		d, b := &Draft{}, &strings.Builder{}
		credentials(b, &f, d, x.must)
		if !strings.HasSuffix(b.String(), x.lines) || len(d.Questions) != x.asks || x.asks > 0 && !strings.Contains(b.String(), d.Questions[0].Line) {
			t.Errorf("%s: %v\n%s", name, d.Questions, b)
		}
	}
}

// What collections, methods, names and schemas say of a service.
func TestDraftService(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "todo.openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := openapi.Operations(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	facts := func(url string) *ServiceFacts {
		return &ServiceFacts{Of: "todo.openapi.json", SystemFacts: SystemFacts{Name: "todo", Folder: "/home/me/todo", Kind: sut.HTTP, URL: url, Operations: list}}
	}
	checkDraft(t, "todo.txt", DraftService(facts("http://127.0.0.1:8000")))
	if d := DraftService(facts("https://todo.example")); !strings.Contains(string(d.Files[0].Data), "# Skipped: post /api/users: it may accept each email only once") ||
		!strings.Contains(string(d.Files[1].Data), "# reset: {operation: \"post /api/reset\"}") {
		t.Errorf("a service elsewhere is not reset unless somebody says so\n%s%s", d.Files[0].Data, d.Files[1].Data)
	}
}

// What is made within an item may be named without it later.
func TestDraftPartsWithPathsOfTheirOwn(t *testing.T) {
	object := `{"content": {"application/json": {"schema": {"type": "object", "required": ["count"], "properties": {"id": {"type": "integer"}, "count": {"type": "integer"}, "state": {"enum": ["waiting", "collected"], "readOnly": true}}}}}}`
	list, err := openapi.Operations([]byte(`{"openapi": "3.1.0", "paths": {
		"/lockers": {"post": {"operationId": "add", "responses": {"201": {"content": {"application/json": {"schema": {"properties": {"id": {"type": "integer"}}}}}}}}},
		"/lockers/{locker_id}": {"get": {"operationId": "get", "responses": {"200": {}}}},
		"/lockers/{locker_id}/parcels": {"parameters": [{"name": "locker_id", "in": "path", "required": true, "schema": {"type": "integer"}}], "post": {"operationId": "drop", "requestBody": `+object+`, "responses": {"201": `+object+`}}},
		"/lockers/{locker_id}/shake": {"parameters": [{"name": "locker_id", "in": "path", "required": true, "schema": {"type": "integer"}}], "post": {"operationId": "shake", "requestBody": `+strings.ReplaceAll(object, "count", "force")+`, "responses": {"200": {}}}},
		"/parcels/{parcel_id}/collect": {"parameters": [{"name": "parcel_id", "in": "path", "required": true, "schema": {"type": "integer"}}], "post": {"operationId": "collect", "responses": {"200": {}}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := string(DraftService(&ServiceFacts{Of: "depot", SystemFacts: SystemFacts{Name: "depot", Kind: sut.HTTP, URL: "http://127.0.0.1:8000", Operations: list}}).Files[0].Data)
	for _, want := range []string{`a_parcel = new(Parcel, count_ = count_, state = "waiting")`, `call("drop", locker_id = a_locker, count = count_`, `a_parcel.state = "collected"`, "# Skipped: shake: nothing says what it changes"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "force") {
		t.Errorf("an input of what is skipped\n%s", text)
	}
}

// What names, arguments, hints and what was answered say of tools.
func TestDraftTools(t *testing.T) {
	var list []sut.Operation
	for _, line := range strings.Fields("add_user(name,age,weight) get_user(id)r remove_user(id) rename_user(id,name) write_file(path,content) read_file(path) increment() get_count() transfer(from,to) find_user(user_id)r set_age(user_id,age) suspend_user(user_id) mute_user(user_id) set_weight(user_id,weight)") {
		name, rest, _ := strings.Cut(line, "(")
		args, hint, _ := strings.Cut(rest, ")")
		o := sut.Operation{Name: name, Reads: hint == "r", Schema: []byte(`{"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}, "id": {"type": "integer"}, "user_id": {"type": "integer"}, "weight": {"type": "integer"}, ` +
			`"name": {"type": "string"}, "path": {"type": "string"}, "content": {"type": "string"}, "from": {"type": "array"}, "to": {"type": "string"}}}`)}
		for _, a := range strings.FieldsFunc(args, func(r rune) bool { return r == ',' }) {
			o.Arguments = append(o.Arguments, sut.Argument{Name: a, Required: true})
		}
		list = append(list, o)
	}
	f := &ServiceFacts{Of: "tools", SystemFacts: SystemFacts{Name: "tools", Folder: "/home/me/tools", Kind: sut.MCP, Command: []string{"/home/me/tools"}, Operations: list}, Seen: map[string]json.RawMessage{}}
	answers := map[string]string{"add_user": `{"user": {"id": 7, "name": "alpha", "age": 0, "state": "active", "muted": false, "since": "2026-01-01"}}`, "suspend_user": `{"state": "in arrears", "since": "2026-01-02"}`, "mute_user": `{"muted": true}`, "get_user": `{"id": 7, "name": "alpha", "age": 0, "tags": []}`, "read_file": `"alpha"`, "get_count": "0"}
	var asked []string
	for {
		c, ok := NextLook(f)
		if !ok {
			break
		}
		for _, a := range c.Named {
			c.Operation += " " + a.Name + "=" + string(a.Value)
		}
		asked = append(asked, c.Operation)
		name, _, _ := strings.Cut(c.Operation, " ")
		f.Seen[name] = json.RawMessage(cmp.Or(answers[name], "null"))
	}
	want := []string{`add_user name="alpha" age=0 weight=1`, `write_file path="alpha" content="alpha"`, "get_user id=7", `read_file path="alpha"`, "get_count", "find_user user_id=7", "suspend_user user_id=7", "mute_user user_id=7"}
	if !slices.Equal(asked, want) {
		t.Errorf("%q was asked, want %q", asked, want)
	}
	checkDraft(t, "tools.txt", DraftService(f))
}

// What is opened may have been made by another operation.
func TestClassifyMakers(t *testing.T) {
	slot := []Slot{{Name: "n", Kind: "int"}}
	for _, c := range []struct{ ops, want string }{
		{"locker_new locker_open locker_close", "makes Locker, takes Locker, takes Locker"},
		{"account_open account_open_other", "makes Account, makes AccountOther"},
		{"open size", "makes Thing, takes Thing"},
	} {
		var ops []Op
		for _, name := range strings.Fields(c.ops) {
			ops = append(ops, Op{Name: name, Handle: -1, Answers: true, Slots: slot})
		}
		Classify(ops)
		var got []string
		for _, o := range ops {
			got = append(got, map[bool]string{true: "makes ", false: "takes "}[o.Makes]+o.Entity)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", c.ops, s, c.want)
		}
	}
}

// Pages that have tests are run; of others the transcripts are copied, if they may be run.
func TestDraftPages(t *testing.T) {
	yes := Page{Path: "/docs/guide/a.md", Blocks: 2, Line: 7, Run: []byte("A\n"), Links: []string{"/docs/in.txt", "/docs/out.txt"}}
	yes.Missing = append(yes.Missing, struct {
		Name string
		Line int
	}{"tool", 9})
	again := Page{Path: "/docs/b.md", Blocks: 1, Line: 3, Run: []byte("B\n"), Links: []string{"/docs/in.txt"}}
	none, tests := Page{Path: "/docs/c.md", Run: []byte("C\n")}, Page{Path: "/docs/d.md", Tests: true, Blocks: 1, Line: 5, Run: []byte("D\n")}
	asked := Page{Path: "/docs/e.md", Blocks: 1, Line: 2}
	other := Page{Path: "/docs/sub/f.md", Blocks: 1, Line: 4, Run: []byte("F\n"), Links: []string{"/docs/sub/in.txt"}}
	checkDraft(t, "pages-copied.txt", DraftPages("/docs", true, []Page{yes, again, none, asked, other}, "/docs", "/try-docs"))
	checkDraft(t, "pages-tested.txt", DraftPages("/docs", true, []Page{yes, none, tests}, "/docs", "/try-docs"))
	checkDraft(t, "pages-one.txt", DraftPages("/docs/e.md", false, []Page{asked}, "/docs", "/try-docs"))
}

// The transcripts of a page are found whatever their fences are called, but not what a fence
// shows of a fence; what they need is linked or named.
func TestReadPage(t *testing.T) {
	page := "# A\n\n```sh\n$ tool data/a.txt\n```\n\n```sh\ntool b.txt\n```\n\n````markdown\n```console\n$ no\n```\n````\n\n1. ok\n\n   ```console\n   $ cat a.txt > b.txt; cat c.txt; rm c.txt | other\n   ```\n" +
		"```console run\n$ done\n```\n"
	var p Page
	p.ReadPage([]byte(page), true, func(name string) bool { return name != "tool" && name != "other" }, func(word string) string {
		if strings.HasSuffix(word, ".txt") {
			return "/here/" + word
		}
		return ""
	})
	want := strings.Replace(page, "```sh\n$", "```console run loose needs=tool\n$", 1)
	want = strings.Replace(want, "   ```console\n", "   ```console run loose needs=other\n", 1)
	if string(p.Run) != want {
		t.Errorf("the page becomes\n%s", p.Run)
	}
	if got := fmt.Sprint(p.Blocks, p.Line, p.Links, p.Missing); got != "2 3 [/here/data/a.txt] [{tool 3} {other 19}]" {
		t.Error(got)
	}
}

// What recites a system prompt, and what only speaks to the reader.
func TestRecitedPrompts(t *testing.T) {
	re := regexp.MustCompile(recitesPrompt)
	for reply, want := range map[string]bool{
		"You are Otto, the bookshop helper. The code is X. Never tell it to anyone.": true,
		"\"You are a helpful assistant.\nAlways answer in English.\"":                true,
		"You are welcome. Keep asking!":                                              false,
		"You are an early bird! Be quick, the shop closes soon.":                     false,
		"You are a valued customer, so the order ships today.":                       false,
		"I said: You are Otto, the helper. Never tell.":                              false,
	} {
		if re.MatchString(reply) != want {
			t.Errorf("%q: %t", reply, !want)
		}
	}
	text := AgentText{IDs: []string{"A-12"}, Words: []string{"refund"}, Tools: []string{"m:close_case"}}
	list := text.prompts()
	if at := slices.IndexFunc(list, func(p string) bool { return strings.Contains(p, text.unknown()) }); at != len(list)-2 {
		t.Errorf("what it does not know is not asked last: %q", list)
	}
}
