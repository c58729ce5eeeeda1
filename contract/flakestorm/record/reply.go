package record

import "strings"

// The functions below find what the agent had answered, if a recording contains it. It is displayed
// next to the answer to the replay and never checked.

// outputOf finds the answer among a run's outputs: by the names that agents use, the last message
// of the agent, or the only text. If none of these is found, there is no answer.
func outputOf(out map[string]any) string {
	for _, key := range []string{"output", "answer", "response", "result", "reply", "text", "content"} {
		switch v := out[key].(type) {
		case string:
			if v != "" {
				return v
			}
		case map[string]any:
			if s := contentText(messageOf(v)["content"]); s != "" {
				return s
			}
		}
	}
	if list, ok := out["messages"].([]any); ok {
		for i := len(list) - 1; i >= 0; i-- {
			m := messageOf(list[i])
			role := text(m["role"]) + text(m["type"])
			if strings.Contains(role, "assistant") || strings.Contains(role, "ai") {
				if s := contentText(m["content"]); s != "" {
					return s
				}
			}
		}
	}
	if len(out) == 1 {
		for _, v := range out {
			s, _ := v.(string)
			return s
		}
	}
	return ""
}

// replyOf returns the last thing that the model said in a span: as message attributes, as numbered
// attributes, or as events. What a span returned counts only if the span is the root of the trace.
func replyOf(x *span) string {
	if s := lastOf("assistant", get(x.Attributes, "gen_ai.output.messages", "gen_ai.completion")); s != "" {
		return s
	}
	for _, of := range spoke {
		for list := numbered(x.Attributes, of); len(list) > 0; list = list[:len(list)-1] {
			if s := contentText(decodedList(list[len(list)-1]["content"])); s != "" {
				return s
			}
		}
	}
	for i := len(x.Events) - 1; i >= 0; i-- {
		e := x.Events[i]
		s := ""
		switch e.Name {
		case "gen_ai.choice":
			if m, ok := decoded(get(e.Attributes, "message")).(map[string]any); ok {
				s = contentText(m["content"])
			} else {
				s = contentText(decodedList(get(e.Attributes, "content")))
			}
		case "gen_ai.content.completion", "gen_ai.client.inference.operation.details":
			s = lastOf("assistant", get(e.Attributes, "gen_ai.output.messages", "gen_ai.completion"))
		}
		if s != "" {
			return s
		}
	}
	if x.Parent != "" {
		return ""
	}
	whole := get(x.Attributes, "output.value", "traceloop.entity.output")
	m, ok := decoded(whole).(map[string]any)
	if s, said := decoded(whole).(string); said {
		return s // of a function, as JSON
	} else if !ok {
		return text(whole)
	}
	if out, ok := m["outputs"].(map[string]any); ok {
		m = out
	}
	return outputOf(m)
}
