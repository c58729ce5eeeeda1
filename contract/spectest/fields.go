package spectest

import (
	_ "embed"
	"math"
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
)

//go:embed schema/assert.schema.json
var assertSchema string

// captureSources are the keys of a capture that locate the value.
var captureSources = []string{"cookie", "header", "json", "regex", "xpath"}

// shapes are the mappings of a case that are decoded on their own.
type shapes struct{ one, budget, file, captured, part, expect, outcome *doctree.Shape }

// format declares the shape of cases. A text field accepts any YAML scalar, as Python's str does;
// the schema beside it declares that to editors.
var format = sync.OnceValue(func() (s shapes) {
	any, truth, object, named := doctree.Any(), doctree.Truth().OrNull(), doctree.Object, doctree.Named
	scalar := doctree.Text().As(`{"type": ["string", "number", "boolean", "null"]}`)
	texts := doctree.List(scalar).OrElse(doctree.Text()).OrNull()
	command, sent, cli, http, system := []string{typeCLI}, []string{typeHTTP, typeCLI, typeSystem}, []string{typeCLI}, []string{typeHTTP}, []string{typeSystem}
	shape := func(name, doc string, fields ...doctree.Field) *doctree.Shape {
		return &doctree.Shape{Name: name, Doc: doc, Fields: fields}
	}
	atLeast := func(low float64) doctree.Type { return doctree.Integer(low, math.Inf(1)).OrNull() }
	s.budget = shape("spec_lang", "limits for evaluating one predicate",
		doctree.Field{Name: "max_steps", Type: atLeast(1), Default: "20000", Doc: "most expressions evaluated"},
		doctree.Field{Name: "max_nodes", Type: atLeast(1), Default: "20000", Doc: "most lists and scalars in the expression"},
		doctree.Field{Name: "max_literal_bytes", Type: atLeast(1), Default: "262144", Doc: "most bytes of all strings in the expression"},
		doctree.Field{Name: "timeout_ms", Type: atLeast(0), Default: "200", Doc: "longest time in milliseconds; 0: no limit"})
	s.file = shape("setup file", "a file in the case's temporary folder",
		doctree.Field{Name: "path", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^([^/~]|~[^/])"}`), Doc: "path relative to the folder"},
		doctree.Field{Name: "text", Type: any, Doc: "content of the file"})
	hook := scalar.As(`{"type": ["string", "null"], "pattern": "^\\s*$|\\S\\s*:\\s*\\S"}`)
	harness := shape("harness", "how to run the case",
		doctree.Field{Name: "entrypoint", For: command, Type: scalar.OrElse(doctree.List(scalar)), Doc: "`module:function`, or a command line: words, single and double quotes, backslash; no shell. Without it, `SPEC_RUNNER_ENTRYPOINT` of `env` or of the environment"},
		doctree.Field{Name: "env", For: command, Type: named(any).OrNull().As(`{"propertyNames": {"pattern": "^[^=]+$"}}`), Doc: "environment variables to set, or to remove with `null`; a relative value that names a setup file becomes its path"},
		doctree.Field{Name: "stdin_text", For: command, Type: any, Doc: "standard input; empty by default"},
		doctree.Field{Name: "stdin_isatty", For: command, Type: any, Doc: "what `isatty` of standard input tells a Python function; command lines have no terminal"},
		doctree.Field{Name: "setup_files", For: command, Type: doctree.List(object(s.file)).OrElse(object(s.file)).OrNull(), Doc: "files to create in the case's temporary folder, which `THRESH_TMPDIR` names"},
		doctree.Field{Name: "stub_modules", For: command, Type: texts, Doc: "for Python functions: modules to replace by empty ones"},
		doctree.Field{Name: "block_imports", For: command, Type: texts, Doc: "for Python functions: modules whose import fails"},
		doctree.Field{Name: "hook_before", For: command, Type: hook, Doc: "for Python functions: `module:function` to call before, with `case`, `ctx` and `harness`"},
		doctree.Field{Name: "hook_after", For: command, Type: hook, Doc: "for Python functions: `module:function` to call after, with `case`, `ctx` and `result`"},
		doctree.Field{Name: "hook_kwargs", For: command, Type: named(any).OrNull(), Doc: "further arguments for the hooks"},
		doctree.Field{Name: "system", For: system, Type: any, Doc: "system file, or its content as a mapping (an addition)"},
		doctree.Field{Name: "spec_lang", Type: object(s.budget).OrElse(any.As(`{"enum": [null, false, 0, "", []]}`)), Doc: "limits for evaluating one predicate"},
		doctree.Field{Name: "timeout_seconds", For: sent, Type: doctree.Number(0, 1e9).MoreThan(0).OrNull(), Doc: "longest time in seconds; by default `--cli-timeout` (60) for a command, 5 for a request, the system's own limit for a call (an addition)"},
		doctree.Field{Name: "isolate", For: command, Type: truth, Default: "false", Doc: "run in a copy of the folder that commands share (an addition)"},
		doctree.Field{Name: "repeatable", For: sent, Type: truth, Doc: "confirm a failure by running the case again (an addition)"},
		doctree.Field{Name: "after", Type: scalar.OrElse(doctree.List(scalar)).OrNull(), Doc: "id of a case above, or a list of ids, after which this case runs as a step of one chain (an addition)"},
		doctree.Field{Name: "always", Type: truth, Default: "false", Doc: "run even when a case of the chain has failed (an addition)"})
	harness.Tag, harness.Outer = "type", true
	basic := shape("basic", "user name and password",
		doctree.Field{Name: "user", Need: true, Type: scalar, Doc: "user name"}, doctree.Field{Name: "password", Need: true, Type: scalar, Doc: "password"})
	retry := shape("retry", "how to repeat a request until its assertions hold",
		doctree.Field{Name: "times", Need: true, Type: doctree.Integer(1, 8191), Doc: "most repetitions"},
		doctree.Field{Name: "every", Type: scalar.As(`{"type": ["string", "number", "null"], "minimum": 0, "pattern": "^\\+?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"}`), Default: `"1s"`, Doc: "time between two requests: `500ms`, or seconds"})
	relative := `{"type": ["string", "number", "boolean", "null"], "pattern": "^\\s*[^/\\s]"}`
	s.part = shape("part", "a part of a multipart body",
		doctree.Field{Name: "file", Type: scalar.As(relative), Doc: "file with the part's content, relative to the document"},
		doctree.Field{Name: "text", Type: any, Doc: "text of the part"},
		doctree.Field{Name: "type", Type: scalar, Doc: "media type; a file's is derived from its name by default"},
		doctree.Field{Name: "filename", Type: scalar, Doc: "file name to send; the file's own by default"})
	request := shape("request", "the request to send",
		doctree.Field{Name: "method", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^\\s*[^\\s/]+\\s*$"}`), Doc: "method: `GET`, `POST`, ..."},
		doctree.Field{Name: "url", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^\\s*[^/\\s]"}`), Doc: "where to send it; without a scheme, a file relative to the document, answered with status 200"},
		doctree.Field{Name: "headers", Type: named(any).OrNull(), Doc: "headers by name, each with a value or a list of values"},
		doctree.Field{Name: "body_text", Type: any, Doc: "body as text"},
		doctree.Field{Name: "body_json", Type: any, Doc: "body as JSON"},
		doctree.Field{Name: "body_file", Type: scalar.As(relative), Doc: "file with the body, relative to the document (an addition)"},
		doctree.Field{Name: "form", Type: named(any).OrNull(), Doc: "fields of a form as the body, each with a value or a list of values (an addition)"},
		doctree.Field{Name: "multipart", Type: named(object(s.part).As(`{"oneOf": [{"required": ["text"]}, {"required": ["file"]}]}`).OrElse(scalar)).OrNull(), Doc: "parts of a multipart form as the body, each a text or a mapping such as `{file: logo.png}` (an addition)"},
		doctree.Field{Name: "query", Type: named(any).OrNull(), Doc: "query parameters, encoded into the URL (an addition)"},
		doctree.Field{Name: "basic", Type: object(basic).OrNull(), Doc: "user and password for the `Authorization` header (an addition)"},
		doctree.Field{Name: "bearer", Type: scalar, Doc: "token for the `Authorization` header (an addition)"},
		doctree.Field{Name: "redirects", Type: doctree.Integer(0, 100).OrElse(doctree.Truth().As(`{"enum": [false]}`)).OrNull(), Doc: "most redirects to follow, `false` for none; the response beyond them is the one that is checked. By default ten, and more are a failure (an addition)"},
		doctree.Field{Name: "insecure", Type: truth, Default: "false", Doc: "do not verify certificates (an addition)"},
		doctree.Field{Name: "cacert", Type: scalar.As(relative), Doc: "file with the certificates (PEM) that verify the server's, relative to the document (an addition)"},
		doctree.Field{Name: "cert", Type: scalar.As(relative), Doc: "file with the client's certificate (PEM), and with its key unless `key` names another file (an addition)"},
		doctree.Field{Name: "key", Type: scalar.As(relative), Doc: "file with the key of `cert` (an addition)"},
		doctree.Field{Name: "proxy", Type: scalar.As(`{"type": ["string", "null"], "pattern": "^\\s*(none|[A-Za-z][A-Za-z0-9+.-]*://[^/].*)\\s*$|\\$\\{"}`), Doc: "URL of a proxy, or `none`; the environment's by default (an addition)"},
		doctree.Field{Name: "cookies", Type: named(any).OrNull(), Doc: "cookies to send, by name (an addition)"},
		doctree.Field{Name: "jar", Type: truth, Default: "false", Doc: "send the cookies that answers to the cases above with `jar` have set, as a browser does, and keep those of this answer (an addition)"},
		doctree.Field{Name: "retry", Type: object(retry).OrNull(), Doc: "repeat the request until its assertions hold (an addition)"})
	health := shape("assert_health", "how to treat doubtful assertions",
		doctree.Field{Name: "mode", Type: scalar.As(`{"type": "string", "pattern": "^\\s*([Ii][Gg][Nn][Oo][Rr][Ee]|[Ww][Aa][Rr][Nn]|[Ee][Rr][Rr][Oo][Rr])\\s*$"}`), Doc: "`ignore`, `warn` or `error`"})
	requires := shape("requires", "what the case requires of the runner",
		doctree.Field{Name: "capabilities", Type: doctree.List(any).OrNull(), Doc: "required capabilities, such as `cli.run`"},
		doctree.Field{Name: "when_missing", Type: scalar.As(`{"type": "string", "pattern": "^\\s*([Ss][Kk][Ii][Pp]|[Ff][Aa][Ii][Ll])\\s*$"}`), Default: `"fail"`, Doc: "what to do when one is missing: `skip` or `fail`"})
	outcome := []doctree.Field{
		{Name: "status", Type: doctree.Word("pass", "fail", "skip"), Doc: "expected status of the case"},
		{Name: "category", Type: doctree.Word(Schema, Assertion, Runtime).OrNull(), Doc: "expected category of the failure"},
		{Name: "message_tokens", Type: doctree.List(any).OrNull(), Doc: "texts that the message must contain"}}
	s.outcome = shape("outcome", "an expected result", outcome...)
	s.expect = shape("expect", "expected result of a conformance case", append([]doctree.Field{
		{Name: "portable", Type: object(s.outcome).OrNull(), Doc: "expected result for every implementation"},
		{Name: "impl", Type: named(object(s.outcome).OrNull()).OrNull(), Doc: "expected result by implementation, which overrides `portable`; this one is `go`"}}, outcome...)...)
	s.captured = shape("captured value", "where to take a value from",
		doctree.Field{Name: "json", Type: any, Doc: "JSON path, such as `$.id`"},
		doctree.Field{Name: "header", Type: any, Doc: "name of a response header"},
		doctree.Field{Name: "cookie", Type: any, Doc: "name of a cookie that the response sets"},
		doctree.Field{Name: "xpath", Type: any, Doc: "XPath such as `//title`, in XML or HTML; a node gives its text"},
		doctree.Field{Name: "regex", Type: any, Doc: "regular expression (RE2) whose first group is the value"},
		doctree.Field{Name: "target", Type: any, Doc: "target to take it from; without another key, all of it"},
		doctree.Field{Name: "filter", Type: scalar, Doc: "filters to apply to the value, such as `split(\",\") | last`"},
		doctree.Field{Name: "secret", Type: any, Doc: "`true` keeps the value out of reports"})
	s.one = shape("case", "one test",
		doctree.Field{Name: "id", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^\\s*[^\\s\u0000-\u001f\u007f-\u009f\u2028\u2029]([^\u0000-\u001f\u007f-\u009f\u2028\u2029]*[^\\s\u0000-\u001f\u007f-\u009f\u2028\u2029])?\\s*$"}`), Doc: "name of the case in reports"},
		doctree.Field{Name: "type", Need: true, Type: doctree.Word(caseTypes()...), Doc: "what to test: a file, a command, an HTTP API, or a call of a system (an addition)"},
		doctree.Field{Name: "title", Type: any, Doc: "title for people"},
		doctree.Field{Name: "purpose", Type: any, Doc: "why the case exists, for people and style tools"},
		doctree.Field{Name: "purpose_lint", Type: any, Doc: "settings of style tools for this case"},
		doctree.Field{Name: "tags", Type: doctree.List(any).OrElse(scalar), Doc: "tags for `--filter tag=` (an addition)"},
		doctree.Field{Name: "path", For: []string{typeTextFile}, Type: scalar.As(relative), Doc: "file to test, relative to the document; the document itself by default"},
		doctree.Field{Name: "argv", For: cli, Type: doctree.List(any).OrElse(doctree.Text(), named(any).As(`{"not": {}}`)).OrNull(), Doc: "arguments to append to the entrypoint's"},
		doctree.Field{Name: "exit_code", For: cli, Type: any.As(`{"type": ["integer", "number", "boolean", "string"], "pattern": "^\\s*[+-]?[0-9]+\\s*$"}`), Default: "0", Doc: "expected exit code; 128 plus the signal's number after a signal"},
		doctree.Field{Name: "request", For: http, Need: true, Type: object(request).As(`{"dependentRequired": {"key": ["cert"]}}`), Doc: "the request to send"},
		doctree.Field{Name: "operation", For: system, Type: scalar, Doc: "operation to call; optional with `input`"},
		doctree.Field{Name: "arguments", For: system, Type: named(any).OrElse(doctree.List(any)).OrNull(), Doc: "arguments, by name or by position"},
		doctree.Field{Name: "input", For: system, Type: any, Doc: "input for the operation or argument that the system file names as `input`"},
		doctree.Field{Name: "harness", Type: object(harness).OrNull(), Doc: "how to run the case"},
		doctree.Field{Name: "assert", Type: any.As(assertSchema), Doc: "what must hold"},
		doctree.Field{Name: "capture", Type: named(doctree.Text().Like(`^\$`).OrElse(object(s.captured).As(`{"maxProperties": 4}`))).OrNull().As(
			`{"minProperties": 1, "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_.-]*$"}}`), Doc: "values to capture for later cases, as `${NAME}` (an addition)"},
		doctree.Field{Name: "assert_health", Type: object(health).OrNull(), Doc: "how to treat doubtful assertions"},
		doctree.Field{Name: "requires", Type: object(requires).OrNull(), Doc: "what the case requires of the runner"},
		doctree.Field{Name: "expect", Type: object(s.expect).OrNull().As(`{"anyOf": [
			{"required": ["portable"], "properties": {"portable": {"required": ["status"]}}},
			{"required": ["status"]},
			{"required": ["impl"], "properties": {"impl": {"required": ["go"], "properties": {"go": {"required": ["status"]}}}}}
		]}`), Doc: "expected result of a conformance case"})
	s.one.Tag = "type"
	return s
})

// BlockSchema returns the JSON Schema (draft 2020-12) of a block's content, for editors and other
// tools. It cannot express rules that depend on a target, on files or on the form of texts, and it
// rejects unknown keys; checking covers the rest.
func BlockSchema() []byte { return doctree.Schema("spectest.v1", blockType()) }

// blockType is the type of a block's content.
func blockType() doctree.Type {
	one := doctree.Object(format().one).As(`{
		"if": {"properties": {"type": {"const": "system.call"}}, "required": ["type"]},
		"then": {"anyOf": [{"required": ["operation"]}, {"required": ["input"]}]}
	}`)
	return doctree.List(one).Must().OrElse(one)
}
