//go:build unix

package agent

import (
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// A server that answers only what it knows is reached, as is one that knows only the version
// of the protocol that has no initialize.
func TestServersOfOneVersion(t *testing.T) {
	const tools = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
	for name, script := range map[string]string{
		"session": `while read -r line; do case $line in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":` + tools + `}';;
esac; done`,
		"stateless": `while read -r line; do case $line in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}';;
*'"server/discover"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":1000,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":` + tools + `}';;
esac; done`,
	} {
		x, err := system.New(map[sut.Kind]system.Kind{sut.MCP: OpenMCP}).Open(t.Context(), &sut.Plan{Name: name, Kind: sut.MCP, Command: []string{"/bin/sh", "-c", script}, Per: sut.PerWorker}, sut.Worker{Of: 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if list := x.Operations(); len(list) != 1 || list[0].Name != "echo" {
			t.Errorf("%s: its tools are %+v", name, list)
		}
		if err := x.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
