package systemtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
)

// Talker is a driver for sh that counts, refuses, fails and ends as its calls say. Its answers
// carry a call's id, if it has one.
const Talker = `n=0
answer() { case $line in *'"id":'*) echo "{$1,\"id\":${line##*:}";; *) echo "{$1}";; esac; }
while IFS= read -r line; do case $line in
*'"reset"'*) n=0; answer '"ok":true';;
*'"count"'*) n=$((n+1)); answer "\"ok\":$n";;
*'"pair"'*) answer '"ok":{"left":1,"right":[2]}';;
*'"refuse"'*) answer '"rejected":"no money"';;
*'"fail"'*) answer '"error":"it broke"';;
*'"lie"'*) echo hello;;
*'"empty"'*) answer '"x":1';;
*'"mute"'*) exec >&-; read -r line;;
*'"hang"'*) read -r line;;
*'"kill"'*) kill -9 $$;;
*'"die"'*) exit 3;;
*'"quit"'*) exit 0;;
esac; done
`

// Talk makes calls one after another and returns the result of each on a line. The word reset
// stands for a reset.
func Talk(t *testing.T, s sut.System, calls string) string {
	t.Helper()
	var b strings.Builder
	for word := range strings.FieldsSeq(calls) {
		var o sut.Observation
		var err error
		if word == "reset" {
			err = s.Reset(t.Context())
		} else {
			o, err = s.Call(t.Context(), sut.Call{Operation: word})
		}
		fmt.Fprintf(&b, "%s:", word)
		switch {
		case err != nil:
			fmt.Fprintf(&b, " error %v", err)
		case word == "reset":
			b.WriteString(" done")
		default:
			fmt.Fprintf(&b, " %s %s", o.End, o.Value)
		}
		if o.Why != "" {
			fmt.Fprintf(&b, " (%s)", o.Why)
		}
		if o.Signal != 0 || o.Exit != 0 {
			fmt.Fprintf(&b, " signal %d, exit %d", o.Signal, o.Exit)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
