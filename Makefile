# What is built, tested and shown, by name. CI runs .ci/run.

.PHONY: build test pictures e2e-llm bench-agents

build:
	CGO_ENABLED=0 go build -o thresh ./cmd/thresh

test:
	go test ./...

# The pictures of docs/pictures.md, with Chromium.
pictures:
	THRESH_PICTURES=$(CURDIR)/docs/pictures go test ./face/web -run 'TestPictures$$' -count=1
	go run -C tools/record . -o docs/pictures/demo.svg

# An agent on a real language model on this machine's CPU: see the script.
e2e-llm:
	bash examples/flakestorm/e2e-llm.sh

# A matrix of 1,000 cells beside promptfoo: see the script.
bench-agents:
	bash bench/agents
