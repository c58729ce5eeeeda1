// A page that shows who works for a fleet. Every event holds the whole state.
import { count, rate, visible } from "./rows.js";

export function watch(main, address) {
  const events = new EventSource(address);
  const put = (name, text) => { main.querySelector(`[data-live=${name}]`).textContent = text; };
  const lost = main.querySelector("[data-live=lost]");
  const fill = (list, members, slots) => {
    const line = main.querySelector(`template[data-line=${list}]`);
    const body = main.querySelector(`[data-list=${list}]`).tBodies[0];
    const held = [...body.rows].findIndex((r) => r.contains(document.activeElement));
    body.replaceChildren(...members.map((m) => {
      const row = line.content.cloneNode(true);
      for (const [name, set] of Object.entries(slots)) {
        const slot = row.querySelector(`[data-slot=${name}]`), value = set(m, slot);
        if (value !== undefined) { slot.textContent = value; }
      }
      return row;
    }));
    body.rows[held]?.querySelector("a")?.focus({ preventScroll: true });
    main.querySelector(`[data-none=${list}]`).hidden = members.length > 0;
  };
  const shared = {
    host: (m) => visible(m.host), cases: (m) => count(m.cases), rate: (m) => rate(m.cases_per_second), leases: (m) => count(m.leases),
  };
  events.addEventListener("open", () => { lost.hidden = true; });
  events.addEventListener("error", () => { lost.hidden = false; });
  events.addEventListener("fleet", (event) => {
    const f = JSON.parse(event.data);
    put("workers", count(f.workers.length));
    put("lanes", `${count(f.busy)} of ${count(f.lanes)}`);
    put("rate", rate(f.cases_per_second));
    put("leases", count(f.in_flight));
    put("retries", count(f.retries));
    fill("fleet-runs", f.runs, {
      ...shared,
      id: (m, a) => { if (m.stored) { a.href = "/runs/" + encodeURIComponent(m.id); } return visible(m.id); },
      out: (m) => count(m.in_flight), again: (m) => count(m.retries), stolen: (m) => count(m.stolen), quarantined: (m) => count(m.quarantined),
    });
    fill("fleet-workers", f.workers, {
      ...shared,
      id: (m) => visible(m.id), busy: (m) => `${m.busy} of ${m.lanes}`,
      meter: (m, e) => { e.max = m.lanes; e.value = m.busy; },
      labels: (m) => visible(m.labels.join(", ")), runs: (m) => visible(m.runs.join(", ")),
    });
  });
  addEventListener("pagehide", () => events.close());
}
