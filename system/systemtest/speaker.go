//go:build unix

package systemtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
)

// SpeakerVariable is the environment variable that makes a test binary a system under test; its
// value is the dialect to speak (driver, http, mcp, chat, command).
const SpeakerVariable = "THRESH_SYSTEMTEST"

// Speak must be called first in TestMain. In a process started as a system under test, it serves
// calls and does not return.
func Speak() {
	switch os.Getenv(SpeakerVariable) {
	case "":
		return
	case "driver":
		speakLines(driverAnswer)
	case "mcp":
		speakLines(mcpAnswer)
	case "http", "chat":
		speakHTTP()
	case "command":
		input, _ := io.ReadAll(os.Stdin)
		verb, arg, _ := strings.Cut(string(input), " ")
		answer := behave(verb, arg)
		switch {
		case answer.lie != "":
			fmt.Println(answer.lie)
		case answer.refused != "":
			fmt.Fprintln(os.Stderr, answer.refused)
			os.Exit(7)
		case answer.failed != "":
			fmt.Fprintln(os.Stderr, answer.failed)
			os.Exit(9)
		default:
			json.NewEncoder(os.Stdout).Encode(answer.value)
		}
	}
	os.Exit(0)
}

// Verbs returns the operations of a system under test; each takes "text".
func Verbs() []string {
	return []string{"echo", "count", "die", "kill", "hang", "late", "report", "reject", "fail", "flood", "lie", "clear"}
}

// said is the result of a verb.
type said struct {
	value           any
	refused, failed string
	lie             string // sent instead of an answer
}

var counted int

const report = "panic: the ledger is torn\n\ngoroutine 1 [running]:\nmain.torn(...)\n\t/x/main.go:7\nmain.main()\n\t/x/main.go:12 +0x1d\n"

func behave(verb, arg string) said {
	switch verb {
	case "echo":
		return said{value: arg}
	case "count":
		counted++
		return said{value: counted}
	case "clear":
		counted = 0
		return said{value: nil}
	case "die":
		os.Exit(3)
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hang":
		time.Sleep(time.Hour)
	case "late":
		time.Sleep(300 * time.Millisecond)
		return said{value: "late"}
	case "report":
		fmt.Fprint(os.Stderr, report)
		return said{value: "as if nothing had happened"}
	case "reject":
		return said{refused: "not today"}
	case "fail":
		return said{failed: "the ledger is torn"}
	case "flood":
		return said{value: strings.Repeat("0123456789abcdef", (sut.MaxOutput+1<<20)/16)}
	case "lie":
		return said{lie: "lie"}
	}
	return said{refused: "no such verb: " + verb}
}

// speakLines answers each line with a line, or with nothing if answer returns nil.
func speakLines(answer func(line []byte) []byte) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		if b := answer(line); b != nil {
			out.Write(append(b, '\n'))
			out.Flush()
		}
	}
}

func driverAnswer(line []byte) []byte {
	var q struct {
		Reset bool
		Call  string
		Args  json.RawMessage
		Body  []byte
	}
	if json.Unmarshal(line, &q) != nil {
		return []byte(`{"error":"no JSON"}`)
	}
	if q.Reset {
		counted = 0
		return []byte(`{"ok":null}`)
	}
	var named struct{ Text string }
	var list []string
	if json.Unmarshal(q.Args, &list) == nil && len(list) > 0 {
		named.Text = list[0]
	} else {
		json.Unmarshal(q.Args, &named)
	}
	if q.Body != nil {
		named.Text = string(q.Body)
	}
	a := behave(q.Call, named.Text)
	switch {
	case a.lie != "":
		return []byte("this is not an answer of a driver")
	case a.refused != "":
		return must(map[string]any{"rejected": a.refused})
	case a.failed != "":
		return must(map[string]any{"error": a.failed})
	}
	return must(map[string]any{"ok": a.value})
}

func must(v any) []byte {
	b, err := json.Marshal(v)
	fail(err)
	return b
}

func mcpAnswer(line []byte) []byte {
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ProtocolVersion string
			Name            string
			Arguments       struct{ Text string }
		}
	}
	if json.Unmarshal(line, &q) != nil || q.ID == nil {
		return nil // a notification
	}
	result := func(v any) []byte { return must(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": v}) }
	switch q.Method {
	case "initialize":
		return result(map[string]any{"protocolVersion": q.Params.ProtocolVersion, "serverInfo": map[string]any{"name": "speaker", "version": "1"},
			"capabilities": map[string]any{"tools": map[string]any{}}})
	case "tools/list":
		var tools []any
		for _, v := range Verbs() {
			tools = append(tools, map[string]any{"name": v, "description": "does " + v, "inputSchema": map[string]any{"type": "object",
				"properties": map[string]any{"text": map[string]any{"type": "string"}}}})
		}
		return result(map[string]any{"tools": tools})
	case "tools/call":
		a := behave(q.Params.Name, q.Params.Arguments.Text)
		content := func(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }
		switch {
		case a.lie != "":
			return []byte("this is not a message")
		case a.refused != "":
			return result(map[string]any{"content": content(a.refused), "isError": true})
		case a.failed != "":
			return must(map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": map[string]any{"code": -32603, "message": a.failed}})
		}
		return result(map[string]any{"content": content(string(must(a.value)))})
	}
	return must(map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
}

// speakHTTP serves /verb/NAME with the text as body, and a chat API whose last message is "VERB
// TEXT".
func speakHTTP() {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, r *http.Request, a said, wrap func(any) any) {
		switch {
		case a.lie != "":
			w.Header().Set("Content-Length", "1000000")
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"a":`)
			w.(http.Flusher).Flush()
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				c.Close()
			}
		case a.refused != "":
			http.Error(w, a.refused, http.StatusConflict)
		case a.failed != "":
			http.Error(w, a.failed, http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Write(must(wrap(a.value)))
		}
	}
	mux.HandleFunc("/verb/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		var named struct{ Text string }
		if json.Unmarshal(body, &named) == nil {
			text = named.Text
		}
		reply(w, r, behave(strings.TrimPrefix(r.URL.Path, "/verb/"), text), func(v any) any { return map[string]any{"value": v} })
	})
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Messages []struct{ Content string } }
		if json.NewDecoder(r.Body).Decode(&q) != nil || len(q.Messages) == 0 {
			http.Error(w, "no messages", http.StatusBadRequest)
			return
		}
		verb, arg, _ := strings.Cut(q.Messages[len(q.Messages)-1].Content, " ")
		reply(w, r, behave(verb, arg), func(v any) any {
			return map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": string(must(v))}}}}
		})
	})
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	fail(err)
	fail(http.Serve(l, mux))
}
