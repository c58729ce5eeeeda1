package ir

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// own are keys that are marked as the writer's own.
const own = `^(x[-_]|\$)`

// shapes are what a document declares, section by section.
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
	const expression = "an expression: true, false, an integer, a string, or an array that starts with an operator"
	const part = "a JSON path: which part of a system's answer is meant. An answer without it is a refusal"
	const full = "the expression with operators that existing readers do not have: add, sub, mul, div, mod, min, max, if, sum, count, old"
	s := &shapes{}
	s.field = tagged(shape("field", "a property of an entity",
		need("type", doctree.Word(typeNames[1:]...), "what it holds"),
		may("format", text, "for people", "string"),
		may("min", integer, "the least value", "int"), may("max", integer, "the greatest value", "int"),
		need("values", texts, "the words, in their order", "enum"), need("entity", text, "the entity that it names", "ref"),
		may("default", any, "a literal that new instances have", "string", "bool", "int", "enum")))
	s.entity = shape("entity", "a type of instances", need("fields", doctree.Named(object(s.field)), "its fields by name"))
	s.param = shape("parameter", "an instance that is passed", need("name", text, "what it is called"), need("type", text, "its entity"))
	params := doctree.List(object(s.param))
	s.refinement = shape("refinement", "a named subset of an entity's instances",
		need("base", text, "the entity"), doctree.Field{Name: "params", Type: params, Doc: "further instances that it depends on"}, may("predicate", any, expression), may("full", any, full))
	s.function = shape("function", "derived, with a body, or an observer, with a binding",
		need("classification", doctree.Word("derived", "observer"), "what it is"), need("params", params, "the instances that it is asked about"),
		may("body", any, expression+"; of a derived function"), may("full", any, full), may("binding", text, "the export that an observer calls"), may("part", text, part),
		may("models", text, "the derived function that says what the observer answers"), may("guess", text, "why that is a guess"), need("returns", text, "the type of its answer"))
	s.node, s.branch = &doctree.Shape{Name: "node", Doc: "a part of a protocol", Own: own, Tag: "type"}, shape("branch", "an alternative")
	node := object(s.node)
	s.branch.Fields = []doctree.Field{need("id", text, "its name, unique within its node"), need("weight", count, "how often it is taken, relative to the others"),
		may("guard", any, expression), may("full", any, full), need("body", node, "what is done")}
	s.node.Fields = []doctree.Field{need("type", doctree.Word("seq", "alt", "repeat", "call", "ref"), "what it does"),
		need("children", doctree.List(node), "one after the other", "seq"), need("branches", doctree.List(object(s.branch)), "one of them", "alt"),
		need("min", count, "at least so often", "repeat"), need("max", count, "at most so often", "repeat"), need("body", node, "what is repeated", "repeat"),
		need("action", text, "the action that is taken", "call"), need("protocol", text, "the protocol that goes on", "ref")}
	s.protocol = shape("protocol", "a grammar of sequences of actions", need("root", node, "where it begins"))
	s.creates = shape("creates", "an instance that an action makes", need("entity", text, "its entity"), need("assign", text, "the variable that names it"))
	s.set = shape("set", "a field that an action sets", need("target", texts.Exactly(2), "a variable and a field"), need("value", any, expression+", with arithmetic"))
	s.pick = shape("pick", "an instance that is chosen", need("var", text, "the variable that names it"), need("entity", text, "its entity"),
		may("where", any, expression+", with all operators, that holds for it"))
	s.fork = shape("fork", "steps that hang on a condition", need("if", any, expression+", with all operators"),
		doctree.Field{Name: "then", Type: doctree.List(any), Doc: "steps if it holds"}, doctree.Field{Name: "else", Type: doctree.List(any), Doc: "steps if not"})
	s.alias = shape("argument", "an argument under another name", need("is", text, "its name in the model"))
	s.effect = shape("effect", "what an action does to the model", may("creates", object(s.creates), "an instance that it makes"),
		doctree.Field{Name: "sets", Type: doctree.List(object(s.set)), Doc: "fields that it sets"},
		doctree.Field{Name: "picks", Type: doctree.List(object(s.pick)), Doc: "instances that are chosen when it is taken"},
		doctree.Field{Name: "steps", Type: doctree.List(any), Doc: "in place of sets: sets, and mappings with if, then and else whose values are steps"})
	s.property = shape("property", "what must hold", need("type", doctree.Word("invariant", "temporal"), "when it must hold"),
		may("predicate", any, expression+"; of an invariant"), may("full", any, full), may("rule", any, "a rule that starts with before, after or never; of a temporal property"),
		may("description", text, "for people"))
	s.with = shape("with", "what a name stands for in a step", may("bind", text, "a variable"), may("generate", text, "an entity or refinement of which an instance is made"),
		may("where", any, expression))
	s.step = shape("step", "an action of a generator", need("action", text, "the action that is taken"),
		may("with", doctree.Named(object(s.with).OrElse(any)), "what names stand for: a mapping, or a literal"))
	s.generator = shape("generator", "a sequence of actions that reaches a state", need("sequence", doctree.List(object(s.step)), "the actions"),
		may("description", text, "for people"), may("postcondition", any, expression+" that holds at its end"))
	s.weights = shape("weights", "how branches are weighed", need("scope", text, "per_alt_branch"), need("initial", text, "from_protocol"), need("decay", text, "none"))
	s.strategy = shape("strategy", "how protocols are walked", need("initial", text, "pseudo_random_traversal"), need("fallback", text, "targeted_on_violation"))
	s.concurrency = shape("concurrency", "how threads take turns", need("mode", text, "deterministic_interleaving, or parallel: actors call a system at the same time"),
		need("threads", count, "their number"), may("faults", texts, "what happens between parallel calls: kill, drop, delay, clock:OPERATION"))
	s.directive = shape("directive", "a way in which weights may change", need("type", text, "its name"), may("description", text, "for people"))
	s.signal = shape("signal", "what weights change by", need("signal", text, "its name"), may("description", text, "for people"))
	s.exploration = shape("exploration", "how the model is explored",
		need("weights", object(s.weights), "how branches are weighed"), need("directives_allowed", doctree.List(object(s.directive)), "ways in which weights may change"),
		need("adaptation_signals", doctree.List(object(s.signal)), "what weights change by"), need("strategy", object(s.strategy), "how protocols are walked"),
		need("epoch_size", count, "traversals between two changes of weights"),
		need("coverage_floor_threshold", doctree.Number(math.Inf(-1), math.MaxFloat64), "the share of branches below which a warning is given"),
		need("concurrency", object(s.concurrency), "how threads take turns"), may("actor", text, "the entity of the acting instances"),
		may("budget", doctree.Integer(1, 1_000_000), "how many traversals a run makes, in place of what the format's rule gives"),
		may("vary", truth, "branches that a traversal has taken already are less likely, and repetitions last longer"))
	s.domain = tagged(shape("domain", "what values an input has", need("type", doctree.Word("enum", "bool", "int", "string"), "what it holds"),
		need("values", texts, "its values", "enum", "string"), need("min", integer, "the least value", "int"), need("max", integer, "the greatest value", "int")))
	s.constraint = shape("constraint", "a rule that inputs keep", need("name", text, "what it is called"), need("rule", any, expression))
	s.target = tagged(shape("coverage target", "what inputs must cover",
		need("type", doctree.Word("all_pairs", "each_transition", "boundary", "t_way"), "what is covered"),
		need("over", texts, "the domains that are combined", "all_pairs", "t_way"), need("strength", count, "how many at a time", "t_way"),
		need("machine", text, "the protocol", "each_transition"), need("domain", text, "the domain", "boundary"),
		need("values", doctree.List(any), "the values that must occur", "boundary")))
	s.coverage = shape("coverage", "which inputs are tried", need("targets", doctree.List(object(s.target)), "what must be covered"),
		need("seed", doctree.Integer(0, math.Inf(1)), "of the generator of inputs"), need("reproducible", truth, "whether equal seeds give equal inputs"))
	s.inputs = shape("inputs", "values that actions are called with", need("domains", doctree.Named(object(s.domain)), "domains by name"),
		need("constraints", doctree.List(object(s.constraint)), "rules that they keep"), need("coverage", object(s.coverage), "which are tried"))
	s.hooks = shape("event_hooks", "which calls are observed", need("mode", text, "function_intercept"), need("observe", texts, "actions"), need("capture", texts, "what of a call is kept"))
	s.returns = shape("returns", "the type of an answer", need("type", text.OrNull(), "an entity, a type, or void"))
	s.rejects = shape("rejects", "how a module says no", may("return", text, "a comparison with an integer such as <0"), doctree.Field{Name: "trap", Type: truth, Doc: "whether a trap is a refusal"})
	s.binding = shape("binding", "which export an action calls", need("function", text, "the export"), need("args", texts, "what it is given, in order"),
		need("returns", text.OrElse(object(s.returns)).OrNull(), "the type of its answer"), need("mutates", truth, "whether it changes the system"),
		need("idempotent", truth, "whether a second call changes nothing"), need("reads", texts, "entities"), need("writes", texts, "entities"),
		may("rejects", object(s.rejects), "how the export refuses"), may("part", text, part), may("answer", any, "what it answers: "+expression),
		may("values", doctree.Named(object(s.alias).OrElse(any)), "arguments that are no names of the model: an expression each, or another name"),
		may("guess", doctree.Named(any), "what of the action is guessed ("+strings.Join(Claims, ", ")+"), and why"))
	s.bindings = shape("bindings", "how the model meets the module", need("runtime", text, "wasm"), need("entry", text, "the module's file"),
		need("actions", doctree.Named(object(s.binding)), "exports by action"), need("event_hooks", object(s.hooks), "which calls are observed"))
	s.capsule = shape("capsule", "one finding, to be shown again: thresh fresnelfir capsule writes it",
		need("ir_hash", text, "SHA-256 of the document without the capsule"), need("wasm_hash", text.OrNull(), "SHA-256 of the module"),
		need("seed", doctree.Integer(0, math.Inf(1)), "of the run"), need("finding_kind", text, "crash"), need("finding_description", text, "the finding's title"),
		need("trigger_action", text, "the action of the last step"), need("trace_step", doctree.Integer(0, math.Inf(1)), "its place in the trace, from 0"),
		need("model_generation", doctree.Integer(0, math.Inf(1)), "not used"), need("input_vector", doctree.Named(any), "for people"),
		need("tape", text.OrNull(), "the decisions of the traversal, in hex"), may("module", text, "the module, in base64"))
	named := func(of *doctree.Shape) doctree.Type { return doctree.Named(object(of)) }
	s.document = shape("FresnelFir IR", "a model of entities and protocols that a module is explored with",
		need("entities", named(s.entity), "types of instances"), need("refinements", named(s.refinement), "named subsets of them"),
		need("functions", named(s.function), "what can be asked of the model"), need("protocols", named(s.protocol), "grammars of sequences of actions"),
		need("effects", named(s.effect), "what actions do to the model"), need("properties", named(s.property), "what must hold"),
		need("generators", named(s.generator), "sequences of actions that reach a state"), need("exploration", object(s.exploration), "how the model is explored"),
		need("inputs", object(s.inputs), "values that actions are called with"), need("bindings", object(s.bindings), "how the model meets the module"),
		may("capsule", object(s.capsule), "one finding, to be shown again"), may("$schema", any, "for editors"))
	return s
})

// Format is what a document is.
func Format() doctree.Type { return doctree.Object(format().document) }

// Sections are the ten keys that every document has.
func Sections() []string {
	return slices.DeleteFunc(format().document.Keys(""), func(key string) bool { return key == "capsule" || key == "$schema" })
}
