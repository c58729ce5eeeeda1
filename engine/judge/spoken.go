package judge

import "strings"

// Spoken returns the answer of a model that judges, trimmed, without the reasoning in front of it, which
// is between <think> and </think>. It is not known where reasoning ends if there is no end or more
// than one: it may quote the judged reply, which could forge a verdict in this way.
func Spoken(answer string) (said string, known bool) {
	answer = strings.TrimSpace(answer)
	const start, end = "<think>", "</think>"
	if !strings.HasPrefix(answer, start) {
		return answer, true
	}
	_, said, _ = strings.Cut(answer, end)
	return strings.TrimSpace(said), strings.Count(answer, end) == 1
}
