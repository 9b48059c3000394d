// Items in rows, factors in columns. One press on a factor moves the item there; one press on its
// own factor takes it off. Texts of banks are only ever set as text, never as HTML.

const memories = new WeakMap();

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function memoryOf(root) {
  if (!memories.has(root)) {
    memories.set(root, { filter: "", closed: new Set(), added: [], adding: "", focus: null, n: 0 });
  }
  return memories.get(root);
}

// The factor under whose heading an item stands: a general factor says nothing about its place.
function homeOf(item, factors) {
  const own = factors.filter((factor) => item.factors.includes(factor.name));
  return (own.find((factor) => !factor.general) || own[0] || { name: "" }).name;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".editor");
  const memory = memoryOf(root);
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const send = (kind, item, source, target) => {
    memory.n += 1;
    root.setAttribute("aria-busy", "true");
    setTriggerValue("edit", { kind, item, source, target, n: memory.n });
  };

  memory.added = memory.added.filter((name) => !data.factors.some((one) => one.name === name));
  const factors = [
    ...data.factors,
    ...memory.added.map((name) => ({ name, shown: name, general: false })),
  ];
  const shownFactor = Object.fromEntries(factors.map((one) => [one.name, one.shown]));
  const code = Object.fromEntries(data.items.map((one) => [one.name, one.code]));
  const scroller = part("scroller");

  function press(item, factor, add) {
    memory.focus = [item.name, factor];
    memory.adding = "";
    if (item.factors.includes(factor)) send("take_off", item.name, factor, "");
    else if (add && item.factors.length) send("add", item.name, "", factor);
    else send("move", item.name, homeOf(item, factors), factor);
  }

  function cell(item, factor) {
    const on = item.factors.includes(factor.name);
    const adding = memory.adding === item.name && !on;
    const button = element("button", on ? "cell on" : "cell", on ? "●" : adding ? "+" : "");
    const home = homeOf(item, factors);
    const words = on
      ? `Take ${item.code} off ${factor.shown}`
      : adding
        ? `Add a cross-loading of ${item.code} on ${factor.shown}`
        : home
          ? `Move ${item.code} from ${shownFactor[home]} to ${factor.shown}`
          : `Put ${item.code} on ${factor.shown}`;
    button.type = "button";
    button.title = words;
    button.setAttribute("aria-label", words);
    button.setAttribute("aria-pressed", on ? "true" : "false");
    button.dataset.item = item.name;
    button.dataset.factor = factor.name;
    button.tabIndex = -1;
    button.onclick = (event) => press(item, factor.name, adding || event.shiftKey);
    return button;
  }

  function row(item) {
    const line = element("div", "row");
    const label = element("div", "label");
    const text = element("span", "text", item.text);
    text.dir = "auto";
    label.append(element("span", "code", item.code), text);
    label.title = item.text ? `${item.code}: ${item.text}` : item.code;
    line.draggable = true;
    line.ondragstart = (event) => event.dataTransfer.setData("text/plain", item.name);
    line.append(label, ...factors.map((factor) => cell(item, factor)));
    const more = element("button", "more", "+");
    const can = item.factors.length > 0 && item.factors.length < factors.length;
    more.type = "button";
    more.title = `Add a cross-loading of ${item.code}: then press a factor`;
    more.setAttribute("aria-label", more.title);
    more.setAttribute("aria-pressed", memory.adding === item.name ? "true" : "false");
    more.dataset.item = item.name;
    more.dataset.factor = "";
    more.disabled = !can;
    more.tabIndex = -1;
    more.onclick = () => {
      memory.adding = memory.adding === item.name ? "" : item.name;
      memory.focus = [item.name, ""];
      draw();
    };
    line.append(more);
    return line;
  }

  function group(name, title, items, total) {
    const section = element("section", "group");
    const closed = memory.closed.has(name);
    const heading = element("button", "heading");
    heading.type = "button";
    heading.setAttribute("aria-expanded", closed ? "false" : "true");
    heading.append(
      element("span", "fold", closed ? "▸" : "▾"),
      element("span", "name", title),
      element("span", "count", items.length === total ? `${total}` : `${items.length} of ${total}`),
    );
    heading.onclick = () => {
      if (closed) memory.closed.delete(name);
      else memory.closed.add(name);
      draw();
    };
    section.append(heading);
    if (!closed) section.append(...items.map(row));
    section.ondragover = (event) => {
      event.preventDefault();
      section.classList.add("target");
    };
    section.ondragleave = () => section.classList.remove("target");
    section.ondrop = (event) => {
      event.preventDefault();
      section.classList.remove("target");
      const item = data.items.find((one) => one.name === event.dataTransfer.getData("text/plain"));
      if (!item || item.factors.includes(name)) return;
      const home = homeOf(item, factors);
      if (!name) {
        if (home) send("take_off", item.name, home, "");
      } else press(item, name, event.shiftKey);
    };
    return section;
  }

  function matches(item) {
    const wanted = memory.filter.trim().toLowerCase();
    const own = item.factors.map((factor) => shownFactor[factor] || factor);
    return [item.code, item.text, ...own].some((word) => word.toLowerCase().includes(wanted));
  }

  function head() {
    const line = element("div", "row head");
    line.append(element("span", "label", "Item"));
    for (const factor of factors) {
      const name = element("span", "column", factor.shown);
      name.title = factor.shown;
      line.append(name);
    }
    line.append(element("span", "column more", ""));
    return line;
  }

  function buttons() {
    return [...scroller.querySelectorAll("button.cell, button.more")];
  }

  function draw() {
    const top = scroller.scrollTop;
    root.style.setProperty("--columns", factors.length);
    root.style.setProperty("--height", `${data.height}px`);
    root.classList.toggle("many", factors.length > 4);
    const sections = factors.map((factor) => {
      const all = data.items.filter((item) => homeOf(item, factors) === factor.name);
      return group(factor.name, factor.shown, all.filter(matches), all.length);
    });
    const out = data.items.filter((item) => !item.factors.length);
    if (out.length) sections.push(group("", "Not in the model", out.filter(matches), out.length));
    scroller.replaceChildren(head(), ...sections);
    scroller.scrollTop = top;
    const all = buttons();
    const focused = memory.focus
      ? all.find((b) => b.dataset.item === memory.focus[0] && b.dataset.factor === memory.focus[1])
      : null;
    if (focused) {
      focused.tabIndex = 0;
      if (memory.held) {
        focused.focus({ preventScroll: true });
        focused.scrollIntoView({ block: "nearest" });
      }
    } else if (all.length) all[0].tabIndex = 0;
    drawPairs();
  }

  function option(value, text) {
    const made = element("option", "", text);
    made.value = value;
    return made;
  }

  function drawPairs() {
    const list = part("pairs");
    list.replaceChildren();
    for (const [first, second] of data.pairs) {
      const line = element("li", "pair");
      const remove = element("button", "remove", "×");
      remove.type = "button";
      remove.title = `Remove the correlation of ${code[first]} and ${code[second]}`;
      remove.setAttribute("aria-label", remove.title);
      remove.onclick = () => send("separate", first, "", second);
      line.append(element("span", "", `${code[first]} with ${code[second]}`), remove);
      list.append(line);
    }
    part("n_pairs").textContent = data.pairs.length ? ` (${data.pairs.length})` : "";
    for (const name of ["first", "second"]) {
      const chooser = part(name);
      const chosen = chooser.value;
      const items = data.items.filter((item) => item.factors.length);
      chooser.replaceChildren(option("", "Item"), ...items.map((i) => option(i.name, i.code)));
      chooser.value = items.some((item) => item.name === chosen) ? chosen : "";
      chooser.onchange = allowPair;
    }
    allowPair();
  }

  function allowPair() {
    const [first, second] = [part("first").value, part("second").value];
    part("correlate").disabled = !first || !second || first === second;
  }

  part("correlate").onclick = () => send("correlate", part("first").value, "", part("second").value);
  part("filter").oninput = (event) => {
    memory.filter = event.target.value;
    draw();
  };
  part("filter").value = memory.filter;

  const newName = part("new_factor");
  part("create").onsubmit = (event) => {
    event.preventDefault();
    const name = newName.value.trim();
    const taken = factors.some((one) => one.name === name) || data.items.some((i) => i.name === name);
    if (!/^\p{L}[\p{L}\p{N}_.]*$/u.test(name) || taken) {
      part("hint").textContent = taken
        ? "This name is taken. Choose another name."
        : "Begin with a letter; go on with letters, digits, dots and underscores.";
      return;
    }
    part("hint").textContent = `Press the column ${name} at an item.`;
    memory.added.push(name);
    newName.value = "";
    factors.push({ name, shown: name, general: false });
    shownFactor[name] = name;
    draw();
  };

  if (memory.listening) memory.listening.abort();
  memory.listening = new AbortController();
  const { signal } = memory.listening;
  scroller.addEventListener("focusin", (event) => {
    memory.held = true;
    const { item, factor } = event.target.dataset;
    if (item !== undefined) {
      buttons().forEach((button) => (button.tabIndex = -1));
      event.target.tabIndex = 0;
      memory.focus = [item, factor];
    }
  }, { signal });
  scroller.addEventListener("focusout", (event) => {
    // A button that is drawn anew loses the focus without another element getting it.
    if (event.relatedTarget) memory.held = scroller.contains(event.relatedTarget);
  }, { signal });
  scroller.onkeydown = (event) => {
    const here = event.target;
    if (here.dataset.item === undefined) return;
    const rows = [...scroller.querySelectorAll(".row:not(.head)")];
    const line = rows.indexOf(here.closest(".row"));
    const inRow = [...here.closest(".row").querySelectorAll("button")];
    const column = inRow.indexOf(here);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    let next = null;
    if (event.key in steps) {
      const place = Math.min(Math.max(line + steps[event.key], 0), rows.length - 1);
      next = rows[place].querySelectorAll("button")[column];
    } else if (event.key === "ArrowRight") next = inRow[column + 1];
    else if (event.key === "ArrowLeft") next = inRow[column - 1];
    else if (event.key === "Home") next = inRow[0];
    else if (event.key === "End") next = inRow[inRow.length - 1];
    else if (event.key === "+" && here.dataset.factor) {
      const item = data.items.find((one) => one.name === here.dataset.item);
      if (item && !item.factors.includes(here.dataset.factor)) press(item, here.dataset.factor, true);
    } else return;
    event.preventDefault();
    if (next) next.focus();
  };

  part("said").textContent = data.said;
  root.removeAttribute("aria-busy");
  draw();
}
