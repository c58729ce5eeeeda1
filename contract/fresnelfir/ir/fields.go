package ir

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// own matches keys that writers of documents reserve for themselves.
const own = `^(x[-_]|\$)`

// shapes are the shapes of a document's sections.
type shapes struct {
	document, entity, field, param, refinement, function, protocol, node, branch, effect, creates, set, property,
	generator, step, with, exploration, weights, strategy, concurrency, directive, signal, inputs, domain, constraint, coverage, target,
	bindings, hooks, binding, returns, rejects, capsule, pick, fork, alias *doctree.Shape
}

var format = sync.OnceValue(func() *shapes {
	text, truth, any, object := doctree.Text(), doctree.Truth(), doctree.Any(), doctree.Object
	texts, integer := doctree.List(text), doctree.AnyInteger()
	count := doctree.Integer(0, math.MaxUint32)
	need := func(name string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t, Need: true, Doc: doc, For: only}
	}
	may := func(name string, t doctree.Type, doc string, only ...string) doctree.Field {
		return doctree.Field{Name: name, Type: t.OrNull(), Doc: doc, For: only}
	}
	shape := func(name, doc string, fields ...doctree.Field) *doctree.Shape {
		return &doctree.Shape{Name: name, Doc: doc, Fields: fields, Own: own}
	}
	tagged := func(s *doctree.Shape) *doctree.Shape { s.Tag = "type"; return s }
	const expression = "expression: true, false, an integer, a string, or an array that starts with an operator"
	plain, value := expressionType(false), expressionType(true)
	const part = "JSON path of the part of a system's answer that counts; an answer without it is a refusal"
	const full = "the same expression, with operators that other readers of the format do not know: add, sub, mul, div, mod, min, max, if, sum, count, old"
	literal := doctree.Any().As(`{"type": ["boolean", "integer", "string"]}`)
	s := &shapes{}
	s.field = tagged(shape("field", "a property of an entity",
		need("type", doctree.Word(typeNames[1:]...), "type of the value"),
		may("format", text, "format of the text, for people", "string"),
		may("min", integer, "smallest value", "int"), may("max", integer, "largest value", "int"),
		need("values", texts.As(`{"minItems": 1}`), "words of the enum, in order", "enum"), need("entity", text, "entity that the reference points to", "ref"),
		may("default", literal, "literal value of new instances", "string", "bool", "int", "enum")))
	s.entity = shape("entity", "a type of instances", need("fields", doctree.Named(object(s.field)), "fields by name"))
	s.param = shape("parameter", "an instance passed as an argument", need("name", text, "name of the parameter"), need("type", text, "entity of the instance"))
	params := doctree.List(object(s.param))
	s.refinement = shape("refinement", "a named subset of an entity's instances",
		need("base", text, "entity whose instances it selects"), doctree.Field{Name: "params", Type: params, Doc: "further instances that the predicate depends on"}, may("predicate", plain, expression), may("full", value, full))
	s.function = shape("function", "a derived function with a body, or an observer with a binding",
		need("classification", doctree.Word("derived", "observer"), "kind of function"), need("params", params, "parameters"),
		may("body", plain, expression+", for a derived function"), may("full", value, full), may("binding", text, "export that the observer calls"), may("part", text, part),
		may("models", text, "derived function that predicts the observer's answer"), may("guess", text, "reason why this is a guess"), need("returns", text, "type of the result"))
	s.node, s.branch = &doctree.Shape{Name: "node", Doc: "a part of a protocol", Own: own, Tag: "type"}, shape("branch", "an alternative")
	node := object(s.node)
	s.branch.Fields = []doctree.Field{need("id", text, "name of the branch, unique within its node"), need("weight", count, "weight relative to the other branches"),
		may("guard", plain, expression), may("full", value, full), need("body", node, "node to run")}
	s.node.Fields = []doctree.Field{need("type", doctree.Word("seq", "alt", "repeat", "call", "ref"), "kind of node"),
		need("children", doctree.List(node), "nodes to run in order", "seq"), need("branches", doctree.List(object(s.branch)), "branches, of which one is taken", "alt"),
		need("min", count, "fewest repetitions", "repeat"), need("max", count, "most repetitions", "repeat"), need("body", node, "node to repeat", "repeat"),
		need("action", text, "action to call", "call"), need("protocol", text, "protocol to continue with", "ref")}
	s.protocol = shape("protocol", "a grammar of sequences of actions", need("root", node, "first node"))
	s.creates = shape("creates", "an instance that an action creates", need("entity", text, "entity of the instance"), need("assign", text, "variable that names the instance"))
	s.set = shape("set", "an assignment to a field", need("target", texts.Exactly(2), "variable and field"), need("value", value, expression+", with arithmetic"))
	s.pick = shape("pick", "an instance to choose", need("var", text, "variable that names the instance"), need("entity", text, "entity to choose from"),
		may("where", value, expression+", with all operators, that must hold for the instance"))
	s.fork = shape("fork", "steps that depend on a condition")
	steps := doctree.List(object(s.set).OrElse(object(s.fork)))
	s.fork.Fields = []doctree.Field{need("if", value, expression+", with all operators"),
		{Name: "then", Type: steps, Doc: "steps to take if it holds"}, {Name: "else", Type: steps, Doc: "steps to take if it does not"}}
	s.alias = shape("argument", "an argument with another name", need("is", text, "name of the argument in the model"))
	s.effect = shape("effect", "what an action does to the model", may("creates", object(s.creates), "instance that the action creates"),
		doctree.Field{Name: "sets", Type: doctree.List(object(s.set)), Doc: "assignments to fields"},
		doctree.Field{Name: "picks", Type: doctree.List(object(s.pick)), Doc: "instances to choose when the action is taken"},
		doctree.Field{Name: "steps", Type: steps, Doc: "instead of sets: assignments, and mappings with if, then and else that hold steps"})
	s.property = shape("property", "what must hold", need("type", doctree.Word("invariant", "temporal"), "kind of property"),
		may("predicate", plain, expression+", for an invariant"), may("full", value, full), may("rule", ruleType(), "for a temporal property: an array that starts with before, after or never"),
		may("description", text, "description for people"))
	s.with = shape("with", "the value of a name in a step", may("bind", text, "variable"), may("generate", text, "entity or refinement to create an instance of"),
		may("where", plain, expression))
	s.step = shape("step", "an action of a generator", need("action", text, "action to take"),
		may("with", doctree.Named(object(s.with).As(`{`+given("bind", "generate")+`}`).OrElse(plain)), "values by name: a mapping or a literal"))
	s.generator = shape("generator", "a sequence of actions that reaches a state", need("sequence", doctree.List(object(s.step)).As(`{"minItems": 1}`), "actions in order"),
		may("description", text, "description for people"), may("postcondition", plain, expression+" that holds at the end"))
	s.weights = shape("weights", "how branches are weighted", need("scope", wordType(scopes), "what a weight belongs to"), need("initial", wordType(initials), "from_protocol"), need("decay", wordType(decays), "what makes them smaller"))
	s.strategy = shape("strategy", "how protocols are traversed", need("initial", wordType(traversals), "pseudo_random_traversal"), need("fallback", wordType(fallbacks), "targeted_on_violation"))
	s.concurrency = shape("concurrency", "how threads are scheduled", need("mode", wordType(modes), "deterministic_interleaving, or parallel: actors call a system at the same time"),
		need("threads", count.As(`{"minimum": 1, "maximum": 64}`), "number of threads"), may("faults", texts, "faults between parallel calls: kill, drop, delay, clock:OPERATION"))
	s.directive = shape("directive", "a way in which weights may change", need("type", wordType(Directives), "name of the directive"), may("description", text, "description for people"))
	s.signal = shape("signal", "a signal by which weights change", need("signal", wordType(Signals), "name of the signal"), may("description", text, "description for people"))
	s.exploration = shape("exploration", "how the model is explored",
		need("weights", object(s.weights), "how branches are weighted"), need("directives_allowed", doctree.List(object(s.directive)), "ways in which weights may change"),
		need("adaptation_signals", doctree.List(object(s.signal)), "signals by which weights change"), need("strategy", object(s.strategy), "how protocols are traversed"),
		need("epoch_size", count.As(`{"minimum": 1}`), "traversals between two changes of the weights"),
		need("coverage_floor_threshold", doctree.Number(math.Inf(-1), math.MaxFloat64).As(`{"minimum": 0, "maximum": 1}`), "share of branches below which the run warns"),
		need("concurrency", object(s.concurrency), "how threads are scheduled"), may("actor", text, "entity whose instances act"),
		may("budget", doctree.Integer(1, 1_000_000), "number of traversals of a run; by default the format's rule decides"),
		may("vary", truth, "make branches that a traversal has taken less likely, and repetitions longer"))
	s.domain = tagged(shape("domain", "the values that an input can have", need("type", doctree.Word("enum", "bool", "int", "string"), "type of the values"),
		need("values", texts.As(`{"minItems": 1}`), "the values", "enum", "string"), need("min", integer, "smallest value", "int"), need("max", integer, "largest value", "int")))
	s.constraint = shape("constraint", "a rule that inputs must satisfy", need("name", text, "name of the rule"), need("rule", plain, expression))
	s.target = tagged(shape("coverage target", "what the inputs must cover",
		need("type", doctree.Word("all_pairs", "each_transition", "boundary", "t_way"), "kind of coverage"),
		need("over", texts, "domains to combine", "all_pairs", "t_way"), need("strength", count, "number of domains combined at a time", "t_way"),
		need("machine", text, "protocol whose transitions are covered", "each_transition"), need("domain", text, "domain whose values are covered", "boundary"),
		need("values", doctree.List(literal), "values that must occur", "boundary")))
	s.coverage = shape("coverage", "which inputs are tried", need("targets", doctree.List(object(s.target)), "what the inputs must cover"),
		need("seed", doctree.Integer(0, math.Inf(1)), "seed of the generator of inputs"), need("reproducible", truth, "equal seeds give equal inputs"))
	s.inputs = shape("inputs", "the values that actions are called with", need("domains", doctree.Named(object(s.domain)), "domains by name"),
		need("constraints", doctree.List(object(s.constraint)), "rules that inputs must satisfy"), need("coverage", object(s.coverage), "which inputs are tried"))
	s.hooks = shape("event_hooks", "which calls are observed", need("mode", wordType(hookModes), "function_intercept"), need("observe", texts, "actions to observe"), need("capture", doctree.List(wordType(captures)), "parts of a call to keep"))
	s.returns = shape("returns", "the type of a result", need("type", text.OrNull(), "an entity, a type, or void"))
	s.rejects = shape("rejects", "how a module refuses a call", may("return", text.Like(`^((<=|>=|==|!=|<|>)\s*[-+]?[0-9]+\s*)?$`), "comparison with an integer, such as <0, that a refusal satisfies"), doctree.Field{Name: "trap", Type: truth, Doc: "a trap is a refusal"})
	s.binding = shape("binding", "which export an action calls", need("function", text, "name of the export"), need("args", texts, "arguments in order"),
		need("returns", text.OrElse(object(s.returns)).OrNull(), "type of the result"), need("mutates", truth, "true if the call changes the system"),
		need("idempotent", truth, "true if a second call changes nothing"), need("reads", texts, "entities that the call reads"), need("writes", texts, "entities that the call writes"),
		may("rejects", object(s.rejects).As(`{"anyOf": [{"required": ["return"], "properties": {"return": {"type": "string", "minLength": 1}}}, {"required": ["trap"], "properties": {"trap": {"const": true}}}]}`), "how the export refuses a call"), may("part", text, part), may("answer", value, "predicted result: "+expression),
		may("reuses", text, "refinement of instances that are gone, whose handles a new one may get"),
		may("values", doctree.Named(object(s.alias).OrElse(value)), "arguments that the model does not name, each as an expression, or as another name"),
		may("guess", doctree.Named(text.As(`{"minLength": 1}`)).As(`{"propertyNames": {"enum": ["`+strings.Join(Claims, `", "`)+`"]}}`), "guessed parts of the action ("+strings.Join(Claims, ", ")+"), and why"))
	s.bindings = shape("bindings", "how the model is bound to the module", need("runtime", wordType(runtimes), "wasm, or system"), need("entry", text, "file of the module, or of the system"),
		need("actions", doctree.Named(object(s.binding)), "bindings by action"), need("event_hooks", object(s.hooks), "which calls are observed"))
	s.capsule = shape("capsule", "one finding to reproduce; thresh fresnelfir capsule writes it",
		need("ir_hash", text, "SHA-256 of the document without the capsule"), need("wasm_hash", text.OrNull(), "SHA-256 of the module"),
		need("seed", doctree.Integer(0, math.Inf(1)), "seed of the run"), need("finding_kind", text, "crash"), need("finding_description", text, "title of the finding"),
		need("trigger_action", text, "action of the last step"), need("trace_step", doctree.Integer(0, math.Inf(1)), "position of that step in the trace, from 0"),
		need("model_generation", doctree.Integer(0, math.Inf(1)), "not used"), need("input_vector", doctree.Named(any), "for people"),
		need("tape", text.OrNull(), "decisions of the traversal, in hex"), may("module", text, "the module, in base64"))
	named := doctree.Named
	s.document = shape("FresnelFir IR", "a model of entities and protocols by which a module or system is explored",
		need("entities", named(object(s.entity)), "types of instances, by name"), need("refinements", named(object(s.refinement).As(`{`+given("predicate", "full")+`}`)), "named subsets of them"),
		need("functions", named(object(s.function).As(where("classification", "observer", given("binding")+", "+lacks("body"), given("body", "full")+", "+lacks("binding")))), "derived functions and observers"), need("protocols", named(object(s.protocol)), "grammars of sequences of actions"),
		need("effects", named(object(s.effect)), "what actions do to the model"), need("properties", named(object(s.property).As(where("type", "temporal", given("rule"), given("predicate", "full")+", "+lacks("rule")))), "what must hold"),
		need("generators", named(object(s.generator)), "sequences of actions that reach a state"), need("exploration", object(s.exploration), "how the model is explored"),
		need("inputs", object(s.inputs), "the values that actions are called with"), need("bindings", object(s.bindings), "how the model is bound to the module"),
		may("capsule", object(s.capsule), "one finding to reproduce"), may("$schema", any, "for editors"))
	return s
})

// Format returns the type of a document.
func Format() doctree.Type { return doctree.Object(format().document) }

// Sections returns the ten keys that every document has.
func Sections() []string {
	return slices.DeleteFunc(format().document.Keys(""), func(key string) bool { return key == "capsule" || key == "$schema" })
}
