package record

import (
	"encoding/json"
	"slices"
)

// logRecord is what is read of a log of OTLP in JSON: the conventions write what
// was said to an LLM, and by it, as events, which logs are.
type logRecord struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Time       json.Number `json:"timeUnixNano"`
	Observed   json.Number `json:"observedTimeUnixNano"`
	Event      string      `json:"eventName"`
	Body       value       `json:"body"`
	Attributes []attribute `json:"attributes"`
}

func (l *logRecord) timestamp() json.Number {
	if nanos(l.Time) == 0 {
		return l.Observed
	}
	return l.Time
}

// join makes a log an event of its span; of one of its own where the spans are
// not there.
func (l *logRecord) join(spans []span) []span {
	e := event{Name: l.Event, Attributes: slices.Clone(l.Attributes)}
	if name, ok := get(l.Attributes, "event.name").(string); ok && e.Name == "" {
		e.Name = name
	}
	if l.Body.Map != nil {
		e.Attributes = append(e.Attributes, l.Body.Map.Values...)
	}
	i := slices.IndexFunc(spans, func(s span) bool { return s.SpanID == l.SpanID })
	if i < 0 {
		i = len(spans)
		spans = append(spans, span{TraceID: l.TraceID, SpanID: l.SpanID, Name: "chat", Start: l.timestamp(), End: l.timestamp()})
	}
	spans[i].Events = append(spans[i].Events, e)
	return spans
}
