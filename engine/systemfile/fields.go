package systemfile

import (
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/sut"
)

// shapes are the mappings in a system file.
type shapes struct{ file, operation, upload, input, ready, reset, limits *doctree.Shape }

var format = sync.OnceValue(func() (s shapes) {
	text, object, named := doctree.Text().Must().Loosely(), doctree.Object, doctree.Named
	scalar := doctree.Text().Loosely()
	started := words(sut.Command, sut.HTTP, sut.Chat, sut.MCP, sut.Driver)
	served, http, chat := words(sut.HTTP, sut.Chat, sut.MCP), words(sut.HTTP), words(sut.Chat)
	shape := func(name, doc string, fields ...doctree.Field) *doctree.Shape {
		return &doctree.Shape{Name: name, Doc: doc, Fields: fields}
	}
	s.upload = shape("file", "a member of the body that is sent as a file",
		doctree.Field{Name: "name", Type: text, Doc: "file name to send; the member's name by default"},
		doctree.Field{Name: "type", Type: text, Doc: "media type, such as `image/png`"})
	s.operation = shape("operation", "a call that the system accepts; `{NAME}` in its texts stands for an argument",
		doctree.Field{Name: "method", For: http, Type: doctree.Word("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"), Doc: "method of the request; `POST` by default if there is `json`, otherwise `GET`"},
		doctree.Field{Name: "path", For: http, Need: true, Type: text.Like("^/"), Doc: "path below `url`, such as `/orders/{order}`"},
		doctree.Field{Name: "query", For: http, Type: named(scalar), Doc: "query parameters by name"},
		doctree.Field{Name: "headers", For: http, Type: named(scalar), Doc: "headers of the request; `Content-Type` decides how `json` is written"},
		doctree.Field{Name: "json", For: http, Type: doctree.Any(), Doc: "body of the request: JSON, a form, parts or a text"},
		doctree.Field{Name: "files", For: http, Type: named(object(s.upload).OrNull()), Doc: "members of `json` to send as files"},
		doctree.Field{Name: "arguments", Type: doctree.List(scalar), Doc: "order of the arguments, for formats that bind by position"},
		doctree.Field{Name: "returns", Type: text, Doc: "JSON path of the result in the answer; `$` is all of it. With a path, a module's function returns a text"},
		doctree.Field{Name: "rejects", Type: doctree.Truth().OrElse(doctree.List(scalar)), Doc: "what counts as a refusal: HTTP statuses, exit codes or Python exceptions; `true`: the system refuses what a model does not allow"})
	s.operation.Tag, s.operation.Outer = "kind", true
	s.input = shape("input", "where the bytes or the prompt of a case go",
		doctree.Field{Name: "operation", Type: text, Doc: "operation that takes the input"},
		doctree.Field{Name: "argument", Type: text, Doc: "argument that takes the input"},
		doctree.Field{Name: "body", Type: doctree.Word("raw"), Doc: "`raw`: the input is the body of the request"})
	s.ready = shape("ready", "when a started program is ready",
		doctree.Field{Name: "log", Need: true, Type: text, Doc: "regular expression that a line of the program's output matches"})
	s.reset = shape("reset", "how a case gets a fresh state",
		doctree.Field{Name: "operation", Need: true, Type: text, Doc: "operation that makes a fresh state"})
	s.limits = shape("limits", "limits of calls",
		doctree.Field{Name: "timeout", Type: doctree.Text().As(`{"type": ["string", "number"], "exclusiveMinimum": 0, "pattern": "^([0-9]+(\\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+$"}`), Default: `"5s"`, Doc: "time limit for one call, such as `500ms`, or a number of seconds"},
		doctree.Field{Name: "rate", Type: text.Like("^[0-9]+ */ *[smh]$"), Doc: "maximum rate of calls over all workers, such as `50/s`, `600/m` or `1000/h`"},
		doctree.Field{Name: "concurrency", Type: doctree.Integer(1, 10_000), Doc: "maximum number of concurrent calls over all workers"},
		doctree.Field{Name: "retries", Type: doctree.Integer(0, 100), Doc: "retries of a call that could not connect, or got 429 or 503"})
	s.file = shape("system file", "a system under test and how to reach it. Relative paths start at the file's folder",
		doctree.Field{Name: "schema", Type: doctree.Word(Schema), Doc: Schema},
		doctree.Field{Name: "name", Type: text, Doc: "name of the system in reports; the file's name by default"},
		doctree.Field{Name: "kind", Need: true, Type: doctree.Word(words(sut.Kinds()...)...), Doc: "how the system is reached"},
		doctree.Field{Name: "command", For: started, Type: doctree.List(text).Must(), Doc: "program to start, with its arguments; no shell. `{port}` is a free port, also in the variable `PORT`"},
		doctree.Field{Name: "dir", For: started, Type: text, Doc: "folder in which the program starts, and from which the paths in `command` begin; the file's folder by default"},
		doctree.Field{Name: "per", For: words(sut.HTTP, sut.Chat, sut.MCP, sut.Driver), Type: doctree.Word(string(sut.PerWorker), string(sut.PerCase), string(sut.PerRun)), Default: `"worker"`, Doc: "which cases share an instance of the started program: those of a worker, none, or all of the run (in Spec-Test, of all its documents)"},
		doctree.Field{Name: "ready", For: served, Type: text.OrElse(object(s.ready)), Doc: "URL that answers once the program is ready, or a line that it prints; by default, its port accepts a connection"},
		doctree.Field{Name: "url", For: served, Type: text.Like(`^(https?://|\$\{)`), Doc: "where the system is called; `${NAME}` is a variable of the environment"},
		doctree.Field{Name: "headers", For: served, Type: named(scalar), Doc: "headers of every call; `${NAME}` is a variable of the environment"},
		doctree.Field{Name: "query", For: http, Type: named(scalar), Doc: "query parameters of every call; `${NAME}` is a variable of the environment"},
		doctree.Field{Name: "openapi", For: http, Type: text, Doc: "OpenAPI 3.0 or 3.1 document that lists the operations: a path on the service, a URL, or a file beside this one"},
		doctree.Field{Name: "entry", For: words(sut.Python, sut.WASM), Need: true, Type: text, Doc: "`FILE.py:NAME` of a function, class or object, or the file of a module"},
		doctree.Field{Name: "api", For: chat, Type: doctree.Word("openai", "responses", "anthropic", "ollama"), Default: `"openai"`, Doc: "interface of the endpoint"},
		doctree.Field{Name: "model", For: chat, Need: true, Type: text, Doc: "model to ask"},
		doctree.Field{Name: "system", For: chat, Type: text, Doc: "system prompt"},
		doctree.Field{Name: "stream", For: chat, Type: doctree.Truth(), Default: "false", Doc: "ask for a streamed answer"},
		doctree.Field{Name: "operations", Type: named(object(s.operation).OrNull()).As(`{"minProperties": 1}`), Doc: "calls that the system accepts, by name"},
		doctree.Field{Name: "input", Type: object(s.input).As(`{"required": ["operation"]}`), Doc: "where the bytes or the prompt of a case go"},
		doctree.Field{Name: "reply", Type: text, Doc: "JSON path of the reply in the answer of the input's operation; `$` is all of it"},
		doctree.Field{Name: "reset", Type: doctree.Word(string(sut.ResetRestart), string(sut.ResetNone)).OrElse(object(s.reset)), Doc: "how a case gets a fresh state"},
		doctree.Field{Name: "limits", Type: object(s.limits), Doc: "limits of calls"})
	s.file.Tag = "kind"
	return s
})

// Format returns the declaration of a system file.
func Format() doctree.Type {
	return doctree.Object(format().file).As(`{
	"anyOf": [{"required": ["schema"]}],
	"if": {"properties": {"kind": {"enum": ["command", "driver"]}}}, "then": {"required": ["command"]}, "else": {
		"if": {"properties": {"kind": {"enum": ["http", "chat"]}}}, "then": {"required": ["url"], "anyOf": [
			{"required": ["operations"]}, {"required": ["openapi"]}, {"properties": {"kind": {"const": "chat"}}}]}, "else": {
			"if": {"properties": {"kind": {"const": "mcp"}}}, "then": {"anyOf": [{"required": ["command"]}, {"required": ["url"]}]}}}}`)
}

func words(kinds ...sut.Kind) []string {
	return seq.Map(kinds, func(k sut.Kind) string { return string(k) })
}
