// What the pages do beyond being read: copying, keys, searching in place and
// following a run. All of them can be read and used without it.
import { follow } from "./live.js";
import { watch } from "./fleet.js";
import { count, duration, list, rate, visible } from "./rows.js";

const all = (s) => [...document.querySelectorAll(s)];
const said = document.getElementById("said");
const say = (text) => { said.textContent = text; };

// Copying: a command, or all that a card holds for whoever is to mend it.
function textOf(card) {
  const folded = [...card.querySelectorAll("details:not([open])")];
  folded.forEach((d) => { d.open = true; });
  card.classList.add("copying"); // what is to be clicked says nothing of the failure
  const text = card.innerText;
  card.classList.remove("copying");
  folded.forEach((d) => { d.open = false; });
  return "Find the cause of this failure and fix it. The command at its beginning exits with 1 while it is there.\n\n" + text;
}
async function copy(button) {
  const name = button.textContent, agent = "agent" in button.dataset;
  const of = agent ? button.closest("[data-card]") : button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(agent ? textOf(of) : of.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(of);
    button.textContent = "Selected";
  }
  say(button.textContent);
  setTimeout(() => { button.textContent = name; }, 1500);
}
const dress = (root) => root.querySelectorAll("button.copy").forEach((b) => { b.hidden = false; b.addEventListener("click", () => copy(b)); });
dress(document);

// Folded things open for a deep link and for paper.
function reveal() {
  let at = null;
  try { at = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
  for (let n = at; n; n = n.parentElement) { if (n.tagName === "DETAILS") { n.open = true; } }
  if (at?.matches("[data-row]")) { point(at); } else if (at?.id === "done") { at.focus(); }
}
addEventListener("hashchange", reveal);
reveal();
addEventListener("load", () => setTimeout(reveal)); // the browser has gone to the address by then, and taken the focus
let folded = [];
addEventListener("beforeprint", () => { folded = all("details:not([open])"); folded.forEach((d) => { d.open = true; }); });
addEventListener("afterprint", () => folded.forEach((d) => { d.open = false; }));

// Lists.
const form = document.querySelector("form[data-search]");
const refresh = form ? list(form, say, dress) : () => {};
const fleet = document.querySelector("[data-fleet]");
if (fleet) {
  watch(fleet, document.body.dataset.events);
} else if (document.body.dataset.events) {
  follow(document.body.dataset.events, { count, duration, rate, refresh, visible });
}

// A document: what check says of it, as it is typed.
const desk = document.querySelector("[data-desk]");
if (desk) {
  let soon = 0, asked = null;
  desk.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      asked?.abort();
      const r = asked = new XMLHttpRequest(), q = new URLSearchParams(new FormData(desk));
      q.set("do", "check");
      r.open("POST", desk.getAttribute("action"));
      r.responseType = "document";
      r.onload = () => {
        const fresh = r.response?.querySelector("[data-answer]");
        if (fresh) { desk.querySelector("[data-answer]").replaceWith(document.adoptNode(fresh)); }
      };
      r.send(q);
    }, 400);
  });
}

// Colours: the server keeps the choice and draws the next page with it. Two
// choices made quickly are sent one after the other, so that the last one stays.
let chosen = Promise.resolve();
const theme = document.querySelector("[data-theme-form]");
const themes = theme.elements.theme;
theme.querySelector("button").hidden = true;
themes.addEventListener("change", () => {
  if (themes.value === "auto") { delete document.documentElement.dataset.theme; } else { document.documentElement.dataset.theme = themes.value; }
  document.querySelector("meta[name=color-scheme]").content = themes.value === "auto" ? "light dark" : themes.value;
  const choice = { method: "POST", body: new URLSearchParams(new FormData(theme)), redirect: "manual", keepalive: true };
  chosen = chosen.then(() => fetch(theme.action, choice)).catch(() => theme.submit());
});
function nextTheme() {
  themes.selectedIndex = (themes.selectedIndex + 1) % themes.options.length;
  themes.dispatchEvent(new Event("change"));
  say(`colours: ${themes.value}`);
}

// Keys.
const help = document.getElementById("help");
const showHelp = () => { if (help.open) { help.close(); } else { help.showModal(); } };
all("[data-do=help]").forEach((b) => { b.hidden = false; b.addEventListener("click", showHelp); });

function move(by) {
  const rows = all("[data-row]");
  if (!rows.length) { return; }
  const at = rows.findIndex((r) => r.classList.contains("at"));
  point(rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]);
}
function point(row) {
  all("[data-row].at").forEach((r) => r.classList.remove("at"));
  row.classList.add("at");
  row.querySelector("a").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}
const go = (selector) => document.querySelector(selector)?.click();
const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.querySelector("form[role=search] input[type=search], .search input")?.focus(),
  "?": showHelp,
  n: () => go("[data-pager] a[rel=next]"),
  p: () => go("[data-pager] a[rel=prev]"),
  u: () => go(document.querySelector("[data-up]") ? "[data-up]" : ".brand"),
  c: () => go("button.copy"),
  t: nextTheme,
};
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) { return; }
  const field = e.target.closest?.("input:not([type=checkbox]), select, textarea");
  if (field) {
    if (e.key === "Escape") { field.blur(); }
    return;
  }
  if (help.open && e.key !== "?") { return; }
  const act = keys[e.key];
  if (act) { e.preventDefault(); act(); }
});
