"use strict";
document.querySelectorAll("table").forEach(function (t) {
  var body = t.tBodies[0], heads = t.tHead.rows[0].cells;
  Array.prototype.forEach.call(heads, function (th, column) {
    var b = document.createElement("button");
    b.type = "button"; b.title = "Sort by " + th.textContent;
    while (th.firstChild) b.appendChild(th.firstChild);
    th.appendChild(b);
    b.addEventListener("click", function () {
      var up = th.getAttribute("aria-sort") !== "ascending", number = th.classList.contains("n");
      Array.prototype.forEach.call(heads, function (o) { o.removeAttribute("aria-sort"); });
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      function key(row) {
        var c = row.cells[column];
        return number ? (c.dataset.v === undefined ? NaN : Number(c.dataset.v)) : c.textContent;
      }
      Array.prototype.slice.call(body.rows).sort(function (p, q) {
        var a = key(p), b = key(q), d;
        if (number && isNaN(a) !== isNaN(b)) return isNaN(a) ? 1 : -1;
        d = number ? (isNaN(a) ? 0 : a - b) : a.localeCompare(b, "en", {numeric: true});
        return up ? d : -d;
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
addEventListener("beforeprint", function () {
  document.querySelectorAll("details").forEach(function (d) { d.open = true; });
});
