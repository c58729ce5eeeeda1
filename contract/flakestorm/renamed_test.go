package flakestorm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// Nothing that an agent or its calls say keeps the name that a conversation had in one run only.
func TestNothingKeepsTheNameOfAConversation(t *testing.T) {
	c := &cell{session: "0123456789abcdef"}
	c.sent = unused(c.session)
	if c.sent == unused(c.session) || len(c.sent) != len(c.session) {
		t.Fatalf("%s names two conversations", c.sent)
	}
	ours := []string{"End", "Method", "ContentType", "Kind", "Trace", "Faults", "Ended", "Rule", "Mode", "Source", "Tallies", "Unused", "given"}
	var each func(v reflect.Value, at string, text func(v reflect.Value, at string))
	each = func(v reflect.Value, at string, text func(v reflect.Value, at string)) {
		switch v.Kind() {
		case reflect.String:
			text(v, at)
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				text(v, at)
				return
			}
			if v.Len() == 0 && strings.Count(at, ".Copies") < 2 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			}
			for i := range v.Len() {
				each(v.Index(i), at, text)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if name := v.Type().Field(i).Name; !slices.Contains(ours, name) {
					each(v.Field(i), at+"."+name, text)
				}
			}
		}
	}
	fill := func(v reflect.Value, _ string) { v.Set(reflect.ValueOf("a " + c.sent + "-1 b").Convert(v.Type())) }
	look := func(v reflect.Value, at string) {
		if got := fmt.Sprintf("%s", v.Interface()); got != "a "+c.session+"-1 b" {
			t.Errorf("%s: %s", at, got)
		}
	}
	var r fault.Report
	each(reflect.ValueOf(&r).Elem(), "Report", fill)
	r = c.renamed(r)
	each(reflect.ValueOf(&r).Elem(), "Report", look)
	var a agentcall.Reply
	each(reflect.ValueOf(&a).Elem(), "Reply", fill)
	c.renameReply(&a)
	each(reflect.ValueOf(&a).Elem(), "Reply", look)
}
