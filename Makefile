# What is built, tested and shown, by name. CI runs .ci/run.

.PHONY: build test e2e-llm bench-agents

build:
	CGO_ENABLED=0 go build -o thresh ./cmd/thresh

test:
	go test ./...

# An agent on a real language model on this machine's CPU: see the script.
e2e-llm:
	bash examples/flakestorm/e2e-llm.sh

# A matrix of 1,000 cells beside promptfoo: see the script.
bench-agents:
	bash bench/agents/run
