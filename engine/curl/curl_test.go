package curl_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/curl"
)

var requests = map[string]struct {
	request curl.Request
	line    string // AT stands for the server
	sends   string // method, address, type, X-A and body
}{
	"get":       {curl.Request{Method: "GET", URL: "AT/a b/é?q=ü", Follow: true}, "curl -i -L -X GET 'AT/a%20b/%C3%A9?q=%C3%BC'", "GET /a%20b/%C3%A9?q=%C3%BC||[]|"},
	"globs":     {curl.Request{Method: "GET", URL: "AT/x?f[a]={b}"}, "curl -i -X GET -g 'AT/x?f[a]={b}'", "GET /x?f[a]={b}||[]|"},
	"dots":      {curl.Request{Method: "PUT", URL: "AT/a/../b?x=/."}, "curl -i -X PUT --path-as-is 'AT/a/../b?x=/.'", "PUT /a/../b?x=/.||[]|"},
	"no type":   {curl.Request{Method: "POST", URL: "AT/", Follow: true, Body: []byte("it's\n\\ $x")}, "curl -i -L 'AT/' \\\n  -H 'Content-Type:' \\\n  --data-binary 'it'\\''s\n\\ $x'", "POST /||[]|it's\n\\ $x"},
	"no body":   {curl.Request{Method: "POST", URL: "AT/", Follow: true}, "curl -i -L -X POST 'AT/'", "POST /||[]|"},
	"no follow": {curl.Request{Method: "POST", URL: "AT/", Body: []byte{}}, "curl -i -X POST 'AT/' \\\n  -H 'Content-Type:' \\\n  --data-binary ''", "POST /||[]|"},
	"at":        {curl.Request{Method: "PUT", URL: "AT/", Headers: [][2]string{{"content-type", "a/b"}, {"X-A", ""}}, Body: []byte("@f")}, "curl -i -X PUT 'AT/' \\\n  -H 'content-type: a/b' \\\n  -H 'X-A;' \\\n  --data-raw '@f'", "PUT /|a/b|[\"\"]|@f"},
	"nul":       {curl.Request{Method: "PUT", URL: "AT/", Options: " -k", Body: []byte("a%\x00'é")}, "printf 'a\\045\\000\\047\\303\\251' | curl -i -X PUT 'AT/' -k \\\n  -H 'Content-Type:' \\\n  --data-binary @-", "PUT /||[]|a%\x00'é"},
	"control":   {curl.Request{Method: "PUT", URL: "AT/", Body: []byte("\x01'")}, "curl -i -X PUT 'AT/' \\\n  -H 'Content-Type:' \\\n  --data-binary $'\\001\\047'", "PUT /||[]|\x01'"},
	"file":      {curl.Request{Method: "PUT", URL: "AT/", File: "body's"}, "curl -i -X PUT 'AT/' --data-binary '@body'\\''s' \\\n  -H 'Content-Type:'", "PUT /||[]|in a file\n"},
}

func TestString(t *testing.T) {
	for name, x := range requests {
		x.request.URL = strings.Replace(x.request.URL, "AT", "http://at", 1)
		if got, want := x.request.String(), strings.Replace(x.line, "AT", "http://at", 1); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if got := (curl.Request{Method: "HEAD", URL: "AT", Follow: true, Form: []string{"a=b"}}).String(); got != "curl -i -L -I 'AT' \\\n  -F 'a=b'" {
		t.Error(got)
	}
}

// What a line says is what curl sends.
func TestCurlSendsIt(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if _, missing := exec.LookPath("curl"); err != nil || missing != nil {
		t.Skip("there is no curl, or no bash")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		values := "[]"
		if v, ok := r.Header["X-A"]; ok {
			values = `["` + strings.Join(v, `","`) + `"]`
		}
		io.WriteString(w, r.Method+" "+r.RequestURI+"|"+r.Header.Get("Content-Type")+"|"+values+"|"+string(body))
	}))
	defer s.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "body's"), []byte("in a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, x := range requests {
		cmd := exec.CommandContext(t.Context(), bash, "-c", strings.ReplaceAll(x.line, "AT/", s.URL+"/"))
		cmd.Dir = dir
		out, err := cmd.Output()
		if _, body, _ := strings.Cut(string(out), "\r\n\r\n"); err != nil || body != x.sends {
			t.Errorf("%s sends %q (%v), want %q", name, body, err, x.sends)
		}
	}
}

// What people write is sent as servers take it, and said as a shell takes it.
func TestEscapes(t *testing.T) {
	for url, want := range map[string]string{
		"http://h": "http://h", "http://h/a b?c=\x7f#é": "http://h/a%20b?c=%7F#%C3%A9", "http://hé/~!": "http://hé/~!", "http://h?a b": "http://h?a%20b", "a b": "a b",
	} {
		if got := curl.Address(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	for text, want := range map[string]string{
		"a b": "'a b'", "it's": `'it'\''s'`, "é": "'é'", "a\n\t'\\": "'a\n\t'\\''\\'", "\r'\\": `$'\015\047\134'`, "\xff~": `$'\377~'`, "\x7f": `$'\177'`, "": "''",
	} {
		if got := curl.Word(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
