// Lists that are searched and brought up to date in place. Lines are copies of
// a template that the page brings along, filled with text alone: what comes
// from a program under test is never markup.

const figures = new Intl.NumberFormat("en-US");
const marks = { pass: "✓", done: "✓", fail: "✕", running: "▸", interrupted: "‖" };
const glyphs = { note: "○", low: "●", medium: "■", high: "▲", critical: "◆" };

export const count = (n) => figures.format(n);

// What cannot be seen is written out, as the server does.
export const visible = (s) => s.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => {
  const n = c.codePointAt(0);
  if (n < 0x80) { return { 9: "\\t", 10: "\\n", 13: "\\r" }[n] ?? "\\x" + n.toString(16).padStart(2, "0"); }
  return n > 0xffff ? "\\U" + n.toString(16).padStart(8, "0") : "\\u" + n.toString(16).padStart(4, "0");
});

export const rate = (r) => (r < 10 ? r.toFixed(1) : count(Math.round(r))) + "/s";

export function duration(s) {
  if (!(s > 0)) { return "0 s"; }
  if (s < 0.9995) { return Math.round(s * 1000) + " ms"; }
  if (s < 59.95) { return s.toFixed(1) + " s"; }
  const t = Math.round(s), two = (n) => String(n).padStart(2, "0");
  if (t < 3600) { return `${Math.floor(t / 60)} min ${two(t % 60)} s`; }
  return `${Math.floor(t / 3600)} h ${two(Math.floor(t % 3600 / 60))} min`;
}

const path = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

const fill = {
  runs(slot, r) {
    const word = r.status === "done" || r.status === "error" ? r.verdict || "error" : r.status;
    slot("mark").parentElement.classList.add(word);
    slot("mark").textContent = marks[word] ?? "!";
    slot("word").textContent = word;
    slot("run").textContent = r.run_id;
    slot("run").href = path("runs", r.run_id);
    slot("campaigns").textContent = visible(r.campaigns.join(", "));
    slot("contracts").textContent = r.contracts.join(", ");
    slot("cases").textContent = count(r.cases.run);
    slot("findings").textContent = count(r.findings);
    slot("flaky").textContent = r.flaky ? count(r.flaky) + " flaky" : "";
    slot("time").textContent = duration(r.seconds);
    slot("started").dateTime = r.created;
    slot("started").textContent = r.created.slice(0, 16).replace("T", " ");
  },
  findings(slot, f) {
    const run = document.querySelector("main").dataset.run;
    slot("glyph").parentElement.classList.add(f.severity);
    slot("glyph").textContent = glyphs[f.severity] ?? "";
    slot("severity").textContent = f.severity;
    slot("title").textContent = visible(f.title);
    slot("title").href = path("runs", run, "findings", f.id);
    slot("id").textContent = f.id;
    slot("new").textContent = f.new ? "new" : "";
    slot("flaky").textContent = f.flaky ? "flaky" : "";
    slot("kind").textContent = visible(f.kind);
    slot("campaign").textContent = visible(f.campaign);
    slot("cases").textContent = count(f.cases);
  },
};

// list makes a search form and its table work without a new page; it returns a
// function that asks for the lines again.
export function list(form, say) {
  const section = form.closest("section");
  const table = section.querySelector("[data-list]");
  const kind = table.dataset.list;
  const line = section.querySelector(`template[data-line=${kind}]`);
  const pager = section.querySelector("[data-pager]");
  let asked = null;

  const query = () => {
    const q = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...q]) { if (value === "") { q.delete(name); } }
    return q;
  };

  function show(page, limit, offset) {
    const lines = page[kind].map((item) => {
      const row = line.content.cloneNode(true);
      fill[kind]((name) => row.querySelector(`[data-slot=${name}]`), item);
      return row;
    });
    const at = [...table.querySelectorAll("[data-row]")].findIndex((r) => r.classList.contains("at"));
    const held = table.contains(document.activeElement); // the keys stay where they were
    table.tBodies[0].replaceChildren(...lines);
    const row = table.querySelectorAll("[data-row]")[at];
    row?.classList.add("at");
    if (held) { row?.querySelector("a").focus({ preventScroll: true }); }
    section.querySelector("[data-none]").hidden = lines.length > 0;
    const slot = (name) => pager.querySelector(`[data-slot=${name}]`);
    slot("place").textContent = page.total ? `${count(Math.min(offset + 1, page.total))}–${count(offset + lines.length)} of ${count(page.total)}` : "";
    const lead = (name, there, to) => {
      const a = slot(name), q = query();
      if (to > 0) { q.set("offset", to); }
      a.hidden = !there;
      if (there) { a.href = location.pathname + (String(q) && "?" + q); } else { a.removeAttribute("href"); }
    };
    lead("prev", offset > 0, Math.max(0, offset - limit));
    lead("next", offset + lines.length < page.total, offset + limit);
  }

  async function ask(offset) {
    asked?.abort();
    asked = new AbortController();
    const q = query(), limit = 50;
    q.set("limit", limit);
    if (offset) { q.set("offset", offset); }
    try {
      const answer = await fetch(`${form.dataset.search}?${q}`, { signal: asked.signal });
      if (answer.ok) { show(await answer.json(), limit, offset); }
      return answer.ok;
    } catch { return false; } // a newer question, or no connection: the stream of events tells of that
  }

  let soon = 0;
  form.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(async () => {
      const q = query();
      history.replaceState(null, "", location.pathname + (String(q) && "?" + q));
      if (await ask(0)) { say(pager.querySelector("[data-slot=place]").textContent || "none"); }
    }, 150);
  });
  return () => ask(Number(new URLSearchParams(location.search).get("offset") ?? 0));
}
