(function () {
  "use strict";
  var all = function (s) { return Array.prototype.slice.call(document.querySelectorAll(s)); };

  function reveal() {
    var at = null;
    try { at = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (e) { return; }
    for (var n = at; n; n = n.parentElement) { if (n.tagName === "DETAILS") { n.open = true; } }
    if (at && at.querySelector("details")) { at.querySelector("details").open = true; }
    if (at) { at.scrollIntoView(); }
  }
  window.addEventListener("hashchange", reveal);
  if (location.hash) { reveal(); }

  all("button.copy").forEach(function (b) {
    var name = b.textContent, of = b.dataset.agent === undefined ? b.parentElement.querySelector("code") : b.closest("[data-card]");
    b.hidden = false;
    b.addEventListener("click", function () {
      var said = function (word) { b.textContent = word; setTimeout(function () { b.textContent = name; }, 1500); };
      var select = function () { getSelection().selectAllChildren(of); said("Selected"); };
      if (!navigator.clipboard) { select(); return; }
      navigator.clipboard.writeText(of.dataset.card === undefined ? of.textContent : agentText(of)).then(function () { said("Copied"); }, select);
    });
  });

  // All that a card holds, for whoever is to mend it.
  function agentText(card) {
    var folded = Array.prototype.slice.call(card.querySelectorAll("details:not([open])"));
    folded.forEach(function (d) { d.open = true; });
    card.classList.add("copying"); // what is to be clicked says nothing of the failure
    var text = card.innerText;
    card.classList.remove("copying");
    folded.forEach(function (d) { d.open = false; });
    return "Find the cause of this failure and fix it. The command at its beginning exits with 1 while it is there.\n\n" + text;
  }

  var box = document.querySelector(".filter");
  var items = all(".searchable");
  if (box && items.length > 5) {
    box.hidden = false;
    box.querySelector("input").addEventListener("input", function (e) {
      var want = e.target.value.toLowerCase();
      items.forEach(function (i) {
        var text = (i.querySelector("header, summary") || i).textContent;
        i.hidden = want !== "" && text.toLowerCase().indexOf(want) < 0;
      });
    });
  }

  // A cell, row or column of a matrix shows its findings alone.
  var note = document.querySelector(".narrowed");
  function narrow(ids, name) {
    all("[data-card]").forEach(function (c) {
      c.hidden = ids !== null && ids.indexOf(c.id) < 0 && !ids.some(function (id) { return c.querySelector("[id='" + CSS.escape(id) + "']"); });
    });
    note.hidden = ids === null;
    note.querySelector("b").textContent = name;
  }
  all("[data-show]").forEach(function (a) {
    a.addEventListener("click", function (e) {
      e.preventDefault();
      all("[data-show]").forEach(function (x) { x.removeAttribute("aria-current"); });
      a.setAttribute("aria-current", "true");
      narrow(a.dataset.show.split(" "), a.dataset.what);
      note.scrollIntoView({ block: "nearest" });
    });
  });
  if (note) {
    note.querySelector("button").addEventListener("click", function () {
      all("[data-show]").forEach(function (x) { x.removeAttribute("aria-current"); });
      narrow(null, "");
    });
  }

  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all("details:not([open])");
    closed.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); });
})();
