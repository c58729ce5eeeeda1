// Command travel is an agent behind HTTP that calls a model and two tools over HTTP: POST /chat
// {"message": "..."} returns {"output": "..."}.
//
//	go run -C examples/flakestorm ./travel          with weaknesses, see agent.go
//	go run -C examples/flakestorm ./travel -fixed   without them, see fixed.go
//
// LLM_URL, WEATHER_URL and SEARCH_URL name the model and the tools; the agent starts those that are
// not set. It honours HTTP_PROXY and HTTPS_PROXY.
package main

import (
	"flag"
	"log"
	"os"

	"github.com/thresh-dev/thresh/examples/flakestorm/world"
)

func main() {
	fixed := flag.Bool("fixed", false, "without the planted weaknesses")
	flag.Parse()
	at, err := world.Environ()
	if err != nil {
		log.Fatal(err)
	}
	model := os.Getenv("LLM_MODEL")
	if model == "" {
		model = "scripted"
	}
	log.Fatal(world.Serve(newAgent(at, model, *fixed).handler()))
}
