package spectest

import (
	_ "embed"
	"math"
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
)

//go:embed schema/assert.schema.json
var assertSchema string

// captureSources are the keys of a capture that say where the value is.
var captureSources = []string{"cookie", "header", "json", "regex", "xpath"}

// shapes are the mappings of a case that are opened by themselves.
type shapes struct{ one, budget, file, captured, part, expect, outcome *doctree.Shape }

// format declares cases. A text field takes any YAML scalar, as Python's str does;
// the schema beside it says so to editors.
var format = sync.OnceValue(func() (s shapes) {
	any, truth, object, named := doctree.Any(), doctree.Truth().OrNull(), doctree.Object, doctree.Named
	scalar := doctree.Text().As(`{"type": ["string", "number", "boolean", "null"]}`)
	texts := doctree.List(scalar).OrElse(doctree.Text()).OrNull()
	command, sent, cli, http, system := []string{typeCLI}, []string{typeHTTP, typeCLI, typeSystem}, []string{typeCLI}, []string{typeHTTP}, []string{typeSystem}
	shape := func(name, doc string, fields ...doctree.Field) *doctree.Shape {
		return &doctree.Shape{Name: name, Doc: doc, Fields: fields}
	}
	atLeast := func(low float64) doctree.Type { return doctree.Integer(low, math.Inf(1)).OrNull() }
	s.budget = shape("spec_lang", "bounds of the evaluation of one predicate",
		doctree.Field{Name: "max_steps", Type: atLeast(1), Default: "20000", Doc: "expressions evaluated"},
		doctree.Field{Name: "max_nodes", Type: atLeast(1), Default: "20000", Doc: "lists and scalars of the expression"},
		doctree.Field{Name: "max_literal_bytes", Type: atLeast(1), Default: "262144", Doc: "bytes of all strings of the expression"},
		doctree.Field{Name: "timeout_ms", Type: atLeast(0), Default: "200", Doc: "milliseconds; 0: no limit"})
	s.file = shape("setup file", "a file in the temporary folder of the case",
		doctree.Field{Name: "path", Need: true, Type: doctree.Text().As(`{"pattern": "^[^/~]"}`), Doc: "relative to the folder"},
		doctree.Field{Name: "text", Type: any, Doc: "what it holds"})
	hook := scalar.As(`{"type": ["string", "number", "boolean", "null"], "pattern": "^\\s*$|\\S\\s*:\\s*\\S"}`)
	harness := shape("harness", "how the case is run",
		doctree.Field{Name: "entrypoint", For: command, Type: scalar.OrElse(doctree.List(scalar)), Doc: "`module:function`, or a command line: words, single and double quotes, backslash; no shell. Without it, `SPEC_RUNNER_ENTRYPOINT` of `env` or of the environment"},
		doctree.Field{Name: "env", For: command, Type: named(any).OrNull().As(`{"propertyNames": {"pattern": "^[^=]+$"}}`), Doc: "variables to set, or with `null` to remove; a relative value that names a setup file becomes its path"},
		doctree.Field{Name: "stdin_text", For: command, Type: any, Doc: "standard input; otherwise it is empty"},
		doctree.Field{Name: "stdin_isatty", For: command, Type: any, Doc: "what a Python function sees; command lines have no terminal"},
		doctree.Field{Name: "setup_files", For: command, Type: doctree.List(object(s.file)).OrElse(object(s.file)).OrNull(), Doc: "files in the case's temporary folder, which `THRESH_TMPDIR` names"},
		doctree.Field{Name: "stub_modules", For: command, Type: texts, Doc: "for Python functions: modules that exist but are empty"},
		doctree.Field{Name: "block_imports", For: command, Type: texts, Doc: "for Python functions: modules that cannot be imported"},
		doctree.Field{Name: "hook_before", For: command, Type: hook, Doc: "for Python functions: `module:function`, called before it with `case`, `ctx` and `harness`"},
		doctree.Field{Name: "hook_after", For: command, Type: hook, Doc: "for Python functions: `module:function`, called after it with `case`, `ctx` and `result`"},
		doctree.Field{Name: "hook_kwargs", For: command, Type: named(any).OrNull(), Doc: "further arguments of hooks"},
		doctree.Field{Name: "system", For: system, Type: any, Doc: "a system file, or the mapping that would stand in one (an addition)"},
		doctree.Field{Name: "spec_lang", Type: object(s.budget).OrElse(any.As(`{"enum": [null, false, 0, "", []]}`)), Doc: "bounds of the evaluation of one predicate"},
		doctree.Field{Name: "timeout_seconds", For: sent, Type: doctree.Number(0, 1e9).MoreThan(0).OrNull(), Doc: "what it may take: by default a command `--cli-timeout` (60), a request 5, a call what its system says (an addition)"},
		doctree.Field{Name: "isolate", For: command, Type: truth, Default: "false", Doc: "run in a copy of the folder that commands share (an addition)"},
		doctree.Field{Name: "repeatable", For: sent, Type: truth, Doc: "whether a failure is confirmed by running the case again (an addition)"},
		doctree.Field{Name: "after", Type: scalar.OrElse(doctree.List(scalar)).OrNull(), Doc: "the id of a case above, or a list of ids: it runs after them, as a step of one chain (an addition)"},
		doctree.Field{Name: "always", Type: truth, Default: "false", Doc: "run also after a case of the chain that fails (an addition)"})
	harness.Tag, harness.Outer = "type", true
	basic := shape("basic", "a name and a password",
		doctree.Field{Name: "user", Need: true, Type: scalar, Doc: "the name"}, doctree.Field{Name: "password", Need: true, Type: scalar, Doc: "the password"})
	retry := shape("retry", "how often a request is sent again until its assertions hold",
		doctree.Field{Name: "times", Need: true, Type: doctree.Integer(1, 8191), Doc: "at most so often"},
		doctree.Field{Name: "every", Type: scalar, Default: `"1s"`, Doc: "the time between: `500ms`, or seconds"})
	relative := `{"type": ["string", "number", "boolean", "null"], "pattern": "^([^/]|$)"}`
	s.part = shape("part", "a part of a multipart body",
		doctree.Field{Name: "file", Type: scalar.As(relative), Doc: "a file beside the document that the part is"},
		doctree.Field{Name: "text", Type: any, Doc: "the text that it is"},
		doctree.Field{Name: "type", Type: scalar, Doc: "its media type; of a file by its name otherwise"},
		doctree.Field{Name: "filename", Type: scalar, Doc: "the name that is sent; that of the file otherwise"})
	request := shape("request", "what is sent",
		doctree.Field{Name: "method", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^\\s*[^\\s/]+\\s*$"}`), Doc: "`GET`, `POST`, ..."},
		doctree.Field{Name: "url", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^\\s*[^/\\s]"}`), Doc: "where to; without a scheme a file beside the document, answered with status 200"},
		doctree.Field{Name: "headers", Type: named(any).OrNull(), Doc: "names and values"},
		doctree.Field{Name: "body_text", Type: any, Doc: "the body as text"},
		doctree.Field{Name: "body_json", Type: any, Doc: "the body, written as JSON"},
		doctree.Field{Name: "body_file", Type: scalar.As(relative), Doc: "a file beside the document that is the body (an addition)"},
		doctree.Field{Name: "form", Type: named(any).OrNull(), Doc: "names and values, or lists of values, that are the body of a form (an addition)"},
		doctree.Field{Name: "multipart", Type: named(object(s.part).OrElse(scalar)).OrNull(), Doc: "names with texts or with mappings such as `{file: logo.png}`, that are the body of a form with files (an addition)"},
		doctree.Field{Name: "query", Type: named(any).OrNull(), Doc: "the same, encoded into the url (an addition)"},
		doctree.Field{Name: "basic", Type: object(basic).OrNull(), Doc: "the `Authorization` header (an addition)"},
		doctree.Field{Name: "bearer", Type: scalar, Doc: "a token for the `Authorization` header (an addition)"},
		doctree.Field{Name: "redirects", Type: doctree.Integer(0, 100).OrElse(doctree.Truth().As(`{"enum": [false]}`)).OrNull(), Doc: "how many are followed, `false` for none; the answer that asks for one more is the answer. Without it ten are, and more are a failure (an addition)"},
		doctree.Field{Name: "insecure", Type: truth, Default: "false", Doc: "certificates are not checked (an addition)"},
		doctree.Field{Name: "cacert", Type: scalar.As(relative), Doc: "a file beside the document with certificates (PEM) that the server's is checked by (an addition)"},
		doctree.Field{Name: "cert", Type: scalar.As(relative), Doc: "a file with the client's certificate (PEM), and its key unless `key` names another (an addition)"},
		doctree.Field{Name: "key", Type: scalar.As(relative), Doc: "a file with the key of `cert` (an addition)"},
		doctree.Field{Name: "proxy", Type: scalar, Doc: "the URL of a proxy, or `none`; otherwise that of the environment (an addition)"},
		doctree.Field{Name: "cookies", Type: named(any).OrNull(), Doc: "names and values for the `Cookie` header (an addition)"},
		doctree.Field{Name: "retry", Type: object(retry).OrNull(), Doc: "the request is sent again until its assertions hold (an addition)"})
	health := shape("assert_health", "what is done about doubtful assertions",
		doctree.Field{Name: "mode", Type: scalar.As(`{"type": "string", "pattern": "^\\s*([Ii][Gg][Nn][Oo][Rr][Ee]|[Ww][Aa][Rr][Nn]|[Ee][Rr][Rr][Oo][Rr])\\s*$"}`), Doc: "`ignore`, `warn` or `error`"})
	requires := shape("requires", "what the case needs of the runner",
		doctree.Field{Name: "capabilities", Type: doctree.List(any).OrNull(), Doc: "names such as `cli.run`"},
		doctree.Field{Name: "when_missing", Type: scalar.As(`{"type": "string", "pattern": "^\\s*([Ss][Kk][Ii][Pp]|[Ff][Aa][Ii][Ll])\\s*$"}`), Default: `"fail"`, Doc: "`skip` or `fail`"})
	outcome := []doctree.Field{
		{Name: "status", Type: doctree.Word("pass", "fail", "skip"), Doc: "what the case results in"},
		{Name: "category", Type: doctree.Word(Schema, Assertion, Runtime).OrNull(), Doc: "of a failure"},
		{Name: "message_tokens", Type: doctree.List(any).OrNull(), Doc: "what the message holds"}}
	s.outcome = shape("outcome", "what a case results in", outcome...)
	s.expect = shape("expect", "what a conformance case results in", append([]doctree.Field{
		{Name: "portable", Type: object(s.outcome).OrNull(), Doc: "for every implementation"},
		{Name: "impl", Type: named(object(s.outcome).OrNull()).OrNull(), Doc: "by implementation, over `portable`; this one is `go`"}}, outcome...)...)
	s.captured = shape("captured value", "where a value is that a case hands on",
		doctree.Field{Name: "json", Type: any, Doc: "a JSON path such as `$.id`"},
		doctree.Field{Name: "header", Type: any, Doc: "the name of a header of the answer"},
		doctree.Field{Name: "cookie", Type: any, Doc: "the name of a cookie that the answer sets"},
		doctree.Field{Name: "xpath", Type: any, Doc: "an XPath such as `//title`, in XML or HTML; of nodes the text"},
		doctree.Field{Name: "regex", Type: any, Doc: "a pattern (RE2), whose first group is the value"},
		doctree.Field{Name: "target", Type: any, Doc: "the target that is looked at; without another key, all of it"},
		doctree.Field{Name: "secret", Type: any, Doc: "`true` keeps the value out of reports"})
	s.one = shape("case", "one test",
		doctree.Field{Name: "id", Need: true, Type: scalar.As(`{"type": ["string", "number", "boolean"], "pattern": "^\\s*[^\\s\u0000-\u001f\u007f-\u009f\u2028\u2029]([^\u0000-\u001f\u007f-\u009f\u2028\u2029]*[^\\s\u0000-\u001f\u007f-\u009f\u2028\u2029])?\\s*$"}`), Doc: "names the case in reports"},
		doctree.Field{Name: "type", Need: true, Type: doctree.Word(caseTypes()...), Doc: "what is looked at: a file, a command, an HTTP answer, a call of a system (an addition)"},
		doctree.Field{Name: "title", Type: any, Doc: "for people"},
		doctree.Field{Name: "purpose", Type: any, Doc: "for people and style tools: why the case exists"},
		doctree.Field{Name: "purpose_lint", Type: any, Doc: "settings of style tools for this case"},
		doctree.Field{Name: "tags", Type: doctree.List(any).OrElse(scalar), Doc: "words for `--filter tag=` (an addition)"},
		doctree.Field{Name: "path", For: []string{typeTextFile}, Type: scalar.As(relative), Doc: "the file, relative to the document; without it the document itself"},
		doctree.Field{Name: "argv", For: cli, Type: doctree.List(any).OrElse(doctree.Text(), named(any)).OrNull(), Doc: "arguments after those of the entrypoint"},
		doctree.Field{Name: "exit_code", For: cli, Type: any.As(`{"type": ["integer", "number", "boolean", "string"], "pattern": "^\\s*[+-]?[0-9]+\\s*$"}`), Default: "0", Doc: "what the command must end with; after a signal it is 128 and its number"},
		doctree.Field{Name: "request", For: http, Need: true, Type: object(request), Doc: "what is sent"},
		doctree.Field{Name: "operation", For: system, Type: scalar, Doc: "what the system is asked to do; optional with `input`"},
		doctree.Field{Name: "arguments", For: system, Type: named(any).OrElse(doctree.List(any)).OrNull(), Doc: "by name, or by position"},
		doctree.Field{Name: "input", For: system, Type: any, Doc: "bytes for where the system's `input` says"},
		doctree.Field{Name: "harness", Type: object(harness).OrNull(), Doc: "how the case is run"},
		doctree.Field{Name: "assert", Type: any.As(assertSchema), Doc: "what must hold"},
		doctree.Field{Name: "capture", Type: named(doctree.Text().Like(`^\$`).OrElse(object(s.captured).As(`{"maxProperties": 3}`))).OrNull().As(
			`{"minProperties": 1, "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_.-]*$"}}`), Doc: "values for the cases below, as `${NAME}` (an addition)"},
		doctree.Field{Name: "assert_health", Type: object(health).OrNull(), Doc: "what is done about doubtful assertions"},
		doctree.Field{Name: "requires", Type: object(requires).OrNull(), Doc: "what the case needs of the runner"},
		doctree.Field{Name: "expect", Type: object(s.expect).OrNull().As(`{"anyOf": [
			{"required": ["portable"], "properties": {"portable": {"required": ["status"]}}},
			{"required": ["status"]},
			{"required": ["impl"], "properties": {"impl": {"required": ["go"], "properties": {"go": {"required": ["status"]}}}}}
		]}`), Doc: "what a conformance case results in"})
	s.one.Tag = "type"
	return s
})

// BlockSchema returns the JSON Schema (draft 2020-12) of what a block holds, for
// editors and other tools. It cannot express what depends on a target, on files
// or on the form of texts, and takes a key that nothing reads for an error;
// checking says the rest.
func BlockSchema() []byte { return doctree.Schema("spectest.v1", blockType()) }

// blockType is what a block holds.
func blockType() doctree.Type {
	one := doctree.Object(format().one).As(`{
		"if": {"properties": {"type": {"const": "system.call"}}, "required": ["type"]},
		"then": {"anyOf": [{"required": ["operation"]}, {"required": ["input"]}]}
	}`)
	return doctree.List(one).OrElse(one)
}
