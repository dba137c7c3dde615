"use strict";
(() => {
  for (const code of document.querySelectorAll("code.copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    });
    code.after(" ", button);
  }

  for (const figure of document.querySelectorAll("figure.wide, figure.graph")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "enlarge";
    button.textContent = "enlarge";
    button.addEventListener("click", () => {
      button.textContent = figure.classList.toggle("large") ? "fit" : "enlarge";
    });
    figure.before(button);
  }

  const theorems = document.querySelectorAll("details.theorem");
  if (matchMedia("screen and (max-width: 700px)").matches) {
    theorems.forEach((theorem) => { theorem.open = theorem.querySelector(":target") !== null; });
  }

  const opened = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(":is(.findings details, details.theorem):not([open])")) {
      details.open = true;
      opened.push(details);
    }
  });
  addEventListener("afterprint", () => opened.splice(0).forEach((details) => { details.open = false; }));

  const form = document.getElementById("filters");
  if (!form) return;
  const tables = [...document.querySelectorAll("table.matrix")].map((table) => ({
    table,
    rows: [...table.tBodies[0].rows].map((row) => ({ row, cells: [...row.querySelectorAll("td[data-verdict]")] })),
  }));
  // not form.dataset: that is the filter of this name
  const worstFirst = form.getAttribute("data-worst-first").split(" ");
  const orders = {
    rank: ({ verdict }) => worstFirst.indexOf(verdict),
    room: ({ room }) => (room === undefined ? Infinity : Number(room)),
  };
  const least = (cells, order) => Math.min(...cells.map((cell) => order(cell.dataset)));

  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    let shown = 0;
    for (const { table, rows } of tables) {
      for (const cell of table.querySelectorAll("[data-dataset]")) {
        cell.hidden = wanted.dataset !== "" && cell.dataset.dataset !== wanted.dataset;
      }
      const matching = rows.map(({ row, cells }) => {
        const found = cells.filter((cell) =>
          !cell.hidden
          && (wanted.verdict === "" || cell.dataset.verdict === wanted.verdict)
          && (wanted.evidence === "" || cell.dataset.evidence === wanted.evidence));
        row.hidden = found.length === 0 || (wanted.theorem !== "" && row.dataset.theorem !== wanted.theorem);
        return { row, found };
      });
      if (wanted.sort !== "order") {
        matching.sort((a, b) => least(a.found, orders[wanted.sort]) - least(b.found, orders[wanted.sort]) || 0);
      }
      table.tBodies[0].append(...matching.map(({ row }) => row));
      const here = rows.filter(({ row }) => !row.hidden).length;
      table.parentElement.hidden = here === 0;
      shown += here;
    }
    form.querySelector("output").textContent = shown ? `${shown} shown` : "no match";
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  apply();
})();
