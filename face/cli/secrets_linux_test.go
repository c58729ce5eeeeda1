package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/store"
)

// echoing is an agent that gives the key of its header back in every way that it
// can think of.
func echoing(t *testing.T, key *string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if k != *key {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h := hex.EncodeToString([]byte(k))
		var pieces []string
		for i := 0; i < len(k); i += 4 {
			pieces = append(pieces, fmt.Sprintf("data: {\"t\":%q}", k[i:min(i+4, len(k))]))
		}
		reply := strings.Join([]string{
			"LEAK " + k, url.QueryEscape(k), base64.StdEncoding.EncodeToString([]byte("x" + k)), h, h[:11] + "\n" + h[11:], strings.Join(pieces, "\n\n"),
		}, "\n")
		_ = json.NewEncoder(w).Encode(map[string]string{"response": reply})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// forms are what nobody may find of a key.
func forms(key string) []string {
	b := base64.StdEncoding.EncodeToString([]byte("x" + key))
	escaped, _ := json.Marshal(key)
	return []string{key, url.QueryEscape(key), b[2 : len(b)-4], hex.EncodeToString([]byte(key)), string(escaped[1 : len(escaped)-1])}
}

// searched is all bytes below a folder, those of blobs and journals expanded.
func searched(t *testing.T, dir string) []byte {
	t.Helper()
	var all bytes.Buffer
	z, err := zstd.NewReader(nil)
	must(t, err)
	defer z.Close()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all.Write(data)
		if out, err := z.DecodeAll(data, nil); err == nil {
			all.Write(out)
		}
		return nil
	}))
	if list, _ := filepath.Glob(filepath.Join(dir, ".thresh/runs/r*")); len(list) > 0 {
		st, err := store.Open(filepath.Join(dir, ".thresh"))
		must(t, err)
		defer st.Close()
		for _, run := range list {
			j, err := st.OpenJournal(filepath.Base(run))
			must(t, err)
			for e, err := range j.Evidenced() {
				must(t, err)
				fmt.Fprintf(&all, "%s %s %s\n", e.Data, e.Outcome.Title, e.Outcome.Data)
				for _, a := range e.Outcome.Evidence {
					all.Write(a.Data)
				}
			}
			must(t, j.Close())
		}
	}
	return all.Bytes()
}

// What a system says of a key from its system file fails its check, and is in
// nothing that the run leaves behind.
func TestSecretsOfSystemsAreFound(t *testing.T) {
	key := "sk+live/7f3a9c/0022"
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "desk.system.yaml"), fmt.Appendf(nil, "schema: thresh.system.v1\nkind: http\nurl: %q\n"+
		"headers: {Authorization: \"Bearer ${AGENT_KEY}\"}\noperations: {ask: {method: POST, path: /, returns: $.response}}\ninput: {operation: ask, argument: prompt}\n", echoing(t, &key)), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte("agent: {system: desk.system.yaml}\ngolden_prompts: [hello]\nphases: [contract]\n"+
		"contract: {name: c, invariants: [{id: answers, type: output_not_empty}], chaos_matrix: [{name: calm}]}\n"), 0o600))
	cmd := child(t, "thresh", "run", "agent.yaml", "--report", "html=report.html")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "AGENT_KEY="+key)
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "secret-in-reply: the reply contains a secret that the agent was given") {
		t.Errorf("%s", out)
	}
	for _, form := range forms(key) {
		if all := append(searched(t, dir), out...); bytes.Contains(all, []byte(form)) {
			t.Errorf("%s is in what the run left", form)
		}
	}
}

// The folders that FuzzSpec keeps of its cases hold what a system printed, without its key.
func TestKeptFoldersHoldNoSecrets(t *testing.T) {
	key := "sk+live/7f3a9c/0044"
	dir := t.TempDir()
	init := child(t, "thresh", "init", "fuzzspec")
	init.Dir = dir
	must(t, init.Run())
	must(t, os.WriteFile(filepath.Join(dir, "desk.system.yaml"), fmt.Appendf(nil, "schema: thresh.system.v1\nkind: http\nurl: %q\n"+
		"headers: {Authorization: \"Bearer ${AGENT_KEY}\"}\noperations: {ask: {method: POST, path: /}}\ninput: {operation: ask, body: raw}\n", echoing(t, &key)), 0o600))
	cmd := child(t, "thresh", "run", "fuzzspec.json", "--system", "desk.system.yaml", "--keep", "all", "--cases", "2")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "AGENT_KEY="+key)
	out, _ := cmd.CombinedOutput()
	all := append(searched(t, dir), out...)
	if !bytes.Contains(all, []byte("LEAK [secret AGENT_KEY]")) {
		t.Errorf("no folder has what the system printed:\n%s", out)
	}
	for _, form := range forms(key) {
		if bytes.Contains(all, []byte(form)) {
			t.Errorf("%s is in what the run left", form)
		}
	}
}

// So does a key of the document itself, whatever characters it has, in a header and in
// the address.
func TestSecretsInRepliesAreFound(t *testing.T) {
	key := "sk+live/7f3a9c/0033"
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"output": "You sent %s%s."}`, r.Header.Get("Authorization"), r.URL.Query().Get("key"))
	}))
	defer agent.Close()
	for name, how := range map[string]string{
		"header": `{endpoint: %q, headers: {Authorization: "Bearer ${AGENT_KEY}"}}`, "query": `{endpoint: "%s/?key=` + strings.ReplaceAll(url.QueryEscape(key), "%", "%%") + `"}`,
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), fmt.Appendf(nil, "agent: "+how+"\ngolden_prompts: [hello]\nphases: [contract]\n"+
			"contract: {name: c, invariants: [{id: answers, type: output_not_empty}], chaos_matrix: [{name: calm}]}\n", agent.URL), 0o600))
		cmd := child(t, "thresh", "run", "agent.yaml", "-q")
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "AGENT_KEY="+key)
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "secret-in-reply: the reply contains a secret that the agent was given") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// A key that an agent echoes in five encodings is in nothing that a run leaves
// behind or says, whether it came from a variable or stood in the document.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel() // mostly waits
	const key = "sk+live/7f3a9c/0011"
	for _, c := range []struct{ name, header, mark, stored string }{
		{"variable", "Bearer ${AGENT_KEY}", "[secret AGENT_KEY]", "Bearer ${AGENT_KEY}"},
		{"literal", "Bearer " + key, "[secret 1]", "Bearer ${secret:1}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := key
			dir := t.TempDir()
			doc := filepath.Join(dir, "agent.yaml")
			must(t, os.WriteFile(doc, fmt.Appendf(nil, `version: "2.0"
agent:
  endpoint: %q
  headers: {Authorization: %q}
golden_prompts: ["Where is my order?"]
mutations: {count: 2, types: [noise]}
model: {provider: ollama, name: none}
invariants:
  - {id: quiet, type: not_contains, value: LEAK}
`, echoing(t, &given)+"/chat", c.header), 0o600))
			var said bytes.Buffer
			thresh := func(env string, args ...string) (code int, out string) {
				cmd := child(t, "thresh", args...)
				cmd.Dir = dir
				cmd.Env = append(cmd.Env, env)
				text, _ := cmd.CombinedOutput()
				said.Write(text)
				return cmd.ProcessState.ExitCode(), string(text)
			}
			env := "AGENT_KEY=" + key
			args := []string{"run", "agent.yaml"}
			for _, format := range []string{"html", "json", "jsonl", "junit", "sarif", "text"} {
				args = append(args, "--report", format+"=report."+format)
			}
			if code, out := thresh(env, args...); code != 1 {
				t.Fatalf("run: %d\n%s", code, out)
			}
			id := regexp.MustCompile(`F-[0-9a-f]{10}`).FindString(said.String())
			if code, out := thresh(env, "replay", id); code != 1 || !strings.Contains(out, "shows again") {
				t.Errorf("replay: %d\n%s", code, out)
			}
			if code, out := thresh(env, "promote", id, "--to", "kept"); code != 0 {
				t.Errorf("promote: %d\n%s", code, out)
			}
			thresh(env, "show", id)
			promoted, _ := filepath.Glob(filepath.Join(dir, "kept", id, "flakestorm.yaml"))
			if len(promoted) != 1 {
				t.Fatalf("promoted: %q", promoted)
			}
			text, err := os.ReadFile(promoted[0])
			must(t, err)
			if !bytes.Contains(text, []byte(c.stored)) {
				t.Errorf("the promoted document names no secret:\n%s", text)
			}
			if code, out := thresh("THRESH_SECRET_1="+key, "run", "kept"); c.name == "literal" && (code != 1 || !strings.Contains(out, "secret-in-reply")) {
				t.Errorf("the promoted document with its secret in a variable: %d\n%s", code, out)
			}
			if code, out := thresh("A=b", "run", "kept"); c.name == "literal" && code != 3 {
				t.Errorf("the promoted document without its secret: %d\n%s", code, out)
			}
			must(t, os.Remove(doc)) // it may hold what it holds
			all := append(searched(t, dir), said.Bytes()...)
			for _, form := range forms(key) {
				if n := bytes.Count(all, []byte(form)); n > 0 {
					at := bytes.Index(all, []byte(form))
					t.Errorf("%q is there %d times: %q", form, n, all[max(0, at-200):at+60])
				}
			}
			if !bytes.Contains(all, []byte(c.mark)) {
				t.Errorf("nothing says %s", c.mark)
			}
			if c.name == "literal" { // the value is nowhere, unless it is given
				if code, out := thresh("A=b", "replay", id); code != 3 || !strings.Contains(out, "export THRESH_SECRET_1=") {
					t.Errorf("replay without the document: %d\n%s", code, out)
				}
				if code, out := thresh("THRESH_SECRET_1="+key, "replay", id); code != 1 || !strings.Contains(out, "shows again") {
					t.Errorf("replay with the secret in a variable: %d\n%s", code, out)
				}
			}
		})
	}
}

// A value that --var or a file of variables gives to a credential is stored nowhere, and replay finds it where it was
// or in the environment.
func TestGivenCredentialsAreNotStored(t *testing.T) {
	t.Parallel() // mostly waits
	const key = "sk+live/7f3a9c/0011"
	for _, c := range []struct{ name, option, file, again string }{
		{"flag", "--var=tok=" + key, "", "tok"},
		{"two words", "--var tok=" + key, "", "tok"},
		{"yaml", "--var-file=vars", "tok: '" + key + "'\n", "THRESH_SECRET_1"},
		{"lines", "--var-file=vars", "# all\nexport tok=" + key + "\n", "THRESH_SECRET_1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			given, dir := key, t.TempDir()
			page := fmt.Sprintf("```yaml spec-test\nid: ASKS\ntype: api.http\nrequest: {method: GET, url: %q, headers: {Authorization: \"Bearer ${tok}\"}}\nassert: [{when: status == 418}]\n```\n", echoing(t, &given))
			must(t, os.WriteFile(filepath.Join(dir, "a.spec.md"), []byte(page), 0o600))
			must(t, os.WriteFile(filepath.Join(dir, "b.spec.md"), []byte("```yaml spec-test\nid: B\ntype: text.file\nassert: [{target: text, must: [{contain: [Tell]}]}]\n```\n"), 0o600))
			vars := filepath.Join(dir, "vars")
			must(t, os.WriteFile(vars, []byte(c.file), 0o600))
			thresh := func(env string, args ...string) (code int, out string) {
				cmd := child(t, "thresh", args...)
				cmd.Dir = dir
				cmd.Env = append(cmd.Env, env)
				text, _ := cmd.CombinedOutput()
				return cmd.ProcessState.ExitCode(), string(text)
			}
			code, said := thresh("A=b", append([]string{"run", "a.spec.md", "b.spec.md", "--report", "json=r.json"}, strings.SplitN(c.option, " ", 2)...)...)
			id := regexp.MustCompile(`F-[0-9a-f]{10}  a`).FindString(said)
			if code != 1 || id == "" {
				t.Fatalf("%d\n%s", code, said)
			}
			id = id[:12]
			if code, out := thresh("A=b", "replay", id); c.file != "" && (code != 1 || !strings.Contains(out, "shows again") || strings.Contains(out, "changed since")) {
				t.Errorf("replay with the file: %d\n%s", code, out)
			}
			must(t, os.Remove(vars))
			for _, form := range forms(key) {
				if all := searched(t, dir); bytes.Contains(all, []byte(form)) {
					at := bytes.Index(all, []byte(form))
					t.Errorf("%q is there: %q", form, all[max(0, at-200):at+60])
				}
			}
			if code, out := thresh("A=b", "replay", id); code != 3 || !strings.Contains(out, "export "+c.again+"=") {
				t.Errorf("replay without the value: %d\n%s", code, out)
			}
			if code, out := thresh(c.again+"="+key, "replay", id); code != 1 || !strings.Contains(out, "shows again") {
				t.Errorf("replay with the value: %d\n%s", code, out)
			}
			if code, out := thresh(c.again+"="+key, "verify", "latest", "--sample", "100%"); code != 0 {
				t.Errorf("verify: %d\n%s", code, out)
			}
		})
	}
}

// What thresh check, an editor and an MCP client are answered holds no secret,
// whether a variable gives it or the document has it.
func TestAnswersHoldNoSecrets(t *testing.T) {
	key := strings.Repeat("sk-live-7f3a9c", 12) // longer than what titles show of a text
	t.Setenv("AGENT_KEY", key)
	url := echoing(t, &key)
	for _, c := range []struct{ name, value, mark string }{{"variable", "${AGENT_KEY}", "[secret AGENT_KEY]"}, {"literal", key, "[secret 1]"}} {
		t.Run(c.name, func(t *testing.T) {
			doc := fmt.Sprintf("agent: {endpoint: %q, type: http}\ngolden_prompts: [hello]\ninvariants: [{type: output_not_empty}]\n", "ftp://anna:"+c.value+"@h/")
			page := fmt.Sprintf("```yaml spec-test\nid: ASKS\ntype: api.http\nrequest: {method: GET, url: %q, headers: {Authorization: \"Bearer %s\"}}\nassert:\n- target: body_json\n  must:\n"+
				"  - evaluate: [[eq, [get, [var, subject], response], %s]]\n```\n", url, c.value, "other")
			shop := "schema: thresh.system.v1\nkind: http\nurl: " + "ftp://anna:" + c.value + "@h/\n"
			e := openEditor(t)
			defer e.leave()
			e.open("agent.yaml", doc)
			said := e.wait("textDocument/publishDiagnostics", "flakestorm.endpoint")
			e.open("page.md", page)
			o := e.answer("workspace/executeCommand", fmt.Sprintf(`{"command":"thresh.runCase","arguments":[%q,"ASKS"]}`, e.uri("page.md")))
			said += string(o.Result) + e.wait("window/showMessage", "ASKS: fail")
			g := newAgent(t)
			list, err := json.Marshal(g.call("check_spec", map[string]any{"text": doc, "name": "agent.yaml"}))
			must(t, err)
			said += string(list)
			for name, text := range map[string]string{"agent.yaml": doc, "shop.yaml": shop} {
				must(t, os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600))
			}
			file := filepath.Join(e.dir, "agent.yaml")
			said += call("check", file).text() + call("flakestorm", "ci", "--config", file).text() + call("system", "check", filepath.Join(e.dir, "shop.yaml")).text()
			if strings.Contains(said, key[:12]) || strings.Count(said, c.mark) < 4 {
				t.Error(said)
			}
		})
	}
}

// What a service sends beyond its announced length is in no log.
func TestWhatIsSentTooMuchIsNotLogged(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1<<16))
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokBEYOND"))
		}
	}()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.spec.md"), fmt.Appendf(nil, "```yaml spec-test\nid: A\ntype: system.call\noperation: p\n"+
		"harness: {system: {kind: http, url: %q, operations: {p: {path: /}}}}\nassert: [{target: output, must: [{contain: [ok]}]}]\n```\n", "http://"+l.Addr().String()), 0o600))
	cmd := child(t, "thresh", "run", "a.spec.md", "-q")
	cmd.Dir = dir
	if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "BEYOND") || !strings.Contains(string(out), "PASS") {
		t.Errorf("%s", out)
	}
}
