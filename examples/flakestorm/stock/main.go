// Command stock is an agent behind HTTP that answers with the tools of an MCP server, using the
// official Go SDK: POST /ask {"message": "..."} returns {"answer": "..."}.
//
//	go run -C examples/flakestorm ./stock          with weaknesses, see agent.go
//	go run -C examples/flakestorm ./stock -fixed   without them
//
// The MCP server is at WAREHOUSE_URL; if that is not set, the agent starts one. It honours
// HTTP_PROXY and HTTPS_PROXY.
package main

import (
	"flag"
	"log"

	"github.com/thresh-dev/thresh/examples/flakestorm/world"
)

func main() {
	fixed := flag.Bool("fixed", false, "without the planted weaknesses")
	flag.Parse()
	at, err := world.Environ()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(world.Serve(handler(&agent{server: at.Warehouse, fixed: *fixed})))
}
