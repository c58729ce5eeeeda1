// Command llm serves the scripted model of the examples, and their tools, on its own: for agents in
// other languages, and for exploring.
//
//	go run -C examples/flakestorm ./llm
//	PORT=8099 go run -C examples/flakestorm ./llm
package main

import (
	"log"
	"net/http"

	"github.com/thresh-dev/thresh/examples/flakestorm/world"
)

func main() {
	mux := http.NewServeMux()
	mux.Handle("/v1/", world.LLM())
	mux.Handle("/", world.Tools())
	log.Fatal(world.Serve(mux))
}
