"use strict";

// Text from the study is only ever set with textContent, so that none of it is read as HTML.
const read = id => JSON.parse(document.getElementById(id).textContent);

function draw(place) {
  const options = { actions: false, renderer: "svg", mode: "vega-lite" };
  vegaEmbed(place, read(place.dataset.spec), options).then(() => {
    for (const picture of place.querySelectorAll("svg")) {
      picture.setAttribute("aria-hidden", "true");  // the figure has its words
    }
  }, fault => { place.textContent = `This chart could not be drawn: ${fault.message}`; });
}

function save(button) {
  const blob = new Blob(["\ufeff", read(button.dataset.csv)], { type: "text/csv" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

for (const place of document.querySelectorAll("[data-spec]")) draw(place);
for (const button of document.querySelectorAll("[data-csv]")) {
  button.addEventListener("click", () => save(button));
}

// The replies: parts that further files add, a search, filters, and a page at a time.

const PAGE = 50;
const replies = { columns: [], rows: [] };
let found = [];
let start = 0;

window.addReplies = part => {
  replies.columns = part.columns;
  for (const row of part.rows) replies.rows.push(row);
};

function element(kind, text) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  return made;
}

function search() {
  const words = document.getElementById("words").value.toLowerCase();
  const chosen = [...document.querySelectorAll("[data-column]")]
    .map(field => [Number(field.dataset.column), field.value]).filter(([, value]) => value !== "");
  found = replies.rows.filter(row =>
    chosen.every(([column, value]) => row[column] === value.slice(1)) &&
    (words === "" || row.some(cell => cell.toLowerCase().includes(words))));
  start = 0;
  show();
}

function show() {
  const body = document.querySelector("#replies tbody");
  const rows = found.slice(start, start + PAGE).map(row => {
    const line = element("tr");
    for (const cell of row) {
      const made = element("td", cell);
      made.dir = "auto";
      line.append(made);
    }
    return line;
  });
  body.replaceChildren(...rows);
  const last = Math.min(start + PAGE, found.length);
  const shown = found.length ? `${(start + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ` : "";
  document.getElementById("count").textContent =
    `${shown}${found.length.toLocaleString("en")} replies (${replies.rows.length.toLocaleString("en")} in all)`;
  document.getElementById("before").disabled = start === 0;
  document.getElementById("after").disabled = last >= found.length;
}

function fields() {
  const place = document.getElementById("filters");
  replies.columns.forEach((name, column) => {
    const values = [...new Set(replies.rows.map(row => row[column]))];
    if (values.length < 2 || values.length > 200 || name === "reply" || name === "text") return;
    const label = element("label", name);
    const field = element("select");
    field.dataset.column = column;
    field.append(element("option", "all"));
    field.lastChild.value = "";
    for (const value of values.sort()) {
      field.append(element("option", value || "(none)"));
      field.lastChild.value = `=${value}`;
    }
    field.addEventListener("change", search);
    label.append(field);
    place.append(label);
  });
}

function begin() {
  const head = document.querySelector("#replies thead tr");
  for (const name of replies.columns) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  fields();
  document.getElementById("words").addEventListener("input", search);
  document.getElementById("before").addEventListener("click", () => { start -= PAGE; show(); });
  document.getElementById("after").addEventListener("click", () => { start += PAGE; show(); });
  search();
}

if (document.getElementById("replies")) window.addEventListener("load", begin);
