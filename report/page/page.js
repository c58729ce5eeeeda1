(function () {
  "use strict";
  var all = function (s) { return Array.prototype.slice.call(document.querySelectorAll(s)); };

  function reveal() {
    var at = null;
    try { at = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (e) { return; }
    for (var n = at; n; n = n.parentElement) { if (n.tagName === "DETAILS") { n.open = true; } }
    if (at) { at.scrollIntoView(); }
  }
  window.addEventListener("hashchange", reveal);
  if (location.hash) { reveal(); }

  all("button.copy").forEach(function (b) {
    var code = b.parentElement.querySelector("code");
    b.hidden = false;
    b.addEventListener("click", function () {
      var said = function (word) { b.textContent = word; setTimeout(function () { b.textContent = "Copy"; }, 1500); };
      var select = function () { getSelection().selectAllChildren(code); said("Selected"); };
      if (!navigator.clipboard) { select(); return; }
      navigator.clipboard.writeText(code.textContent).then(function () { said("Copied"); }, select);
    });
  });

  var box = document.querySelector(".filter");
  var items = all(".searchable");
  if (box && items.length > 5) {
    box.hidden = false;
    box.querySelector("input").addEventListener("input", function (e) {
      var want = e.target.value.toLowerCase();
      items.forEach(function (i) {
        var text = i.tagName === "DETAILS" ? i.querySelector("summary").textContent : i.textContent;
        i.hidden = want !== "" && text.toLowerCase().indexOf(want) < 0;
      });
    });
  }

  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all("details.finding:not([open])");
    closed.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); });
})();
