"use strict";
(() => {
  const root = document.documentElement;
  const one = (id) => document.getElementById(id);
  const entries = [...document.querySelectorAll(".entry")];
  const rows = [...document.querySelectorAll(".entry-row")];
  const inputs = ["search", "filter-severity", "filter-capability", "filter-option", "filter-acted"]
    .map(one).filter(Boolean);
  document.querySelectorAll(".js-only").forEach((node) => { node.hidden = false; });

  const value = (id) => (one(id) ? one(id).value : "");
  const texts = new Map(entries.map((node) => [node, node.textContent.toLowerCase()]));
  function matches(node) {
    const data = node.dataset;
    const capability = value("filter-capability");
    return (!value("filter-severity") || data.severity === value("filter-severity"))
      && (!capability || data.capabilities.split(" ").includes(capability))
      && (!value("filter-option") || data.option === value("filter-option"))
      && (!value("filter-acted") || data.acted === value("filter-acted"))
      && value("search").toLowerCase().split(/\s+/).every((word) => texts.get(node).includes(word));
  }
  function apply() {
    let shown = 0;
    entries.forEach((node) => { node.hidden = !matches(node); shown += node.hidden ? 0 : 1; });
    const capability = value("filter-capability");
    rows.forEach((row) => {
      row.hidden = Boolean(capability) && row.dataset.capabilities !== capability;
    });
    // A group none of whose rows is shown says nothing.
    document.querySelectorAll("details.families").forEach((group) => {
      const own = [...group.querySelectorAll(".entry, .entry-row")];
      group.hidden = own.length > 0 && own.every((row) => row.hidden);
    });
    if (one("shown")) one("shown").textContent = `${shown} of ${entries.length} shown`;
  }
  function reset() {
    inputs.forEach((input) => { input.value = ""; });
    apply();
  }
  inputs.forEach((input) => input.addEventListener("input", apply));
  if (one("reset")) one("reset").addEventListener("click", reset);
  apply();

  // The pictures have filters of their own: what does not concern the choice steps back.
  const groups = [...document.querySelectorAll("details.paths")];
  const pathInputs = ["path-capability", "path-family", "path-quantization"].map(one).filter(Boolean);
  function applyPaths() {
    const [capability, family, token] = ["path-capability", "path-family", "path-quantization"].map(value);
    let shown = 0;
    groups.forEach((group) => {
      const items = [...group.querySelectorAll(".path")];
      items.forEach((item) => {
        const parts = [...item.querySelectorAll("[data-groups]")];
        const has = (node) => !token || node.dataset.groups.split(" ").includes(token);
        parts.forEach((node) => node.classList.toggle("off", !has(node)));
        item.hidden = (Boolean(capability) && !item.dataset.capabilities.split(" ").includes(capability))
          || (parts.length > 0 && !parts.some(has));
      });
      group.hidden = (Boolean(family) && group.dataset.family !== family) || items.every((item) => item.hidden);
      shown += group.hidden ? 0 : 1;
    });
    if (one("paths-shown")) one("paths-shown").textContent = `${shown} of ${groups.length} options shown`;
  }
  function resetPaths() {
    pathInputs.forEach((input) => { input.value = ""; });
    applyPaths();
  }
  pathInputs.forEach((input) => input.addEventListener("input", applyPaths));
  applyPaths();

  // A deep link must reach its target even where a filter or a closed part hides it.
  function reveal() {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = id && one(id);
    if (!target) return;
    if (target.hidden) reset();
    if (target.closest(".paths")) resetPaths();
    for (let node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    target.scrollIntoView();
    if (target.matches(".entry")) target.focus({ preventScroll: true });
  }
  addEventListener("hashchange", reveal);
  reveal();

  const themes = { "": ["◐", "follow the system"], light: ["☀", "light"], dark: ["☾", "dark"] };
  function setTheme(name) {
    if (name) root.dataset.theme = name; else delete root.dataset.theme;
    one("theme").textContent = themes[name][0];
    one("theme").setAttribute("aria-label", `Colour theme: ${themes[name][1]}`);
    try { localStorage.setItem("sgl-audit-theme", name); } catch { /* storage is switched off */ }
  }
  function nextTheme() {
    const names = Object.keys(themes);
    setTheme(names[(names.indexOf(root.dataset.theme || "") + 1) % names.length]);
  }
  let stored = "";
  try { stored = localStorage.getItem("sgl-audit-theme") || ""; } catch { /* likewise */ }
  setTheme(stored in themes ? stored : "");
  one("theme").addEventListener("click", nextTheme);

  // Paper has no triangles to click: print everything, then fold as before.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((node) => { node.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((node) => { node.open = false; }));

  const help = () => (one("help").open ? one("help").close() : one("help").showModal());
  one("help-button").addEventListener("click", help);

  document.querySelectorAll("[data-copy]").forEach((button) => {
    const label = button.firstChild;
    button.addEventListener("click", async () => {
      const source = one(button.dataset.copy);
      getSelection().selectAllChildren(source);
      try {
        await navigator.clipboard.writeText(source.textContent);
        label.data = "Copied";
      } catch {
        label.data = "Selected";
      }
      setTimeout(() => { label.data = "Copy"; }, 1500);
    });
  });

  function step(by) {
    const visible = entries.filter((node) => !node.hidden);
    const here = visible.findIndex((node) => node.contains(document.activeElement));
    const next = visible[Math.min(visible.length - 1, Math.max(0, here + (here < 0 && by < 0 ? 1 : by)))];
    if (!next) return;
    const target = next.matches("details") ? next.querySelector("summary") : next;
    target.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  function toggle() {
    const entry = document.activeElement && document.activeElement.closest(".entry");
    const part = entry && (entry.matches("details") ? entry : entry.querySelector("details"));
    if (part) part.open = !part.open;
  }
  function moveInMatrix(event) {
    const cell = document.activeElement && document.activeElement.closest(".matrix td");
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!cell || !by || cell.closest(".why")) return;
    const lines = [...cell.closest("tbody").querySelectorAll("tr:not(.why)")];
    const line = lines[lines.indexOf(cell.parentElement) + by[0]];
    // A cell may reach over several columns: up and down go to the one above or below its middle.
    const reach = (row) => [...row.children].flatMap((one) => Array(one.colSpan).fill(one));
    const middle = (found) => Math.floor((found.indexOf(cell) + found.lastIndexOf(cell)) / 2);
    const next = line && (by[1] ? line.children[cell.cellIndex + by[1]]
      : reach(line)[middle(reach(cell.parentElement))]);
    const anchor = next && next.querySelector("a");
    if (anchor) { event.preventDefault(); anchor.focus(); }
  }
  const keys = { j: () => step(1), k: () => step(-1), o: toggle, t: nextTheme, "?": help };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    moveInMatrix(event);
    const typing = event.target.closest && event.target.closest("input, select, textarea, dialog");
    if (event.key === "Escape" && !event.target.closest("dialog")) { reset(); event.target.blur(); }
    if (typing) return;
    if (event.key === "/" && one("search")) { event.preventDefault(); one("search").focus(); }
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
})();
