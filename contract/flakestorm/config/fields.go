package config

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/seq"
)

// shapes holds the declared keys of a document, section by section.
type shapes struct {
	document, agent, model, mutations, invariant, event, output, advanced, chaos, tool, llm, attack, scenario, contract,
	prompt, turn, condition, user, replays, session, message, response, reply, source, filter, scoring, weights, endpoint, similarity *doctree.Shape
}

var format = sync.OnceValue(func() *shapes {
	text, truth, any, object := doctree.Text().OrNull(), doctree.Truth().Loosely(), doctree.Any(), doctree.Object
	texts := doctree.List(doctree.Text()).OrNull()
	integer := func(low, high float64) doctree.Type { return doctree.Integer(low, high).Loosely() }
	whole := func(low, high float64) doctree.Type { return integer(low, high).OrNull() }
	number := func(low, high float64) doctree.Type { return doctree.Number(low, high).Loosely().OrNull() }
	list := func(s *doctree.Shape) doctree.Type { return doctree.List(object(s)).OrNull() }
	above := func(high float64) doctree.Type { return doctree.Number(0, high).Loosely().MoreThan(0) }
	pairs := doctree.Named(doctree.Text()).OrNull()
	may := func(name string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t, Doc: doc, For: only}
	}
	def := func(name, value string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t, Doc: doc, For: only, Default: value}
	}
	need := func(name string, t doctree.Type, doc string, only ...string) doctree.Field {
		t.Filled = true
		return doctree.Field{Name: name, Type: t, Doc: doc, For: only, Need: true}
	}
	// elsewhere adds the types with which flakestorm's own documents, its flakestorm.yaml and
	// docs/TEST_SCENARIOS.md, give a key that has no effect there.
	elsewhere := func(f doctree.Field, words ...string) doctree.Field { f.Elsewhere = words; return f }
	shape := func(name, doc string, fields ...doctree.Field) *doctree.Shape {
		return &doctree.Shape{Name: name, Doc: doc, Fields: fields}
	}
	tagged := func(tag string, s *doctree.Shape) *doctree.Shape { s.Tag = tag; return s }
	const milliseconds = ", in milliseconds"
	s := &shapes{}
	python, templated, kept := []string{Python, LangChain}, []string{HTTP, LangChain, Command, MCP}, []string{HTTP, OpenAI, MCP}
	s.agent = tagged("type", shape("agent", "the agent under test and how to reach it",
		def("type", `"http"`, doctree.Word(HTTP, Python, LangChain, OpenAI, Command, MCP), "how to reach the agent"),
		may("endpoint", doctree.Text(), "its URL; for type python or langchain, module:attribute"),
		def("method", `"POST"`, doctree.Text(), "method of the request: GET, POST, PUT, PATCH or DELETE", HTTP),
		elsewhere(may("request_template", text, "body of the request, with {prompt} for the prompt", templated...), Python),
		elsewhere(may("response_path", text, "JSON path of the reply in the response, such as $.reply", HTTP, Command), Python),
		may("query_params", pairs, "query parameters to add to the URL", HTTP),
		def("parse_structured_input", "true", truth, "fill the template from the fields of a structured prompt", templated...),
		def("timeout", "30000", integer(1000, 300000).As(`{"minimum": 1, "not": {"exclusiveMinimum": 300, "exclusiveMaximum": 1000}}`), "longest time for one call"+milliseconds), may("headers", pairs, "headers of the request", kept...),
		may("reset_endpoint", text, "URL to call before each case, to clear the agent's memory"),
		may("reset_function", text, "function to call before each case, to clear a Python agent's memory: module:function", python...),
		may("command", doctree.Text().Must().OrElse(doctree.List(doctree.Text()).Must()).OrNull(), "command line that starts the agent; for type command, that runs it for each prompt", append(kept, Command)...),
		may("dir", text, "folder to start the agent in"),
		may("env", pairs, "environment variables to add"), may("ready", text, "URL that answers once the agent is up", kept...),
		def("ready_timeout", "30000", whole(100, 600000), "longest time for the agent to come up"+milliseconds),
		may("model", text, "name of the model", OpenAI), may("system", text, "for type openai, the system message; without type and endpoint, a system file"),
		may("api_key", text, "API key, as a variable: ${NAME}", OpenAI), may("tools", texts, "the agent's tools: module:function", python...),
		may("tool_registry", text, "object that holds the agent's tools: module:registry", python...), may("tool", text, "tool to call for each prompt", MCP),
		may("python", text, "Python interpreter to run the agent with", python...), may("isolate", truth.OrNull(), "start a fresh process for every cell", append(kept, python...)...),
		may("tool_gateways", pairs, "address of each tool, by name, for an agent that uses no proxy"), may("llm_gateway", text, "address of the real model endpoint, for an agent that uses no proxy")))
	s.agent.TagDefault = HTTP
	s.model = shape("model", "the model that writes mutations, with mutations.writer: llm", def("provider", `"ollama"`, text, "provider: ollama, openai, anthropic or google"),
		def("name", `"qwen3:8b"`, doctree.Text(), "name of the model"), may("api_key", text, "API key, as a variable: ${NAME}"),
		may("base_url", text, "address of the endpoint; the provider's own by default"), def("temperature", "0.8", number(0, 2), "sampling temperature"))
	s.mutations = shape("mutations", "how golden prompts are mutated", def("count", "10", integer(1, 50), "mutations of each golden prompt"),
		may("types", doctree.List(doctree.Word(typeNames()...)).Must(), "types of mutation to make"), may("weights", doctree.Named(doctree.Number(0, math.MaxFloat64).Loosely()), "weight of each type"),
		may("custom_templates", doctree.Named(doctree.Text()), "your templates, with {prompt} for the prompt"), def("writer", `"offline"`, doctree.Word("offline", "llm"), "what writes the mutations: built-in rules or the model"),
		def("cache", "true", truth, "keep what the model writes for later runs"), def("limit", "200", integer(1, 1_000_000), "most mutations over all prompts"))
	status := integer(100, 599).OrElse(doctree.Text().Like(`^[1-5][xX]{2}$`))
	kinds := `{"oneOf": [` + strings.Join(seq.Map(eventKinds, func(k string) string {
		return fmt.Sprintf(`{"required": [%q], "properties": {%[1]q: {"not": {"type": "null"}}}}`, k)
	}), ", ") + `]}`
	s.event = shape("event", "selects events of a trace", may("tool", text, "calls of tools with this name or glob"), may("model", text, "calls of models with this name or glob"),
		may("fault", text, "injected faults of this mode"), may("reply", doctree.Truth().As(`{"const": true}`).OrElse(text).OrNull(), "the agent's reply: true for any, or a regular expression"),
		may("said", doctree.Truth().As(`{"const": true}`).OrElse(text).OrNull(), "what the agent said before its reply: true for anything, or a regular expression"), may("status", status.OrElse(doctree.List(status)).OrNull(), "HTTP status: a number, a class such as 4xx, or a list"),
		may("failed", truth.OrNull(), "true: only failed calls; false: only successful ones"), may("text", text, "regular expression that the event's text matches"), may("arguments", doctree.Named(any).OrNull(), "arguments that the call has"))
	event := doctree.Text().OrElse(object(s.event).As(kinds))
	count := whole(0, math.MaxInt32)
	contains := []string{"contains", "not_contains"}
	rate, most := may("min_pass_rate", above(1).OrNull().As(`{"exclusiveMaximum": 1}`), "share of a cell's runs that must hold, below 1; all of them by default"), may("max_runs", whole(1, 1000), "most runs of a cell whose rate is not clear yet; 200 by default")
	s.invariant = tagged("type", shape("invariant", "a check of the agent's replies and actions",
		may("id", text, "name of the invariant; required in a contract"), need("type", doctree.Word(InvariantTypes...), "what to check"),
		may("description", text, "description for people"), def("severity", `"medium"`, doctree.Word(Severities...).OrNull(), "how serious a failure is"),
		def("when", `"always"`, doctree.Word(Conditions...).OrNull(), "when it applies"),
		def("negate", "false", truth, "require the opposite"), may("prompt_filter", text, "check only replies to prompts that match this regular expression"),
		may("probes", texts, "in a contract, prompts to ask instead of the golden ones"), rate, most,
		need("value", doctree.Text(), "text to look for in the reply", contains...), need("values", doctree.List(doctree.Text()), "texts, at least one of which must be in the reply", "contains_any"),
		def("case_sensitive", "false", truth, "match upper and lower case exactly", "contains", "not_contains", "contains_any", "excludes_pattern", "regex"),
		need("pattern", doctree.Text(), "regular expression that must match the reply", "regex"), need("patterns", doctree.List(doctree.Text()), "texts or regular expressions that must not occur", "excludes_pattern"),
		need("max_ms", above(math.MaxInt32), "longest time for a call"+milliseconds, "latency"),
		may("percentile", number(0, 100), "percentile of all calls that must stay within the limit; every call by default", "latency", "tokens", "cost"),
		need("expected", doctree.Text(), "text that the reply must resemble", "similarity"),
		elsewhere(def("threshold", "0.8", number(0, 1), "smallest similarity", "similarity"), "latency", "valid_json"),
		may("baseline", text, "reply to compare with: auto for the reply without chaos, or a text", "behavior_unchanged"),
		def("similarity_threshold", "0.75", number(0, 1), "smallest similarity", "behavior_unchanged"),
		elsewhere(def("dangerous_prompts", "true", truth, "no effect: replies are checked whatever the prompt is", "refusal_check", "refusal"), "latency", "valid_json"),
		need("tool", doctree.Text(), "name or glob of the tool", "tool_called", "tool_not_called", "tool_arguments"),
		may("arguments", doctree.Named(any).OrNull(), "arguments that the call must have", "tool_arguments", "trace"),
		need("event", event, "the events that the rule is about", "trace"), may("at_most", count, "most occurrences", "trace"),
		may("at_least", count, "fewest occurrences", "trace"), may("exactly", count, "exact number of occurrences", "trace"),
		may("per", text, "argument, or * for all of them; occurrences are counted for each of its values", "trace"), may("before", event.OrNull(), "each of these must have the event before it", "trace"),
		may("after", event.OrNull(), "each event must have one of these before it", "trace"), may("never_after", event.OrNull(), "the event must not come after any of these", "trace"),
		may("within", any, "longest time between the two, such as 5s, or the window of at_most", "trace"),
		need("schema", doctree.Named(any).OrElse(doctree.Text().Must()), "JSON Schema, or the name of its file", "json_schema"), need("max", above(math.MaxFloat64), "highest value allowed", "tokens", "cost"),
		may("input_price", number(0, math.MaxFloat64), "price of a million input tokens", "cost"), may("output_price", number(0, math.MaxFloat64), "price of a million output tokens", "cost"),
		need("criteria", doctree.Text(), "criteria for the judging model", "llm_judge")))
	expect := may("expect", list(s.invariant), "invariants that the reply must hold")
	some := text.OrElse(doctree.List(doctree.Text()))
	s.condition = shape("condition", "a condition on the agent's last reply", may("contains", some, "text, or list of texts of which the reply contains one"),
		may("not_contains", some, "text, or list of texts of which the reply contains none"), may("matches", text, "regular expression that the reply matches"))
	s.turn = shape("turn", "a turn of a conversation", need("say", doctree.Text(), "message to the agent"), expect,
		may("when", object(s.condition).As(`{"minProperties": 1}`).OrNull(), "say this turn only after such a reply; otherwise continue with the next"))
	s.user = shape("simulated user", "a model that continues the conversation as a user would", need("goal", doctree.Text(), "what the user wants and knows"),
		need("system", doctree.Text(), "system file of the model"), def("turns", "5", integer(1, 50), "most messages that the model writes"))
	s.prompt = shape("golden prompt", "a prompt or conversation, with expectations", may("id", text, "name of the prompt"),
		may("prompt", text, "the prompt, if there is a single turn"),
		may("turns", doctree.List(doctree.Text().OrElse(object(s.turn))).Must(), "the user's messages, in order"), expect,
		may("user", object(s.user).OrNull(), "a model that continues the conversation after these turns"),
		may("dataset", text, ".jsonl, .csv or .tsv file: ask once for each row, with {column} replaced by the row's value"),
		may("sample", whole(1, 1_000_000), "number of rows to draw, by the seed"),
		may("tags", texts, "tags to filter by"), may("tools", texts, "tools that the agent may call"))
	s.output = shape("output", "where and how the report is written", def("format", `"html"`, doctree.Word("html", "json", "terminal"), "format of the report"), def("path", `"./reports"`, doctree.Text(), "folder of the report"),
		def("filename_template", `"flakestorm-{date}-{time}"`, doctree.Text(), "file name of the report"), def("evidence", `"all"`, doctree.Word(EvidenceAll, EvidenceFailures), "cases whose evidence is kept"))
	s.advanced = shape("advanced", "how the run is executed", def("concurrency", "10", integer(1, 100), "calls at the same time"), def("retries", "2", integer(0, 5), "retries of a failed call"),
		may("seed", whole(-1<<53, 1<<53), "seed of the random generator"))
	trigger := func(probability string) []doctree.Field {
		return []doctree.Field{may(probability, number(0, 1), "probability that the fault fires, for each call"), may("after_calls", count, "number of the first call on which the fault may fire"),
			may("on_calls", doctree.List(integer(1, math.MaxInt32)).OrNull(), "numbers of the calls on which the fault fires, from 1"), may("times", count, "most times that the fault fires")}
	}
	answered := whole(0, 999)
	delay := func(modes ...string) doctree.Field {
		return may("delay_ms", whole(0, longest), "delay of the call"+milliseconds, append(modes, "timeout", "slow")...)
	}
	s.tool = tagged("mode", shape("tool fault", "a fault injected into tool calls", append(trigger("probability"),
		need("tool", doctree.Text(), "name of the tool, or * for all"), need("mode", doctree.Word(modeWords(fault.Tool)...), "kind of fault"), may("match_url", text, "only calls to URLs that match this glob"),
		delay("performed_reply_lost", "late_reply"), may("error_code", answered, "HTTP status to answer with", "error", "performed_reply_lost"),
		may("message", text, "text of the error", "error", "performed_reply_lost"), may("payload", text, "what the tool answers instead", "malicious_response"), may("bytes_per_second", count, "rate at which the answer arrives", "bandwidth"))...))
	s.llm = tagged("mode", shape("LLM fault", "a fault injected into model calls", append(trigger("probability"),
		need("mode", doctree.Word(modeWords(fault.LLM)...), "kind of fault"), may("max_tokens", count, "tokens of the answer that arrive", "truncated_response"), delay(),
		may("drift_type", text, "how the answer drifts, as from a newer model", "response_drift"), may("severity", text, "no effect", "response_drift"),
		def("direction", `"expand"`, doctree.Word("expand", "compress"), "whether answers get longer or shorter", "response_drift"), may("factor", number(0, 1000), "factor by which the length changes", "response_drift"),
		may("retry_after", whole(0, 86400), "seconds that Retry-After asks for", "rate_limit"), may("error_code", answered, "HTTP status to answer with", "error"),
		may("message", text, "text of the error or refusal", "error", "refusal", "context_length"), may("match_url", text, "only calls to URLs that match this glob"))...))
	payload := []string{"indirect_injection", "memory_poisoning", "conflicting_context", "injection_via_context"}
	s.attack = tagged("type", shape("context attack", "text planted in what the agent reads", append(trigger("trigger_probability"),
		need("type", doctree.Word(modeWords(fault.Context)...), "kind of attack"), may("enabled", truth, "in a mapping of attacks by type: false turns this one off"),
		may("inject_tokens", count, "tokens of text to insert", "overflow"), may("payloads", texts, "texts to plant", payload...), may("payload", text, "text to plant", payload...),
		may("inject_at", text, "where to plant it"), may("strategy", doctree.Word(string(fault.Append), string(fault.Prepend), string(fault.Swap)).OrNull(), "place of the planted text: after the original, before it, or instead of it; by default overflow goes before, all others after"),
		may("tool", text, "only results of this tool"), may("match_url", text, "only calls to URLs that match this glob"))...))
	faults := func(context doctree.Type) []doctree.Field {
		return []doctree.Field{may("tool_faults", doctree.List(object(s.tool)), "faults of tool calls"), may("llm_faults", doctree.List(object(s.llm)), "faults of model calls"),
			may("context_attacks", context, "text planted in what the agent reads"), may("profiles", texts, "built-in profiles: "+doctree.Either(Profiles()))}
	}
	s.chaos = shape("chaos", "the faults to inject", faults(list(s.attack).OrElse(doctree.Named(any)))...)
	s.scenario = shape("scenario", "a scenario of the contract's matrix", append(faults(list(s.attack)), need("name", doctree.Text(), "name of the scenario"), may("description", text, "description for people"))...)
	invariants := doctree.List(object(s.invariant))
	s.contract = shape("contract", "what must hold under which faults", need("name", doctree.Text(), "name of the contract"), may("description", text, "description for people"),
		may("invariants", doctree.List(object(s.invariant).As(`{"required": ["id"], "properties": {"id": {"type": "string", "minLength": 1}}}`)), "the invariants"), may("chaos_matrix", doctree.List(object(s.scenario)), "the scenarios"),
		def("runs_per_cell", "1", whole(1, 1000), "runs of each cell; with min_pass_rate, the first sample"), rate, most)
	s.message = shape("message", "a message of a session's context", def("role", `"user"`, doctree.Text(), "role of the speaker"), may("content", doctree.Text(), "text of the message"), may("text", doctree.Text(), "another name of content"))
	answer := []doctree.Field{may("response", any, "the answer"), may("status", answered, "HTTP status"), may("content_type", text, "content type of the answer"),
		may("connection", doctree.Word("closed", "reset"), "how the connection ended before the answer was complete"), may("latency_ms", count, "time until the answer"+milliseconds)}
	s.response = shape("tool response", "a recorded answer of a tool", append(answer[:5:5], need("tool", doctree.Text(), "name of the tool"), may("raises", text, "class of the exception that the tool raised"))...)
	s.reply = shape("model response", "a recorded reply of a model", append(answer[:5:5], may("model", text, "provider or name of the model"), may("asked", text, "digest of the request that this reply answers"))...)
	model := may("model", doctree.Word(ModelLive, ModelRecorded), "where model replies come from: the real model, or model_responses")
	s.session = shape("session", "a recorded conversation", may("id", doctree.Text(), "name of the session"), may("name", text, "title for people"), def("source", `"manual"`, doctree.Text(), "origin of the recording"),
		may("captured_at", text, "time of the recording"), may("input", doctree.Text(), "what the agent is asked"), may("context", doctree.List(object(s.message)), "earlier messages of the conversation"),
		may("tool_responses", doctree.List(object(s.response)), "recorded answers of the tools"),
		model, may("model_responses", list(s.reply), "recorded replies of the model"), may("trace", texts, "recorded calls in order; a replay is compared with them"), may("reply", text, "recorded reply of the agent"), may("expected_failure", text, "what went wrong then, for people"),
		def("contract", `"default"`, doctree.Text(), "contract to check: its name or file"), may("file", text, "file that holds the session"))
	s.filter = shape("filter", "which runs to import", def("status", `"error"`, doctree.Text(), "status of the run"), may("date_range", text, "time of the run"), may("min_latency_ms", count, "shortest duration of the run"+milliseconds))
	s.source = tagged("type", shape("source", "where to import sessions from", need("type", doctree.Word("langsmith", "langsmith_run"), "kind of source"),
		need("project", doctree.Text(), "name of the project", "langsmith"), may("filter", object(s.filter).OrNull(), "which of its runs to import", "langsmith"),
		def("auto_import", "false", truth, "import again at every run", "langsmith"), need("run_id", doctree.Text(), "id of the run", "langsmith_run")))
	s.replays = shape("replays", "recorded conversations to replay", model, may("sessions", doctree.List(object(s.session).As(`{"anyOf": [{"required": ["file"]}, {"required": ["id", "input"]}]}`)), "the recorded sessions"), may("sources", doctree.List(object(s.source)), "where to import more sessions from"))
	weight := func(name, value string) doctree.Field {
		return def(name, value, number(0, 1), "weight of this phase")
	}
	weights := []doctree.Field{weight("mutation", "0.2"), weight("chaos", "0.35"), weight("contract", "0.35"), weight("replay", "0.1")}
	s.weights = shape("weights", "weights of the phases in the score; they must sum to 1", weights...)
	s.scoring = shape("scoring", "how the overall score is made", append(weights[:4:4], may("weights", object(s.weights).OrNull(), "weights of the phases"))...)
	server := []doctree.Field{need("base_url", doctree.Text(), "address of the endpoint"), need("name", doctree.Text(), "name of the model"), may("api_key", text, "API key, as a variable: ${NAME}"),
		def("timeout", "60000", whole(100, 600000), "longest time for one call"+milliseconds)}
	s.endpoint = shape("judge", "the model that judges for llm_judge", server...)
	s.similarity = shape("similarity", "how similarity and behavior_unchanged compare texts", def("measure", `"auto"`, doctree.Word("auto", "lexical", "embeddings", "sentence-transformers"), "the measure"),
		may("base_url", doctree.Text(), "address of an embeddings server"), may("name", text, "name of the model"), may("api_key", text, "API key, as a variable: ${NAME}"), def("timeout", "60000", whole(100, 600000), "longest time for one call"+milliseconds))
	s.document = shape("flakestorm v2", "a test of an agent", def("version", `"1.0"`, doctree.Text(), "version of the format"), need("agent", object(s.agent).As(`{"if": {"properties": {"type": {"const": "command"}}, "required": ["type"]}, "then": {"required": ["command"]},
			"else": {"anyOf": [{"required": ["endpoint"]}, {"required": ["system"], "properties": {"type": false}}, {"required": ["command", "type"], "properties": {"type": {"const": "mcp"}}}]}}`), "the agent under test"),
		may("model", object(s.model), "the model that writes mutations"), may("mutations", object(s.mutations), "how golden prompts are mutated"),
		need("golden_prompts", doctree.List(doctree.Text().OrElse(object(s.prompt).As(`{"anyOf": [{"required": ["turns"]}, {"required": ["prompt"]}, {"required": ["dataset"]}]}`))), "what the agent is asked"), may("invariants", invariants, "what every reply must hold"),
		may("output", object(s.output), "where and how the report is written"), may("advanced", object(s.advanced), "how the run is executed"), may("chaos", object(s.chaos).OrNull(), "the faults to inject"),
		may("contract", object(s.contract).OrNull(), "what must hold under which faults"), may("chaos_matrix", list(s.scenario), "scenarios of a contract without its own"),
		may("replays", object(s.replays).OrNull(), "recorded conversations to replay"), may("scoring", object(s.scoring).OrNull(), "how the overall score is made"),
		may("judge", object(s.endpoint).OrNull(), "the model that judges for llm_judge"), may("similarity", object(s.similarity).OrNull(), "how texts are compared"),
		may("phases", doctree.List(doctree.Word(PhaseNames()...)).OrNull(), "phases to run; all by default"),
		may("checks", doctree.Named(truth).OrElse(truth).OrNull(), "built-in checks to turn off: a mapping of ids to false, or false for all"),
		may("effects", doctree.Named(truth).OrNull(), "for each tool, whether a call changes something; otherwise its name and method decide"))
	return s
})

// Format returns the type of a document.
func Format() doctree.Type { return doctree.Object(format().document) }

// Files returns the types of the files that documents name: replay files and contracts.
func Files() []doctree.Type {
	return []doctree.Type{doctree.Object(format().session), doctree.Object(format().contract)}
}
