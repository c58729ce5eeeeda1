package textop

import (
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

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

// Surfaces are the surfaces of the contract, in its order.
func Surfaces() []Surface {
	return []Surface{PromptText, SystemMessage, ToolcallJSON, RAGContext, OutputShaping}
}

// ParseSurface reads the name of a surface, in any case, and the names that
// seed files and operators of other tools use for the same thing. An unknown
// name gives "" and an error that names the nearest.
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
