(() => {
  "use strict";
  document.documentElement.classList.add("js");

  const keyOf = (row, place, kind) => {
    const cell = row.cells[place];
    const said = cell ? cell.dataset.key ?? cell.textContent.trim() : "";
    if (kind === "text") return said.toLowerCase();
    const value = parseFloat(said.replace("−", "-").replace(/,/g, ""));
    return Number.isNaN(value) ? -Infinity : value;
  };

  const sortBy = (table, place) => {
    const heads = [...table.tHead.rows[0].cells];
    const head = heads[place];
    const kind = head.dataset.kind;
    const usual = kind === "text" ? "ascending" : "descending";
    const other = usual === "ascending" ? "descending" : "ascending";
    const way = head.getAttribute("aria-sort") === usual ? other : usual;
    const sign = way === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, place, kind), row]);
    rows.sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0));
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", way);
    table.tBodies[0].append(...rows.map(([, row]) => row));
    pages.get(table.tBodies[0]).show();
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      head.querySelector("button").addEventListener("click", () => sortBy(table, place));
    });
  }

  // A long list shows its first items, and more with each click; what a search leaves out is not counted.
  const pageOf = (list) => {
    const step = Number(list.dataset.shows);
    let most = step;
    const more = document.createElement("button");
    more.type = "button";
    more.className = "further";
    (list.closest("table") ?? list).after(more);
    const show = () => {
      const found = [...list.children].filter((one) => !one.hidden);
      found.forEach((one, place) => one.classList.toggle("later", place >= most));
      const left = Math.max(0, found.length - most);
      more.hidden = left === 0;
      more.textContent = `Show ${Math.min(step, left)} of ${left.toLocaleString("en")} more`;
    };
    more.addEventListener("click", () => {
      const first = [...list.children].find((one) => one.classList.contains("later"));
      most += step;
      show();
      first.tabIndex = -1;
      if (more.hidden) first.focus();
    });
    const reveal = (one) => {
      most = Math.max(most, [...list.children].filter((other) => !other.hidden).indexOf(one) + 1);
      show();
    };
    show();
    return { show, reveal };
  };
  const pages = new Map([...document.querySelectorAll("[data-shows]")].map((list) => [list, pageOf(list)]));

  for (const field of document.querySelectorAll("input[data-filters]")) {
    const rows = [...document.getElementById(field.dataset.filters).tBodies[0].rows];
    const count = document.getElementById(field.dataset.counts);
    const said = rows.map((row) => row.textContent.toLowerCase());
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row, place) => {
        row.hidden = !words.every((word) => said[place].includes(word));
        left += row.hidden ? 0 : 1;
      });
      pages.get(rows[0].parentNode).show();
      count.textContent = words.length ? `${left} of ${rows.length} match` : "";
    });
  }

  for (const button of document.querySelectorAll("button[data-opens]")) {
    button.addEventListener("click", () => {
      const all = [...document.querySelectorAll(`#${button.dataset.opens} > details`)];
      const open = all.some((one) => !one.open);
      all.forEach((one) => { one.open = open; });
      button.textContent = open ? "Close all" : "Open all";
    });
  }

  const openTarget = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") {
      for (let one = target; one !== document.body; one = one.parentElement) {
        if (one.tagName === "DETAILS") one.open = true;
        pages.get(one.parentElement)?.reveal(one);
      }
      target.scrollIntoView();
      target.querySelector("summary").focus();
    }
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();
