//go:build unix

package http_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	httpsys "github.com/thresh-dev/thresh/system/http"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func TestMain(m *testing.M) {
	systemtest.Speak()
	os.Setenv(systemtest.SpeakerVariable, "http") // of what the tests start
	testproc.Ready(8)
	os.Exit(m.Run())
}

func opener() sut.Opener { return system.New(map[sut.Kind]system.Kind{sut.HTTP: httpsys.Open}).Open }

func TestSuite(t *testing.T) {
	t.Parallel() // mostly waits
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plan := func(*testing.T) *sut.Plan {
		p := &sut.Plan{Name: "speaker", Kind: sut.HTTP, Command: []string{self, "{port}"}, Per: sut.PerWorker, URL: "http://127.0.0.1:{port}"}
		for _, v := range systemtest.Verbs() {
			p.Operations = append(p.Operations, sut.Operation{Name: v, Method: "POST", Path: "/verb/" + v, JSON: []byte(`{"text":"{text}"}`), Returns: "$.value"})
		}
		return p
	}
	systemtest.RunSystem(t, systemtest.System{
		Open: opener(), Plan: plan,
		Gone: func(t *testing.T) *sut.Plan {
			p := plan(t)
			s := httptest.NewServer(http.NotFoundHandler())
			p.Command, p.URL = nil, s.URL
			s.Close()
			return p
		},
	})
}

// load reads a system file for a service at a URL.
func load(t *testing.T, url, rest string) *sut.Plan {
	t.Helper()
	text := "schema: thresh.system.v1\nkind: http\nurl: " + url + "\n" + rest
	p, list := systemfile.Load("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, func(string) (string, error) { return "", fs.ErrNotExist })
	if p == nil {
		t.Fatal(list)
	}
	return p
}

func call(t *testing.T, p *sut.Plan, c sut.Call) sut.Observation {
	t.Helper()
	x, err := opener()(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	o, err := x.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func named(pairs ...string) (list []sut.Named) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, sut.Named{Name: pairs[i], Value: json.RawMessage(pairs[i+1])})
	}
	return list
}

func TestRequests(t *testing.T) {
	t.Setenv("SHOP_KEY", "k1")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		json.NewEncoder(w).Encode(fmt.Sprintf("%s %s %s %s|%s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("X-Who"), body))
	}))
	defer s.Close()
	p := load(t, s.URL+"/api/", `
headers: {Authorization: "Bearer ${SHOP_KEY}"}
query: {z: "a${SHOP_KEY}&"}
operations:
  refund: {method: POST, path: "/orders/{order}/refund", query: {dry: "{dry}", v: "1"}, headers: {X-Who: "{who}"}, json: {amount: "{amount}", note: "for {order}", list: ["{amount}"], left: "{absent}"}}
  parse: {method: PUT, path: /parse}
  find: {method: GET, path: "/{in}?q={text}&n={n}"}
  sign: {method: POST, path: /sign, headers: {Content-Type: application/x-www-form-urlencoded}, json: {name: "{name}", tags: "{tags}", n: "{n}", none: "{none}"}}
input: {operation: parse, body: raw}
`)
	for _, tc := range []struct {
		call sut.Call
		want string
	}{
		{sut.Call{Operation: "refund", Named: named("order", `"a/b c"`, "amount", "5", "who", `"me"`)},
			`POST /api/orders/a%2Fb%20c/refund?v=1&z=ak1%26 Bearer k1 me|{"amount":5,"note":"for a/b c","list":[5]}`},
		{sut.Call{Operation: "refund", Positional: []json.RawMessage{[]byte("7"), []byte("true"), []byte(`"x"`), []byte("[1]")}},
			`POST /api/orders/7/refund?dry=true&v=1&z=ak1%26 Bearer k1 x|{"amount":[1],"note":"for 7","list":[[1]]}`},
		{sut.Call{Operation: "sign", Named: named("name", `"a b&c"`, "tags", `["x","y"]`, "n", "5", "none", "null")}, "POST /api/sign?z=ak1%26 Bearer k1 |n=5&name=a+b%26c&tags=x&tags=y"},
		{sut.Call{Operation: "find", Named: named("in", `"a&b"`, "text", `"x&n=2+3 é#"`, "n", "1")}, "GET /api/a&b?q=x%26n%3D2%2B3%20%C3%A9%23&n=1&z=ak1%26 Bearer k1 |"},
		{sut.Call{Input: []byte("raw \x01 bytes")}, "PUT /api/parse?z=ak1%26 Bearer k1 |raw \x01 bytes"},
	} {
		o := call(t, p, tc.call)
		var got string
		if err := json.Unmarshal(o.Value, &got); err != nil || got != tc.want {
			t.Errorf("%s\nwant %s", o.Output, tc.want)
		}
	}
	x, err := opener()(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for want, c := range map[string]sut.Call{
		"call refund of the system x: the path has no value for order": {Operation: "refund", Named: named("amount", "5")},
		"make the body of refund: a value is not JSON":                 {Operation: "refund", Named: named("order", "5", "amount", "oops")},
		`no operation "none"`: {Operation: "none"},
	} {
		if o, err := x.Call(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) || o.End != "" {
			t.Errorf("%+v, %v, want %s", o, err, want)
		}
	}
	p.Headers = [][2]string{{"A", "${THRESH_NOT_SET}"}}
	if _, err := opener()(t.Context(), p, sut.Worker{Of: 1}); err == nil || !strings.Contains(err.Error(), "the variable THRESH_NOT_SET, which headers.A of the system x uses, is not set") {
		t.Error(err)
	}
	p.Headers, p.Query = nil, [][2]string{{"A", "${THRESH_NOT_SET}"}}
	if _, err := opener()(t.Context(), p, sut.Worker{Of: 1}); err == nil || !strings.Contains(err.Error(), "which query.A of the system x uses, is not set") {
		t.Error(err)
	}
}

// Values are written as their styles say, and bodies as their types.
func TestWritten(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		json.NewEncoder(w).Encode(fmt.Sprintf("%s %s %s|%s", r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("Cookie"), body))
	}))
	defer s.Close()
	arg := func(name, in, style string) sut.Argument { return sut.Argument{Name: name, In: in, Style: style} }
	for _, x := range []struct {
		op   sut.Operation
		args []sut.Named
		want string
	}{
		{sut.Operation{Query: [][2]string{{"page[size]", "{page[size]}"}}, Arguments: []sut.Argument{arg("page[size]", "query", "")}}, named("page[size]", "5"), "/?page%5Bsize%5D=5 |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", sut.StyleCommas)}}, named("a", `["x",2]`), "/?a=x%2C2 |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", sut.StyleSpaces)}}, named("a", `["x",2]`), "/?a=x+2 |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", sut.StylePipes)}}, named("a", `["x",2]`), "/?a=x%7C2 |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", sut.StyleCommas)}}, named("a", `{"k":"v","n":2}`), "/?a=k%2Cv%2Cn%2C2 |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", sut.StyleDeep)}}, named("a", `{"k":"v"}`), "/?a%5Bk%5D=v |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", "")}}, named("a", `{"k":"v"}`), "/?k=v |"},
		{sut.Operation{Query: [][2]string{{"a", "{a}"}}, Arguments: []sut.Argument{arg("a", "query", sut.StyleJSON)}}, named("a", `{"k":[1]}`), "/?a=%7B%22k%22%3A%5B1%5D%7D |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "")}}, named("a", `["x","y/z"]`), "/in/x,y%2Fz |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "")}}, named("a", `{"k":"v","n":2}`), "/in/k,v,n,2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "*")}}, named("a", `{"k":"v","n":2}`), "/in/k=v,n=2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "label")}}, named("a", `5`), "/in/.5 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "label")}}, named("a", `["x;",2]`), "/in/.x%3B,2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "label*")}}, named("a", `["x",2]`), "/in/.x.2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "label")}}, named("a", `{"k":"v"}`), "/in/.k,v |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "label*")}}, named("a", `{"k":"v","n":2}`), "/in/.k=v.n=2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "matrix*")}}, named("a", `5`), "/in/;a=5 |"},
		{sut.Operation{Path: "/in{a}", Arguments: []sut.Argument{arg("a", "path", "matrix")}}, named("a", `["x",2]`), "/in;a=x,2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "matrix*")}}, named("a", `["x",2]`), "/in/;a=x;a=2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "matrix")}}, named("a", `{"k":"v","n":2}`), "/in/;a=k,v,n,2 |"},
		{sut.Operation{Path: "/in/{a}", Arguments: []sut.Argument{arg("a", "path", "matrix*")}}, named("a", `{"k":"v","n":2}`), "/in/;k=v;n=2 |"},
		{sut.Operation{Arguments: []sut.Argument{arg("a", "cookie", ""), arg("b", "cookie", ""), arg("c", "cookie", "")}}, named("a", `"x"`, "c", "7"), "/ a=x; c=7|"},
		{sut.Operation{Path: "/in/{a}-{b}"}, named("a", `"x/y"`, "b", "5"), "/in/x%2Fy-5 |"},
		{sut.Operation{JSON: []byte(`{"l":["{a}","{b}",null,1.5]}`)}, named("a", `{"k":1}`), `/ application/json |{"l":[{"k":1},null,null,1.5]}`},
		{sut.Operation{JSON: []byte(`"{body}"`), Headers: [][2]string{{"Content-Type", "text/csv"}}}, named("body", `"a,b\n"`), "/ text/csv |a,b\n"},
		{sut.Operation{JSON: []byte(`"{body}"`), Headers: [][2]string{{"Content-Type", "application/merge-patch+json"}}}, named("body", `"a"`), `/ application/merge-patch+json |"a"`},
		{sut.Operation{JSON: []byte(`{"odd {a} {@b}":"{@b}"}`)}, named("@b", `"a"`), `/ application/json |{"odd {a} {@b}":"{@b}"}`},
		{sut.Operation{JSON: []byte(`{"b":"{@b}"}`), Arguments: []sut.Argument{arg("@b", "body", "")}}, named("@b", `"a"`), `/ application/json |{"b":"a"}`},
	} {
		x.op.Name, x.op.Method = "a", "POST"
		if x.op.Path == "" {
			x.op.Path = "/"
		}
		p := &sut.Plan{Name: "x", Kind: sut.HTTP, URL: s.URL, Operations: []sut.Operation{x.op}}
		o := call(t, p, sut.Call{Operation: "a", Named: x.args})
		var got string
		if err := json.Unmarshal(o.Value, &got); err != nil || strings.Replace(got, "  ", " ", 1) != x.want {
			t.Errorf("%s\nwant %s", o.Output, x.want)
		}
	}
}

// Parts are read as they were written, with files and whatever they hold.
func TestParts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			p, err := parts.NextPart()
			if err != nil {
				break
			}
			content, _ := io.ReadAll(p)
			fmt.Fprintf(w, "%s|%s|%s|%q\n", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), content)
		}
	}))
	defer s.Close()
	p := load(t, s.URL, `
operations:
  upload: {method: POST, path: /, json: {note: "{note}", tags: "{tags}", about: "{about}", 'a "b"': 1, none: "{none}", photo: "{photo}", raw: "{raw}"}, files: {photo: {name: 'a"b.png', type: image/png}, raw: }}
  plain: {method: POST, path: /, headers: {Content-Type: multipart/form-data}, json: {a: "{a}"}}
input: {operation: upload, argument: photo}
`)
	about := named("note", `"with --thresh-part inside"`, "tags", `["x",2]`, "about", `{"k":1}`, "none", "null", "raw", `""`)
	for name, x := range map[string]struct {
		call sut.Call
		want string
	}{
		"values": {sut.Call{Operation: "upload", Named: append(about, named("photo", `"p"`)...)},
			`note|||"with --thresh-part inside"
tags|||"x"
tags|||"2"
about||application/json|"{\"k\":1}"
a "b"|||"1"
photo|a"b.png|image/png|"p"
raw|raw|application/octet-stream|""
`},
		"the bytes of a case": {sut.Call{Input: []byte("\x00\xff\r\n--")}, `a "b"|||"1"
photo|a"b.png|image/png|"\x00\xff\r\n--"
`},
		"no file": {sut.Call{Operation: "plain", Named: named("a", `"b"`)}, "a|||\"b\"\n"},
	} {
		if o := call(t, p, x.call); string(o.Output) != x.want {
			t.Errorf("%s: %s %s", name, o.Why, o.Output)
		}
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel() // mostly waits
	asked, after := 0, "3600"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		if status == 429 || status == 503 {
			w.Header().Set("Retry-After", after)
			if asked > 1 {
				status = 200
			}
		}
		w.WriteHeader(status)
		io.WriteString(w, "reason\nmore")
	}))
	defer s.Close()
	p := load(t, s.URL, `operations: {get: {path: "/{status}", rejects: [409]}, any: {path: "/{status}"}}`)
	for _, tc := range []struct {
		op, status string
		end        sut.End
		why        string
		undeclared bool
	}{
		{"get", "200", sut.Answered, "", false},
		{"get", "409", sut.Refused, "HTTP 409: reason", false},
		{"get", "404", sut.Refused, "HTTP 404: reason", true},
		{"any", "404", sut.Refused, "HTTP 404: reason", false},
		{"get", "500", sut.Crashed, "HTTP 500", false},
		{"get", "429", sut.Unreachable, "HTTP 429: it asks for fewer calls; set limits.rate or limits.retries", false},
	} {
		asked = 0
		o := call(t, p, sut.Call{Operation: tc.op, Named: named("status", tc.status)})
		if o.End != tc.end || o.Why != tc.why || o.Undeclared != tc.undeclared {
			t.Errorf("%s: %s %q %t", tc.status, o.End, o.Why, o.Undeclared)
		}
	}
	// What asks for patience is given it: with retries, and a 429 also without if it is short.
	after = "1"
	for i, status := range []string{"429", "429", "503"} {
		asked, p.Limits.Retries = 0, min(i, 1)
		began := time.Now()
		if o := call(t, p, sut.Call{Operation: "get", Named: named("status", status)}); o.End != sut.Answered || asked != 2 || time.Since(began) < time.Second {
			t.Errorf("%s: %+v, asked %d times in %s", status, o, asked, time.Since(began))
		}
	}
}

// A body that comes whole is read as its headers say, and one that is not as they say is
// not taken for a connection that was cut.
func TestBodies(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/latin" {
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
		} else {
			w.Header().Set("Content-Encoding", "gzip")
		}
		io.WriteString(w, "caf\xe9")
	}))
	defer s.Close()
	p := load(t, s.URL, `operations: {latin: {path: /latin}, gzip: {path: /gzip}}`)
	if o := call(t, p, sut.Call{Operation: "latin"}); o.End != sut.Answered || string(o.Output) != "café" {
		t.Errorf("%s %q", o.End, o.Output)
	}
	want := "the Content-Encoding is gzip, but the body does not begin as gzip does"
	if o := call(t, p, sut.Call{Operation: "gzip"}); o.End != sut.Crashed || o.Why != want {
		t.Errorf("%s %q, want %q", o.End, o.Why, want)
	}
}

// The only operation of a service need not be named.
func TestOnlyOperation(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) }))
	defer s.Close()
	if o := call(t, load(t, s.URL, "operations: {get: {path: /x}}"), sut.Call{}); string(o.Output) != "/x" {
		t.Errorf("%+v", o)
	}
}

func TestRate(t *testing.T) {
	t.Parallel() // mostly waits
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	p := load(t, s.URL, "operations: {get: {path: /}}\nlimits: {rate: 20/s, concurrency: 1}")
	open := opener()
	began := time.Now()
	for range 2 { // workers share the rate
		x, err := open(t.Context(), p, sut.Worker{Of: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		for range 3 {
			if o, err := x.Call(t.Context(), sut.Call{Operation: "get"}); err != nil || o.End != sut.Answered {
				t.Fatal(o, err)
			}
		}
	}
	if d := time.Since(began); d < 240*time.Millisecond || d > 30*time.Second {
		t.Errorf("6 calls at 20/s took %s", d)
	}
}

func TestOpenAPIFromTheService(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			io.WriteString(w, `{"openapi":"3.1.0","servers":[{"url":"/v2"}],"paths":{"/orders/{order}":{"get":{"operationId":"look","parameters":[{"name":"order","in":"path","required":true,"schema":{"type":"integer"}}]}}}}`)
			return
		}
		if r.URL.Path == "/gone.json" {
			w.WriteHeader(http.StatusNotFound)
		}
		json.NewEncoder(w).Encode(r.URL.Path)
	}))
	defer s.Close()
	p := load(t, s.URL, "openapi: /openapi.json\n")
	if o := call(t, p, sut.Call{Operation: "look", Named: named("order", "7")}); string(o.Value) != `"/v2/orders/7"` {
		t.Errorf("%+v", o)
	}
	for at, want := range map[string]string{
		"/nothing.json": "the operations in /nothing.json: ", "/gone.json": "read the operations from /gone.json: HTTP 404", "http://h:x/": "read the operations from http://h:x/: ",
	} {
		p.OpenAPI = at
		if _, err := opener()(t.Context(), p, sut.Worker{Of: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", at, err, want)
		}
	}
	s.Close()
	for at, hint := range map[string]string{"/openapi.json": "", os.Args[0]: "a path that begins with / is one on the service"} {
		p.OpenAPI = at
		_, err := opener()(t.Context(), p, sut.Worker{Of: 1})
		if err == nil || !strings.Contains(err.Error(), "the connection was refused") || !strings.Contains(diag.Hint(err), hint) || (hint == "") != (diag.Hint(err) == "") {
			t.Errorf("%s: %v (%s)", at, err, diag.Hint(err))
		}
	}
}

// What a service says of a secret that it was given is for judges to see: it is
// removed from what they leave.
func TestJudgesSeeSecrets(t *testing.T) {
	t.Setenv("SHOP_KEY", "k-0123456789")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusConflict)
		}
		json.NewEncoder(w).Encode("you sent " + r.Header.Get("Authorization"))
	}))
	defer s.Close()
	p := load(t, s.URL, "headers: {Authorization: \"Bearer ${SHOP_KEY}\"}\noperations: {yes: {path: /yes}, no: {path: /no}}\n")
	for _, op := range []string{"yes", "no"} {
		o := call(t, p, sut.Call{Operation: op})
		if all := fmt.Sprintf("%s %s %s", o.Output, o.Value, o.Why); !strings.Contains(all, "Bearer k-0123456789") {
			t.Errorf("%s: %s", op, all)
		}
	}
}

// A call that ends a service that runs elsewhere is a crash, with the request that did it,
// also where it went over a connection that was kept and could be sent once more.
func TestCallThatEndsTheService(t *testing.T) {
	t.Parallel() // mostly waits
	for method, sent := range map[string]string{
		"GET":  "curl -i -X GET 'AT/verb/die?text=it%27s&token=...&v=...' \\\n  -H 'X-Key: ...'",
		"HEAD": "curl -i -I 'AT/verb/die?text=it%27s&token=...&v=...' \\\n  -H 'X-Key: ...'",
		"POST": "curl -i -X POST 'AT/verb/die' \\\n  -H 'Content-Type: application/json' \\\n  -H 'X-Key: ...' \\\n  --data-binary '{\"text\":\"it'\\''s\"}'",
	} {
		at := speaker(t)
		body, query := "json: {text: \"{text}\"}", ""
		if method != "POST" {
			body = "query: {text: \"{text}\", token: literal}"
			query = "query: {v: 7}\n"
		}
		p := load(t, at, "headers: {X-Key: k}\n"+query+"limits: {timeout: 600ms}\noperations:\n  say: {path: /verb/echo, method: POST, json: {text: \"{text}\"}}\n  die: {path: /verb/die, method: "+method+", "+body+"}\n")
		x, err := opener()(t.Context(), p, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if o, err := x.Call(t.Context(), sut.Call{Operation: "say", Named: named("text", `"a"`)}); err != nil || o.End != sut.Answered || o.Sent+o.Ended != "" {
			t.Fatalf("%v %+v", err, o)
		}
		o, err := x.Call(t.Context(), sut.Call{Operation: "die", Named: named("text", `"it's"`)})
		if want := strings.ReplaceAll(sent, "AT", at); err != nil || o.End != sut.Crashed || o.Why != "the server cut the connection" || o.Ended != "the system ended during the call" || o.Sent != want {
			t.Errorf("%s: %v %+v\n%s\n%s", method, err, o, o.Sent, want)
		}
		if o, err := x.Call(t.Context(), sut.Call{Operation: "say", Named: named("text", `"a"`)}); err != nil || o.End != sut.Unreachable || o.Ended != "" {
			t.Errorf("%s: after it: %v %+v", method, err, o)
		}
	}
}

// A connection that the server closes after an answer is not a finding: the call is made again on another one.
func TestConnectionsThatAreClosedAfterAnAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			if q, err := http.ReadRequest(r); err == nil {
				io.Copy(io.Discard, q.Body)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
			}
			http.ReadRequest(r) // the next call
			c.Close()
		}
	}()
	p := load(t, "http://"+l.Addr().String(), "operations:\n  say: {path: /say, method: POST, json: {text: \"{text}\"}}\n")
	x, err := opener()(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i := range 3 {
		if o, err := x.Call(t.Context(), sut.Call{Operation: "say", Named: named("text", `"a"`)}); err != nil || o.End != sut.Answered {
			t.Errorf("call %d: %v %+v", i, err, o)
		}
	}
}

// speaker is the address of a system under test that nobody starts again.
func speaker(t *testing.T) (at string) {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	at = s.URL
	s.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), "PORT="+at[strings.LastIndex(at, ":")+1:])
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() }) // it ends by itself, or with the test
	for t.Context().Err() == nil {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://")); err == nil {
			conn.Close()
			return at
		}
		time.Sleep(10 * time.Millisecond)
	}
	return at
}
