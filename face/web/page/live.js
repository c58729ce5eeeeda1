// A page that shows a run as it goes. Every event holds the whole state, so
// nothing is lost when the page is loaded again or the connection breaks; the
// server sends at most four a second.

export function follow(address, tools) {
  const events = new EventSource(address);
  const all = (name) => document.querySelectorAll(`[data-live="${name}"]`);
  const put = (name, text) => all(name).forEach((e) => { if (e.textContent !== text) { e.textContent = text; } });
  let settled = "", drawn = 0, soon = 0, title = document.title;

  const draw = () => { clearTimeout(soon); soon = 0; tools.refresh(); };

  events.addEventListener("runs", tools.refresh);
  events.addEventListener("open", () => all("lost").forEach((e) => { e.hidden = true; }));
  events.addEventListener("error", () => all("lost").forEach((e) => { e.hidden = false; }));
  events.addEventListener("state", (event) => {
    const s = JSON.parse(event.data);
    if (s.status !== "running") {
      events.close();
      // Its record says more than the stream did.
      setTimeout(() => location.reload(), 300);
      return;
    }
    put("cases", tools.count(s.cases.run));
    put("cases-label", s.cases.planned > s.cases.run ? `of ${tools.count(s.cases.planned)} cases run` : "cases run");
    const word = s.findings === 1 ? "finding" : "findings";
    put("headline", `${tools.count(s.findings)} ${word} so far`);
    put("findings", tools.count(s.findings));
    put("findings-label", word + (s.findings > s.settled ? `, ${tools.count(s.findings - s.settled)} unconfirmed` : ""));
    put("rate", tools.rate(s.cases_per_second));
    put("time", tools.duration(s.seconds));
    put("phase", s.phase);
    put("campaign", tools.visible(s.of > 1 ? `${s.index} of ${s.of}: ${s.campaign}` : s.campaign));
    const share = s.planned > 0 ? Math.min(1, s.done / s.planned) : 0;
    put("eta", [
      s.planned > 0 ? `${tools.count(s.done)} of ${tools.count(s.planned)}` : tools.count(s.done),
      s.eta_seconds === null ? "" : `about ${tools.duration(s.eta_seconds)} left`,
    ].filter(Boolean).join(" · "));
    // Until the first of few findings is made small, nobody knows how far that is.
    all("bar").forEach((bar) => { if (s.planned > 0 && (s.done > 0 || s.phase === "running")) { bar.value = share; } else { bar.removeAttribute("value"); } });
    s.campaigns.forEach((c, i) => {
      put(`c${i}-run`, tools.count(c.cases.run) + (c.cases.planned > c.cases.run ? " of " + tools.count(c.cases.planned) : ""));
      [c.cases.pass, c.cases.fail, c.cases.skip, c.cases.error].forEach((n, k) => put(`c${i}-${k}`, tools.count(n)));
    });
    document.title = (s.planned > 0 ? Math.floor(100 * share) + "% " : "") + title;
    // Cards come as findings are met, and again as they are confirmed; charts
    // move every two seconds.
    const cards = `${s.settled} of ${s.findings}`;
    if (settled && cards !== settled) { draw(); } else if (s.cases.run !== drawn && !soon) { soon = setTimeout(draw, 2000); }
    [settled, drawn] = [cards, s.cases.run];
  });
  addEventListener("pagehide", () => events.close());
}
