package journal

import "testing"

func TestKindNames(t *testing.T) {
	for k, want := range map[Kind]string{
		0: "kind-0", KindManifest: "manifest", KindOutcome: "outcome", KindClosing: "closing", Kind(len(kindNames)): "kind-14", maxKind: "kind-127",
	} {
		if got := k.String(); got != want {
			t.Errorf("%d: %q, want %q", uint8(k), got, want)
		}
	}
}
