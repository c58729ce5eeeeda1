package config

import (
	"math"
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
)

// shapes are what a document declares, section by section.
type shapes struct {
	document, agent, model, mutations, invariant, event, output, advanced, chaos, tool, llm, attack, scenario, contract,
	prompt, turn, condition, user, replays, session, message, response, reply, source, filter, scoring, weights, endpoint, similarity *doctree.Shape
}

var format = sync.OnceValue(func() *shapes {
	text, truth, any, object := doctree.Text().OrNull(), doctree.Truth(), doctree.Any(), doctree.Object
	texts := doctree.List(doctree.Text()).OrNull()
	whole := func(low, high float64) doctree.Type { return doctree.Integer(low, high).OrNull() }
	number := func(low, high float64) doctree.Type { return doctree.Number(low, high).OrNull() }
	list := func(s *doctree.Shape) doctree.Type { return doctree.List(object(s)).OrNull() }
	pairs := doctree.Named(doctree.Text()).OrNull()
	may := func(name string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t, Doc: doc, For: only}
	}
	def := func(name, value string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t, Doc: doc, For: only, Default: value}
	}
	need := func(name string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t, Doc: doc, For: only, Need: true}
	}
	// What flakestorm's own documents write where it has no effect: its flakestorm.yaml and docs/TEST_SCENARIOS.md.
	elsewhere := func(f doctree.Field, words ...string) doctree.Field { f.Elsewhere = words; return f }
	shape := func(name, doc string, fields ...doctree.Field) *doctree.Shape {
		return &doctree.Shape{Name: name, Doc: doc, Fields: fields}
	}
	tagged := func(tag string, s *doctree.Shape) *doctree.Shape { s.Tag = tag; return s }
	const milliseconds = ", in milliseconds"
	s := &shapes{}
	python, templated, kept := []string{Python, LangChain}, []string{HTTP, LangChain, Command, MCP}, []string{HTTP, OpenAI, MCP}
	s.agent = tagged("type", shape("agent", "the agent under test, and how it is reached",
		def("type", `"http"`, doctree.Word(HTTP, Python, LangChain, OpenAI, Command, MCP), "how it is reached"),
		may("endpoint", doctree.Text(), "a URL, or module:attribute of type python or langchain"),
		def("method", `"POST"`, doctree.Text(), "of the request: GET, POST, PUT, PATCH or DELETE", HTTP),
		elsewhere(may("request_template", text, "the body of the request; {prompt} stands for the prompt", templated...), Python),
		elsewhere(may("response_path", text, "where the reply is, such as $.reply", HTTP, Command), Python),
		may("query_params", pairs, "added to the URL", HTTP),
		def("parse_structured_input", "true", truth, "fields of a structured prompt fill the template", templated...),
		def("timeout", "30000", doctree.Integer(1000, 300000), "of a call"+milliseconds), may("headers", pairs, "of the request", kept...),
		may("reset_endpoint", text, "called before a case, so that it begins afresh"),
		may("reset_function", text, "the same for a Python agent: module:function", python...),
		may("command", doctree.Text().OrElse(doctree.List(doctree.Text())).OrNull(), "how it is started, or called", append(kept, Command)...),
		may("dir", text, "the folder in which it is started"),
		may("env", pairs, "added to its environment"), may("ready", text, "a URL that answers once it is up", kept...),
		def("ready_timeout", "30000", whole(100, 600000), "how long it may take to be up"+milliseconds),
		may("model", text, "the model's name", OpenAI), may("system", text, "of type openai the system message; without type and endpoint a system file"),
		may("api_key", text, "a variable as ${NAME}", OpenAI), may("tools", texts, "the agent's tools, module:function", python...),
		may("tool_registry", text, "where its tools are registered: module:registry", python...), may("tool", text, "the tool that is called", MCP),
		may("python", text, "the interpreter", python...), may("isolate", truth.OrNull(), "a fresh process for every cell", append(kept, python...)...),
		may("tool_gateways", pairs, "tools by name with their addresses"), may("llm_gateway", text, "the address of the real LLM endpoint")))
	s.agent.TagDefault = HTTP
	s.model = shape("model", "the model that writes mutations, if it is asked to", def("provider", `"ollama"`, text, "ollama, openai, anthropic or google"),
		def("name", `"qwen3:8b"`, doctree.Text(), "its name"), may("api_key", text, "a variable as ${NAME}"),
		may("base_url", text, "its address; the provider's own if it is not given"), def("temperature", "0.8", number(0, 2), "how freely it writes"))
	s.mutations = shape("mutations", "which mutations of the prompts are made", def("count", "10", doctree.Integer(1, 50), "for each golden prompt"),
		may("types", doctree.List(doctree.Word(typeNames()...)), "their types"), may("weights", doctree.Named(doctree.Number(0, math.Inf(1))), "what they count, by type"),
		may("custom_templates", doctree.Named(doctree.Text()), "wordings of your own with {prompt}"), def("writer", `"offline"`, doctree.Word("offline", "llm"), "who writes them"),
		def("cache", "true", truth, "what a model writes is kept for later runs"), def("limit", "200", doctree.Integer(1, 1_000_000), "over all prompts"))
	s.event = shape("event", "which events of a trace are meant", may("tool", text, "calls of a tool, by its name or a pattern"), may("model", text, "calls of a model"),
		may("fault", text, "faults that were injected, by their mode"), may("reply", truth.OrElse(text).OrNull(), "the agent's reply: true, or a regular expression"),
		may("said", truth.OrElse(text).OrNull(), "what the agent said in between"), may("status", any, "its HTTP status, a class such as 4xx, or a list of these"),
		may("failed", truth.OrNull(), "whether it failed"), may("text", text, "a regular expression that its text matches"), may("arguments", any, "its arguments"))
	event := text.OrElse(object(s.event))
	count := whole(0, math.MaxInt32)
	contains := []string{"contains", "not_contains"}
	rate, most := may("min_pass_rate", number(0, 1), "how many of a cell's runs must hold; all of them if it is not given"), may("max_runs", whole(1, 1000), "of a cell that is sampled on until its rate is clear; 200 if it is not given")
	s.invariant = tagged("type", shape("invariant", "a check of replies and of what the agent did",
		may("id", text, "its name; required in a contract"), need("type", doctree.Word(InvariantTypes...).OrNull(), "what is checked"),
		may("description", text, "for people"), def("severity", `"medium"`, text, "critical, high, medium or low"),
		def("when", `"always"`, text, "always, tool_faults_active, llm_faults_active, any_chaos_active or no_chaos"),
		def("negate", "false", truth, "the opposite must hold"), may("prompt_filter", text, "only replies to prompts that match"),
		may("probes", texts, "in a contract: asked in place of the golden prompts"), rate, most,
		may("value", text, "the text", contains...), may("values", texts, "the texts", "contains_any"),
		def("case_sensitive", "false", truth, "whether case counts", "contains", "not_contains", "contains_any", "excludes_pattern", "regex"),
		may("pattern", text, "a regular expression", "regex"), may("patterns", texts, "texts or regular expressions", "excludes_pattern"),
		may("max_ms", number(0, math.MaxInt32), "the longest time"+milliseconds, "latency"),
		may("percentile", number(0, 100), "of all calls; every single one if it is not given", "latency", "tokens", "cost"),
		may("expected", text, "the text that replies are like", "similarity"),
		elsewhere(def("threshold", "0.8", number(0, 1), "how alike they must be", "similarity"), "latency", "valid_json"),
		may("baseline", text, "auto, or a text", "behavior_unchanged"),
		def("similarity_threshold", "0.75", number(0, 1), "how alike they must be", "behavior_unchanged"),
		elsewhere(def("dangerous_prompts", "true", truth, "no effect: replies are checked whatever the prompt is", "refusal_check", "refusal"), "latency", "valid_json"),
		may("tool", text, "its name or a pattern", "tool_called", "tool_not_called", "tool_arguments"),
		may("arguments", any, "what its arguments must be", "tool_arguments", "trace"),
		may("event", event, "which events are meant", "trace"), may("at_most", count, "how often they may occur", "trace"),
		may("at_least", count, "how often they must occur", "trace"), may("exactly", count, "how often they occur", "trace"),
		may("per", text, "what parts them: an argument", "trace"), may("before", event, "they must come before it", "trace"),
		may("after", event, "they must come after it", "trace"), may("never_after", event, "they must not come after it", "trace"),
		may("within", any, "a time such as 5s", "trace"),
		may("schema", any, "a JSON Schema, or the name of a file", "json_schema"), may("max", number(0, math.MaxFloat64), "the most", "tokens", "cost"),
		may("input_price", number(0, math.MaxFloat64), "per million tokens", "cost"), may("output_price", number(0, math.MaxFloat64), "per million tokens", "cost"),
		may("criteria", text, "what the judging model is asked", "llm_judge")))
	expect := may("expect", list(s.invariant), "what must hold of the reply")
	some := text.OrElse(doctree.List(doctree.Text()))
	s.condition = shape("condition", "what the agent's last reply must be for a turn to be said", may("contains", some, "a text, or one of several, that it has"),
		may("not_contains", some, "a text, or several, that it has not"), may("matches", text, "a regular expression that it matches"))
	s.turn = shape("turn", "a turn of a conversation", need("say", doctree.Text(), "what is asked"), expect,
		may("when", object(s.condition), "the turn is said only after such a reply; else the next one follows"))
	s.user = shape("simulated user", "a model that continues the conversation as a user would", need("goal", doctree.Text(), "what the user wants, and knows"),
		need("system", doctree.Text(), "the system file of the model"), def("turns", "5", doctree.Integer(1, 50), "the most messages that it writes"))
	s.prompt = shape("golden prompt", "a prompt, or a conversation, with what is expected", may("id", text, "its name"),
		may("prompt", text, "what is asked, if it is a single turn"),
		may("turns", doctree.List(doctree.Text().OrElse(object(s.turn))), "what is asked, turn by turn"), expect,
		may("user", object(s.user), "a model that continues once these turns are said"),
		may("dataset", text, "a .jsonl or .csv file, for each row of which the prompt is asked; {column} in its texts is the row's value"),
		may("sample", whole(1, 1_000_000), "so many of the rows, chosen by the seed"),
		may("tags", texts, "free words"), may("tools", texts, "the tools that may be called"))
	s.output = shape("output", "the report", def("format", `"html"`, doctree.Word("html", "json", "terminal"), "its format"), def("path", `"./reports"`, doctree.Text(), "its folder"),
		def("filename_template", `"flakestorm-{date}-{time}"`, doctree.Text(), "its name"), def("evidence", `"all"`, doctree.Word(EvidenceAll, EvidenceFailures), "of which cases it is kept"))
	s.advanced = shape("advanced", "how the run goes", def("concurrency", "10", doctree.Integer(1, 100), "calls at once"), def("retries", "2", doctree.Integer(0, 5), "of a call that fails"),
		may("seed", whole(-1<<53, 1<<53), "of the generator"))
	trigger := func(probability string) []doctree.Field {
		return []doctree.Field{may(probability, number(0, 1), "how often it fires"), may("after_calls", count, "it fires after so many calls"),
			may("on_calls", doctree.List(doctree.Integer(1, math.MaxInt32)).OrNull(), "it fires on these calls"), may("times", count, "how often at most")}
	}
	status := whole(0, 999)
	delay := func(modes ...string) doctree.Field {
		return may("delay_ms", whole(0, longest), "how long the call takes"+milliseconds, append(modes, "timeout", "slow")...)
	}
	s.tool = tagged("mode", shape("tool fault", "a fault of a tool", append(trigger("probability"),
		need("tool", doctree.Text(), "its name, or * for all"), need("mode", doctree.Word(modeWords(fault.Tool)...), "what happens"), may("match_url", text, "only calls of URLs that match"),
		delay("performed_reply_lost", "late_reply"), may("error_code", status, "the HTTP status", "error", "performed_reply_lost"),
		may("message", text, "the text of the error", "error", "performed_reply_lost"), may("payload", text, "what the tool answers", "malicious_response"), may("bytes_per_second", count, "how fast the answer comes", "bandwidth"))...))
	s.llm = tagged("mode", shape("LLM fault", "a fault of the model", append(trigger("probability"),
		need("mode", doctree.Word(modeWords(fault.LLM)...), "what happens"), may("max_tokens", count, "how much of the answer comes", "truncated_response"), delay(),
		may("drift_type", text, "how a newer model answers otherwise", "response_drift"), may("severity", text, "no effect", "response_drift"),
		def("direction", `"expand"`, doctree.Word("expand", "compress"), "of the length", "response_drift"), may("factor", number(0, 1000), "of the length", "response_drift"),
		may("retry_after", whole(0, 86400), "seconds", "rate_limit"), may("error_code", status, "the HTTP status", "error"),
		may("message", text, "the text of the error, or of the refusal", "error", "refusal", "context_length"), may("match_url", text, "only calls of URLs that match"))...))
	payload := []string{"indirect_injection", "memory_poisoning", "conflicting_context", "injection_via_context"}
	s.attack = tagged("type", shape("context attack", "text that gets into what the agent reads", append(trigger("trigger_probability"),
		need("type", doctree.Word(modeWords(fault.Context)...), "what is done"), may("enabled", truth, "of an attack that is keyed by its type"),
		may("inject_tokens", count, "how much text", "overflow"), may("payloads", texts, "the texts", payload...), may("payload", text, "the text", payload...),
		may("inject_at", text, "where it is put"), may("strategy", doctree.Word(string(fault.Append), string(fault.Prepend), string(fault.Swap)).OrNull(), "how it is put there: after the text, before it, or in its place; overflow is put before it unless this says otherwise, all others after it"),
		may("tool", text, "only results of this tool"), may("match_url", text, "only calls of URLs that match"))...))
	faults := func(context doctree.Type) []doctree.Field {
		return []doctree.Field{may("tool_faults", doctree.List(object(s.tool)), "faults of tools"), may("llm_faults", doctree.List(object(s.llm)), "faults of the model"),
			may("context_attacks", context, "text that gets into what the agent reads"), may("profiles", texts, "built-in profiles: "+doctree.Either(Profiles()))}
	}
	s.chaos = shape("chaos", "what is injected", faults(list(s.attack).OrElse(doctree.Named(any)))...)
	s.scenario = shape("scenario", "a row of the contract's matrix", append(faults(list(s.attack)), need("name", doctree.Text(), "what it is called"), may("description", text, "for people"))...)
	invariants := doctree.List(object(s.invariant))
	s.contract = shape("contract", "what must hold under which faults", need("name", doctree.Text(), "what it is called"), may("description", text, "for people"),
		may("invariants", invariants, "what must hold"), may("chaos_matrix", doctree.List(object(s.scenario)), "under which faults"),
		def("runs_per_cell", "1", whole(1, 1000), "how often each cell is run, or is run first if there is a rate"), rate, most)
	s.message = shape("message", "an item of a session's context", def("role", `"user"`, doctree.Text(), "who said it"), may("content", doctree.Text(), "what was said"), may("text", doctree.Text(), "the same"))
	answer := []doctree.Field{may("response", any, "the answer"), may("status", status, "the HTTP status"), may("content_type", text, "of the answer"),
		may("connection", doctree.Word("closed", "reset"), "how it ended before the answer was whole"), may("latency_ms", count, "how long it took"+milliseconds)}
	s.response = shape("tool response", "what a tool had answered", append(answer[:5:5], need("tool", doctree.Text(), "its name"), may("raises", text, "the class of what it raised"))...)
	s.reply = shape("model response", "what a model had replied", append(answer[:5:5], may("model", text, "its provider or name"), may("asked", text, "a digest of what it was asked, by which the reply is found again"))...)
	model := may("model", doctree.Word(ModelLive, ModelRecorded), "whose replies a replay takes: the real model's, or those of model_responses")
	s.session = shape("session", "a recorded conversation", may("id", doctree.Text(), "what it is called"), may("name", text, "for people"), def("source", `"manual"`, doctree.Text(), "where it comes from"),
		may("captured_at", text, "when it was recorded"), may("input", doctree.Text(), "what the agent is asked"), may("context", doctree.List(object(s.message)), "what was said before"),
		may("tool_responses", doctree.List(object(s.response)), "what tools had answered"),
		model, may("model_responses", list(s.reply), "what models had replied"), may("trace", texts, "the calls in their order, which a replay is compared with"), may("reply", text, "what the agent had answered"), may("expected_failure", text, "for people"),
		def("contract", `"default"`, doctree.Text(), "the contract, or its file, that must hold"), may("file", text, "the file that holds the session"))
	s.filter = shape("filter", "which runs are imported", def("status", `"error"`, doctree.Text(), "of the run"), may("date_range", text, "when it was"), may("min_latency_ms", count, "how long it took"+milliseconds))
	s.source = tagged("type", shape("source", "where sessions are imported from", need("type", doctree.Word("langsmith", "langsmith_run"), "what it is"),
		need("project", doctree.Text(), "its project", "langsmith"), may("filter", object(s.filter).OrNull(), "which runs", "langsmith"),
		def("auto_import", "false", truth, "import at every run", "langsmith"), need("run_id", doctree.Text(), "the run", "langsmith_run")))
	s.replays = shape("replays", "recorded conversations that are played again", model, may("sessions", doctree.List(object(s.session)), "the conversations"), may("sources", doctree.List(object(s.source)), "where more are imported from"))
	weight := func(name, value string) doctree.Field {
		return def(name, value, number(0, 1), "the weight of this phase")
	}
	weights := []doctree.Field{weight("mutation", "0.2"), weight("chaos", "0.35"), weight("contract", "0.35"), weight("replay", "0.1")}
	s.weights = shape("weights", "what phases count in the score; their sum is 1", weights...)
	s.scoring = shape("scoring", "how the score is made", append(weights[:4:4], may("weights", object(s.weights).OrNull(), "what phases count"))...)
	server := []doctree.Field{need("base_url", doctree.Text(), "its address"), need("name", doctree.Text(), "the model's name"), may("api_key", text, "a variable as ${NAME}"),
		def("timeout", "60000", whole(100, 600000), "of a call"+milliseconds)}
	s.endpoint = shape("judge", "the model that judges for llm_judge", server...)
	s.similarity = shape("similarity", "how texts are compared", def("measure", `"auto"`, doctree.Word("auto", "lexical", "embeddings", "sentence-transformers"), "the measure"),
		may("base_url", doctree.Text(), "of an embeddings server"), may("name", text, "the model's name"), may("api_key", text, "a variable as ${NAME}"), def("timeout", "60000", whole(100, 600000), "of a call"+milliseconds))
	s.document = shape("flakestorm v2", "what an agent is tested with", def("version", `"1.0"`, doctree.Text(), "of the format"), need("agent", object(s.agent), "the agent under test"),
		may("model", object(s.model), "the model that writes mutations"), may("mutations", object(s.mutations), "which mutations of the prompts are made"),
		need("golden_prompts", doctree.List(doctree.Text().OrElse(object(s.prompt))), "what the agent is asked"), may("invariants", invariants, "what must hold of replies"),
		may("output", object(s.output), "the report"), may("advanced", object(s.advanced), "how the run goes"), may("chaos", object(s.chaos).OrNull(), "what is injected"),
		may("contract", object(s.contract).OrNull(), "what must hold under which faults"), may("chaos_matrix", list(s.scenario), "scenarios of a contract without its own"),
		may("replays", object(s.replays).OrNull(), "recorded conversations that are played again"), may("scoring", object(s.scoring).OrNull(), "how the score is made"),
		may("judge", object(s.endpoint).OrNull(), "the model that judges for llm_judge"), may("similarity", object(s.similarity).OrNull(), "how texts are compared"),
		may("phases", doctree.List(doctree.Word(PhaseNames()...)).OrNull(), "that are run; all if it is not given"),
		may("checks", doctree.Named(truth).OrElse(truth).OrNull(), "built-in checks that are off: a mapping of ids to false, or false for all"),
		may("effects", doctree.Named(truth).OrNull(), "by tool, whether a call changes something; of others, name and method decide"))
	return s
})

// Format is what a document is.
func Format() doctree.Type { return doctree.Object(format().document) }

// Files are the types of files that documents name: replay files and contracts.
func Files() []doctree.Type {
	return []doctree.Type{doctree.Object(format().session), doctree.Object(format().contract)}
}
