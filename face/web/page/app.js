// What the pages do beyond being read: copying, keys, searching in place and
// following a run. All of them can be read and used without it.
import { follow } from "./live.js";
import { watch } from "./fleet.js";
import { count, duration, list, rate, visible } from "./rows.js";

const all = (s) => [...document.querySelectorAll(s)];
const said = document.getElementById("said");
const say = (text) => { said.textContent = text; };

// Copying.
async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  say(button.textContent);
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
all("button.copy").forEach((b) => { b.hidden = false; b.addEventListener("click", () => copy(b)); });

// Folded things open for a deep link and for paper.
function reveal() {
  let at = null;
  try { at = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
  for (let n = at; n; n = n.parentElement) { if (n.tagName === "DETAILS") { n.open = true; } }
}
addEventListener("hashchange", reveal);
reveal();
let folded = [];
addEventListener("beforeprint", () => { folded = all("details:not([open])"); folded.forEach((d) => { d.open = true; }); });
addEventListener("afterprint", () => folded.forEach((d) => { d.open = false; }));

// Lists.
const form = document.querySelector("form[data-search]");
const refresh = form ? list(form, say) : () => {};
const fleet = document.querySelector("[data-fleet]");
if (fleet) {
  watch(fleet, document.body.dataset.events);
} else if (document.body.dataset.events) {
  follow(document.body.dataset.events, { count, duration, rate, refresh, visible });
}

// Colours: the server keeps the choice and draws the next page with it.
const theme = document.querySelector("[data-theme-form]");
const themes = theme.elements.theme;
theme.querySelector("button").hidden = true;
themes.addEventListener("change", () => {
  if (themes.value === "auto") { delete document.documentElement.dataset.theme; } else { document.documentElement.dataset.theme = themes.value; }
  document.querySelector("meta[name=color-scheme]").content = themes.value === "auto" ? "light dark" : themes.value;
  fetch(theme.action, { method: "POST", body: new URLSearchParams(new FormData(theme)), redirect: "manual" }).catch(() => theme.submit());
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
  const to = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
  rows[at]?.classList.remove("at");
  to.classList.add("at");
  const link = to.querySelector("a");
  link.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}
const go = (selector) => document.querySelector(selector)?.click();
const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.querySelector("form[role=search] input[type=search], .search input")?.focus(),
  "?": showHelp,
  n: () => go("[data-pager] a[rel=next]:not([hidden])"),
  p: () => go("[data-pager] a[rel=prev]:not([hidden])"),
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
