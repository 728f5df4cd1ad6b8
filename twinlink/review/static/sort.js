/* Makes tables of the class `sortable` sortable: each column's name becomes a button. */
(function () {
  "use strict";

  function valueOf(row, index) {
    var cell = row.cells[index];
    if (!cell) return null;
    var given = cell.getAttribute("data-v");
    if (given === "") return null;
    if (given !== null) return Number(given);
    var text = cell.textContent.trim();
    return text === "" || text === "–" ? null : text;
  }

  function compare(one, other) {
    return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));
  }

  function sortBy(table, head, index) {
    var now = head.getAttribute("aria-sort");
    var descending = now ? now === "ascending" : head.hasAttribute("data-n"); // numbers: the largest first
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row, place) {
      return { row: row, value: valueOf(row, index), place: place };
    });
    rows.sort(function (one, other) {
      if (one.value === null || other.value === null) {
        if (one.value === other.value) return one.place - other.place;
        return one.value === null ? 1 : -1; // unknown values come last in both directions
      }
      var order = compare(one.value, other.value);
      return (descending ? -order : order) || one.place - other.place;
    });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) {
      if (cell !== head) cell.removeAttribute("aria-sort");
    });
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    var sorted = document.createDocumentFragment();
    rows.forEach(function (each) { sorted.appendChild(each.row); });
    body.appendChild(sorted);
  }

  function prepare(table) {
    if (!table.tHead || !table.tBodies.length) return;
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, index) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () { sortBy(table, head, index); });
    });
  }

  Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), prepare);
})();
