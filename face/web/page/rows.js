// Figures as the server writes them, and lists that are searched and brought up
// to date in place: the part of the page that changed is asked for and put in.

const figures = new Intl.NumberFormat("en-US");

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

// list makes a search form and its list work without a new page; it returns a
// function that asks for the list again. dress is called with what was put in.
export function list(form, say, dress) {
  const section = form.closest("[data-list]");
  const swap = () => section.querySelector("[data-swap]");
  let asked = null, soon = 0;

  function show(fresh) {
    const old = swap(), rows = (of) => [...of.querySelectorAll("[data-row]")];
    const at = rows(old).findIndex((r) => r.classList.contains("at"));
    const held = old.contains(document.activeElement); // the keys stay where they were
    const open = new Set(rows(old).filter((r) => r.querySelector("details[open]")).map((r) => r.id));
    old.replaceWith(document.adoptNode(fresh));
    dress(fresh);
    rows(fresh).filter((r) => open.has(r.id)).forEach((r) => { r.querySelector("details").open = true; });
    const row = rows(fresh)[at];
    row?.classList.add("at");
    if (held) { row?.querySelector("a").focus({ preventScroll: true }); }
  }

  // The charts of a live run, and the shares of its campaigns; a chart that is unfolded stays so.
  function charts(page) {
    const shares = page.querySelectorAll("[data-of=share]");
    document.querySelectorAll("[data-of=share]").forEach((old, i) => { if (shares[i]) { old.replaceWith(document.adoptNode(shares[i])); } });
    const old = document.querySelector(".charts"), fresh = page.querySelector(".charts");
    if (old && fresh) { old.replaceWith(document.adoptNode(fresh)); } else if (fresh) {
      document.querySelector(".tabs").append(document.adoptNode(fresh.closest("details")));
    }
  }

  // A document that a request brings is parsed without being run, which the
  // policy of the page allows; markup in a string it does not.
  function ask(address) {
    asked?.abort();
    return new Promise((done) => {
      const r = asked = new XMLHttpRequest();
      r.open("GET", address);
      r.responseType = "document";
      r.onload = () => {
        const fresh = r.status === 200 && r.response?.querySelector(`[data-list=${section.dataset.list}] [data-swap]`);
        if (fresh) { show(fresh); charts(r.response); }
        done(Boolean(fresh));
      };
      r.onerror = r.onabort = () => done(false); // the stream of events reports a lost connection
      r.send();
    });
  }

  async function search() {
    clearTimeout(soon);
    const q = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
    history.replaceState(null, "", location.pathname + (String(q) && "?" + q));
    if (await ask(location.pathname + location.search)) { say(section.querySelector("[data-place]").textContent || "none"); }
  }
  // A cell, row or column of a matrix shows its findings alone.
  section.addEventListener("click", async (e) => {
    const a = e.target.closest("a[data-show]");
    if (!a || e.metaKey || e.ctrlKey || e.shiftKey) { return; }
    e.preventDefault();
    const to = new URL(a.href);
    history.replaceState(null, "", to.pathname + to.search);
    section.querySelectorAll("[data-show][aria-current]").forEach((x) => x.removeAttribute("aria-current"));
    if (a.dataset.show) { a.setAttribute("aria-current", "true"); }
    if (await ask(to.pathname + to.search)) {
      if (swap().getBoundingClientRect().top < 0 || swap().getBoundingClientRect().top > innerHeight) { section.scrollIntoView(); }
      say(section.querySelector("[data-place]").textContent);
    }
  });
  form.addEventListener("input", () => { clearTimeout(soon); soon = setTimeout(search, 150); });
  form.addEventListener("submit", (e) => { e.preventDefault(); search(); });
  return () => ask(location.pathname + location.search);
}
