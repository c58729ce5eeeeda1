package textop

import (
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Bucket is a class of weaknesses, identified by its concept, such as
// "prompt-injection", since published lists number the same concepts differently in
// each edition; see [Concept] for the numbers.
type Bucket string

// The concepts that published lists number, and two more that operators need.
const (
	PromptInjection   Bucket = "prompt-injection"
	OutputHandling    Bucket = "output-handling"
	Poisoning         Bucket = "poisoning"
	Consumption       Bucket = "consumption"
	SupplyChain       Bucket = "supply-chain"
	Disclosure        Bucket = "disclosure"
	Agency            Bucket = "agency"
	PromptLeak        Bucket = "prompt-leak"
	VectorWeakness    Bucket = "vector-weakness"
	Misinformation    Bucket = "misinformation"
	PluginDesign      Bucket = "plugin-design"
	ModelTheft        Bucket = "model-theft"
	GoalHijack        Bucket = "goal-hijack"
	ToolMisuse        Bucket = "tool-misuse"
	PrivilegeAbuse    Bucket = "privilege-abuse"
	CodeExecution     Bucket = "code-execution"
	ContextPoisoning  Bucket = "context-poisoning"
	AgentMessaging    Bucket = "agent-messaging"
	CascadingFailures Bucket = "cascading-failures"
	TrustExploitation Bucket = "trust-exploitation"
	RogueAgents       Bucket = "rogue-agents"
	InputRobustness   Bucket = "input-robustness"
)

// Concept is one row of the crosswalk between concepts and published lists.
type Concept struct {
	Bucket Bucket
	Title  string
	// LLM2023, LLM2025 and LLM2026 are the places in the three editions of the
	// OWASP Top 10 for LLM applications, 1 to 10; 0 means not in it.
	LLM2023, LLM2025, LLM2026 int
	// Agentic is the place in the OWASP list for agentic applications of 2026.
	Agentic int
	// ATLAS are MITRE ATLAS techniques that exercise the concept. All of them are in
	// release 2026.09 of its data; the assignment to concepts is ours.
	ATLAS []string
	names []string // other names in documents, letters only
}

// Concepts returns the whole crosswalk, in a fixed order.
func Concepts() []Concept {
	return []Concept{
		{PromptInjection, "Prompt Injection", 1, 1, 1, 0, []string{"AML.T0051.000", "AML.T0051.001", "AML.T0054", "AML.T0068"}, []string{"injection", "jailbreak"}},
		{OutputHandling, "Improper Output Handling", 2, 5, 10, 0, []string{"AML.T0077"}, []string{"insecureoutput", "insecureoutputhandling", "improperoutput"}},
		{Poisoning, "Data and Model Poisoning", 3, 4, 5, 0, []string{"AML.T0020", "AML.T0070", "AML.T0099"}, []string{"datapoisoning", "trainingdatapoisoning", "modelpoisoning"}},
		{Consumption, "Unbounded Consumption", 4, 10, 6, 0, []string{"AML.T0029", "AML.T0034"}, []string{"modeldenialofservice", "denialofservice", "dos", "modeldos"}},
		{SupplyChain, "Supply Chain", 5, 3, 4, 4, []string{"AML.T0010"}, []string{"supplychainvulnerabilities", "agenticsupplychain", "agenticsupplychainvulnerabilities"}},
		{Disclosure, "Sensitive Information Disclosure", 6, 2, 2, 0, []string{"AML.T0057"}, []string{"sensitiveinfodisclosure", "sensitiveinformation", "dataleakage"}},
		{Agency, "Excessive Agency", 8, 6, 3, 0, []string{"AML.T0053"}, nil},
		{PromptLeak, "System Prompt Leakage", 0, 7, 8, 0, []string{"AML.T0056"}, []string{"hiddencontextexposure", "promptleakage", "promptextraction"}},
		{VectorWeakness, "Vector and Embedding Weaknesses", 0, 8, 9, 0, []string{"AML.T0070"}, []string{"vectorandembedding", "embeddingweaknesses"}},
		{Misinformation, "Misinformation", 9, 9, 7, 0, []string{"AML.T0031"}, []string{"overreliance", "hallucination", "misinformationorhallucination"}},
		{PluginDesign, "Insecure Plugin Design", 7, 0, 0, 0, nil, []string{"insecureplugin"}},
		{ModelTheft, "Model Theft", 10, 0, 0, 0, []string{"AML.T0024.002"}, nil},
		{GoalHijack, "Agent Goal Hijack", 0, 0, 0, 1, []string{"AML.T0051.001"}, nil},
		{ToolMisuse, "Tool Misuse and Exploitation", 0, 0, 0, 2, []string{"AML.T0053", "AML.T0086", "AML.T0110"}, nil},
		{PrivilegeAbuse, "Identity and Privilege Abuse", 0, 0, 0, 3, nil, nil},
		{CodeExecution, "Unexpected Code Execution", 0, 0, 0, 5, []string{"AML.T0050"}, []string{"unexpectedcodeexecutionrce"}},
		{ContextPoisoning, "Memory and Context Poisoning", 0, 0, 0, 6, []string{"AML.T0080", "AML.T0080.001"}, []string{"memorypoisoning"}},
		{AgentMessaging, "Insecure Inter-Agent Communication", 0, 0, 0, 7, nil, []string{"interagentcommunication", "insecureinteragentcomms"}},
		{CascadingFailures, "Cascading Failures", 0, 0, 0, 8, nil, nil},
		{TrustExploitation, "Human-Agent Trust Exploitation", 0, 0, 0, 9, nil, nil},
		{RogueAgents, "Rogue Agents", 0, 0, 0, 10, nil, nil},
		{InputRobustness, "Input Robustness", 0, 0, 0, 0, []string{"AML.T0068"}, nil},
	}
}

// IDs returns the numbers of the concept, with their edition: "LLM01:2025",
// "ASI02:2026", then ATLAS techniques.
func (c *Concept) IDs() []string {
	var ids []string
	for _, e := range c.editions() {
		if e.place > 0 {
			ids = append(ids, e.list+two(e.place)+":"+e.year)
		}
	}
	return append(ids, c.ATLAS...)
}

type edition struct {
	list, year string
	place      int
}

func (c *Concept) editions() []edition {
	return []edition{{"LLM", "2023", c.LLM2023}, {"LLM", "2025", c.LLM2025}, {"LLM", "2026", c.LLM2026}, {"ASI", "2026", c.Agentic}}
}

func two(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

// ParseBucket parses a bucket as documents and command lines write it: a concept
// ("prompt-injection"), a title or name in any spelling ("PROMPT_INJECTION"), a
// numbered name ("LLM06_SENSITIVE_INFO_DISCLOSURE", "ASI02_TOOL_MISUSE", "LLM06:2025
// Excessive Agency"), or a number with its edition ("LLM06:2023").
//
// In a numbered name the name decides, since lists renumber; a number that the
// concept has in no edition is a warning. An unknown name is a bucket of the user's
// own, with a warning if it has a number or is similar to a concept. A number alone
// is refused, unless it means the same in all editions.
func ParseBucket(text string) (Bucket, diag.List) {
	list, place, rest := numbered(strings.TrimSpace(text))
	concepts := sameConcepts()
	year := ""
	if list != "" {
		year, rest = splitYear(rest)
		rest = strings.TrimLeft(rest, "_-: ")
		if year != "" && rest == "" {
			return byNumber(concepts, text, list, place, year)
		}
		if rest == "" && list == "ASI" { // one edition so far
			return byNumber(concepts, text, list, place, "2026")
		}
		if rest == "" && meanings(concepts, list, place) == "" {
			return "", diag.List{{Code: "operator.bucket-unknown", Level: diag.Error, Hint: "write a name, such as " + string(PromptInjection),
				Message: "bucket " + quoted(text) + " is in no edition of its list: they have the numbers 01 to 10"}}
		}
		if b, ok := everywhere(concepts, list, place); rest == "" && ok {
			return b, nil
		}
		if rest == "" {
			return "", diag.List{{Code: "operator.bucket-ambiguous", Level: diag.Error, Hint: "write a name or an edition, as in " + list + two(place) + ":2025",
				Message: "bucket " + quoted(text) + " means different things in different editions: " + meanings(concepts, list, place)}}
		}
	}
	key := letters(rest)
	if key == "" {
		return "", diag.List{{Code: "operator.bucket-empty", Level: diag.Error, Message: "bucket " + quoted(text) + " names nothing: expected a concept, such as " + string(PromptInjection)}}
	}
	if i, ok := conceptsByName()[key]; ok {
		c := &concepts[i]
		if list != "" && !slices.ContainsFunc(c.editions(), func(e edition) bool {
			return e.list == list && e.place == place && (year == "" || e.year == year)
		}) {
			which := "no edition"
			if year != "" {
				which += " of " + year
			}
			return c.Bucket, diag.List{{Code: "operator.bucket-number", Level: diag.Warning, Hint: "the name decides; its numbers are " + strings.Join(c.IDs(), ", "),
				Message: "bucket " + quoted(text) + ": " + which + " gives " + c.Title + " the number " + list + two(place)}}
		}
		return c.Bucket, nil
	}
	own := Bucket(slug(rest))
	names := seq.Map(concepts, func(c Concept) string { return string(c.Bucket) })
	near := diag.DidYouMean(string(own), names)
	if list == "" && near == "" {
		return own, nil
	}
	return own, diag.List{{Code: "operator.bucket-unknown", Level: diag.Warning, Hint: near,
		Message: "bucket " + quoted(text) + " is in no published list; taken as a bucket of your own, " + quoted(string(own))}}
}

func byNumber(concepts []Concept, text, list string, place int, year string) (Bucket, diag.List) {
	for i := range concepts {
		for _, e := range concepts[i].editions() {
			if e.list == list && e.place == place && e.year == year {
				return concepts[i].Bucket, nil
			}
		}
	}
	return "", diag.List{{Code: "operator.bucket-number", Level: diag.Error, Hint: "editions are LLM 2023, 2025, 2026 and ASI 2026, numbers 01 to 10",
		Message: "bucket " + quoted(text) + " is in no published list"}}
}

// everywhere returns the concept that has a number in every edition of a list.
func everywhere(concepts []Concept, list string, place int) (Bucket, bool) {
	i := slices.IndexFunc(concepts, func(c Concept) bool {
		return !slices.ContainsFunc(c.editions(), func(e edition) bool { return e.list == list && e.place != place })
	})
	if i < 0 {
		return "", false
	}
	return concepts[i].Bucket, true
}

func meanings(concepts []Concept, list string, place int) string {
	var m []string
	for i := range concepts {
		for _, e := range concepts[i].editions() {
			if e.list == list && e.place == place {
				m = append(m, e.year+" "+concepts[i].Title)
			}
		}
	}
	slices.Sort(m)
	return strings.Join(m, ", ")
}

// numbered splits "LLM06_NAME" into list, place and what follows; the list is
// empty if the text does not begin like that.
func numbered(text string) (list string, place int, rest string) {
	if len(text) < 5 || !strings.EqualFold(text[:3], "LLM") && !strings.EqualFold(text[:3], "ASI") {
		return "", 0, text
	}
	a, b := text[3]-'0', text[4]-'0'
	if a > 9 || b > 9 {
		return "", 0, text
	}
	return strings.ToUpper(text[:3]), int(a)*10 + int(b), text[5:]
}

// splitYear splits ":2025 Name" into the year and what follows; the year is empty if
// the text does not begin with one.
func splitYear(text string) (year, rest string) {
	after, ok := strings.CutPrefix(text, ":")
	rest = strings.TrimLeft(after, "0123456789")
	if year = after[:len(after)-len(rest)]; !ok || year == "" {
		return "", text
	}
	return year, rest
}

// sameConcepts returns [Concepts] without a copy: not to be changed.
var sameConcepts = sync.OnceValue(Concepts)

// conceptsByName returns the place in [Concepts] of each of their names, as [letters] writes them.
var conceptsByName = sync.OnceValue(func() map[string]int {
	places := map[string]int{}
	for i, c := range sameConcepts() {
		for _, name := range append([]string{letters(string(c.Bucket)), letters(c.Title)}, c.names...) {
			if _, ok := places[name]; !ok {
				places[name] = i
			}
		}
	}
	return places
})

// letters returns the text's letters and digits in lower case, with "and" for "&":
// the form in which names are compared.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- :.()", r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToLower(text), "&", "and"))
}

// slug turns a name into a bucket of the user's own.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == ' ' }), "-")
}

func quoted(s string) string { return `"` + s + `"` }

// Surface is where a prompt acts; see OC-2.3 of the contract.
type Surface string

// The surfaces of the contract.
const (
	PromptText    Surface = "PROMPT_TEXT"    // plain text of a user
	SystemMessage Surface = "SYSTEM_MESSAGE" // the system or developer message
	ToolcallJSON  Surface = "TOOLCALL_JSON"  // structured input of a tool call
	RAGContext    Surface = "RAG_CONTEXT"    // documents and search results put into the context
	OutputShaping Surface = "OUTPUT_SHAPING" // text that steers the form of the answer
)

// Surfaces returns the surfaces of the contract, in its order.
func Surfaces() []Surface {
	return []Surface{PromptText, SystemMessage, ToolcallJSON, RAGContext, OutputShaping}
}

// ParseSurface parses the name of a surface, in any case, or the name that other
// tools' seed files and operators use for it. An unknown name gives "" and an error
// that names the nearest.
func ParseSurface(text string) (Surface, diag.List) {
	switch name := strings.ToUpper(strings.TrimSpace(text)); name {
	case "PROMPT_TEXT", "USER_PROMPT", "EMAIL_BODY", "EMAIL_SUBJECT", "BODY", "TEXT":
		return PromptText, nil
	case "SYSTEM_MESSAGE", "SYSTEM", "DEVELOPER_MESSAGE":
		return SystemMessage, nil
	case "TOOLCALL_JSON", "TOOL_CALL", "TOOL_ARGUMENTS":
		return ToolcallJSON, nil
	case "RAG_CONTEXT":
		return RAGContext, nil
	case "OUTPUT_SHAPING":
		return OutputShaping, nil
	case string(Conversation):
		return Conversation, nil
	}
	names := make([]string, 0, 5)
	for _, s := range Surfaces() {
		names = append(names, string(s))
	}
	return "", diag.List{{Code: "operator.surface-unknown", Level: diag.Error, Hint: diag.DidYouMean(strings.ToUpper(text), names),
		Message: "surface " + quoted(text) + " is unknown: expected one of " + strings.Join(names, ", ")}}
}
