// The board itself: its controls, its table, its groups, and what the keyboard does.
(() => {
  const place = document.getElementById("board"), plain = document.getElementById("board-plain"), source = document.getElementById("board-data");
  if (!place || !plain || !source) return;
  const { el, bdi, sub, money, name, cells, detail } = boardRow;
  const printed = 1000, groupsShown = 200, choices = 1000;
  const count = (n) => boardData.grouped(String(n));

  function build(b) {
    const model = boardState.create(b);
    let state = model.read(location.hash) || model.start();
    let found = [], page = [], printing = false;
    const open = new Set();

    // The controls.
    const option = (value, text, chosen) => el("option", { value, selected: chosen }, text);
    const search = el("input", { type: "search", id: "board-q", autocomplete: "off", spellcheck: "false" });
    const selects = {};
    const filters = el("div", { class: "filters" });
    for (const f of model.facets) {
      if (f.wide) continue;
      const s = el("select", { id: "board-f-" + f.name }, option("*", "any"),
        f.sorted.slice(0, choices).map((v) => option("=" + v.value, (v.value || "none") + " (" + count(v.rows) + ")")));
      s.addEventListener("change", () => set({ filters: choose(f.name, s.value === "*" ? null : s.value.slice(1)) }));
      selects[f.name] = s;
      filters.append(el("label", { for: s.id }, el("span", null, f.name === "risk" ? "duplication risk" : f.name === "queue" ? "recommended action" : f.name), s));
    }
    const more = el("details", { class: "more-filters" }, el("summary", null, "Filters"), filters);
    more.open = matchMedia("(min-width: 60rem)").matches;
    const sorted = el("select", { id: "board-sort" }, option("", "money, largest first"),
      Object.entries(model.orders).map(([key, o]) => [option(key, o.label + ", rising"), option("-" + key, o.label + ", falling")]));
    const grouping = el("select", { id: "board-group" }, option("", "nothing"), model.facets.map((f) => option(f.name, f.name)));
    const size = el("select", { id: "board-size" }, [25, 50, 100, 250].map((n) => option(String(n), String(n))));
    const clear = el("button", { type: "button", on: { click: () => { set({ ...model.start(), size: state.size }); search.focus(); } } }, "clear");
    const status = el("p", { id: "board-status", role: "status" });
    const chosen = el("p", { class: "mute chosen" });
    const label = (text, control) => el("label", { for: control.id }, el("span", null, text), control);
    const controls = el("div", { class: "controls", role: "search", "aria-label": "Choose exceptions" },
      el("div", { class: "filters" }, label("search", search), label("sort by", sorted), label("group by", grouping), label("rows a page", size), clear), more);

    // The table.
    const buttons = {};
    const heads = cells.map((c) => {
      const button = el("button", { type: "button", class: "sort", on: { click: () => set({ sort: state.sort === c.sort ? "-" + c.sort : c.sort }) } }, c.label);
      return (buttons[c.sort] = el("th", { scope: "col", class: c.class === "n" ? "n" : null }, button));
    });
    const body = el("tbody");
    const table = el("table", { class: "board" }, el("caption", null, el("span", { class: "cap" }, "Rows that need work. Amounts are the larger of both sides; the difference is results − operations.")),
      el("thead", null, el("tr", null, el("th", { scope: "col" }, el("span", { class: "unseen" }, "open")), heads)), body);
    const region = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Exceptions row by row" }, table);
    const turn = (label, to) => el("button", { type: "button", on: { click: () => set({ page: to() }, true) } }, label);
    const pages = () => Math.max(1, Math.ceil(found.length / state.size));
    const turns = { first: turn("first", () => 1), before: turn("previous", () => state.page - 1), next: turn("next", () => state.page + 1), last: turn("last", pages) };
    const where = el("span");
    const pager = el("nav", { class: "pager", "aria-label": "Pages of exceptions" }, turns.first, turns.before, where, turns.next, turns.last);
    const groups = el("div");
    place.append(controls, status, chosen, groups, region, pager);

    const choose = (facet, value) => {
      const out = { ...state.filters };
      if (value === null) delete out[facet];
      else out[facet] = value;
      return out;
    };

    // set changes what is chosen; everything but a turn of the page starts on the first.
    function set(change, keepPage) {
      state = { ...state, page: keepPage ? state.page : 1, ...change };
      if (!keepPage) state.row = "";
      update();
    }

    function address() {
      const text = model.write(state);
      if (text === location.hash || (text === "" && !location.hash.includes("="))) return;
      // No entry in the history for every letter.
      history.replaceState(null, "", text || location.pathname + location.search);
    }

    function update() {
      found = model.rows(state);
      state.page = Math.min(Math.max(1, state.page), pages());
      search.value = state.q;
      for (const f of model.facets) {
        if (!selects[f.name]) continue;
        const value = f.name in state.filters ? "=" + state.filters[f.name] : "*";
        if (![...selects[f.name].options].some((o) => o.value === value)) selects[f.name].append(option(value, state.filters[f.name] || "none"));
        selects[f.name].value = value;
      }
      sorted.value = state.sort;
      grouping.value = state.group;
      size.value = String(state.size);
      for (const [key, th] of Object.entries(buttons)) {
        const now = state.sort.replace(/^-/, "") === key;
        if (now) th.setAttribute("aria-sort", state.sort.startsWith("-") ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      }
      draw();
      drawGroups();
      address();
    }

    function draw() {
      const from = printing ? 0 : (state.page - 1) * state.size;
      page = found.slice(from, from + (printing ? printed : state.size));
      body.replaceChildren(...page.flatMap(drawRow));
      if (!page.length) body.append(el("tr", null, el("td", { colspan: String(cells.length + 1) }, b.rows ? "No row fits." : "No row needs work.")));
      turns.first.disabled = turns.before.disabled = state.page === 1;
      turns.next.disabled = turns.last.disabled = state.page === pages();
      where.textContent = " page " + count(state.page) + " of " + count(pages()) + " ";
      let text = "Showing " + (page.length ? count(from + 1) + " to " + count(from + page.length) + " of " : "0 of ") + count(found.length);
      if (found.length !== b.rows) text += " that fit, of " + count(b.rows);
      if (b.rows < b.of) text += (found.length !== b.rows ? " on this page" : "") + "; " + count(b.of) + " need work in all, the rest is in exceptions.parquet";
      if (status.textContent !== text) status.textContent = text;
      const named = Object.entries(state.filters).map(([k, v]) => k + " is " + (v || "none"));
      if (state.q) named.push("search " + state.q);
      chosen.textContent = named.length ? "Chosen: " + named.join(", ") : "";
    }

    function drawRow(row) {
      const id = "row-" + row, opened = open.has(row), title = name(b, row);
      const button = el("button", { type: "button", class: "open", "aria-expanded": String(opened), "aria-controls": opened ? id : null, "aria-label": "details" + (title ? " of " + title : ""), on: { click: () => toggle(row) } }, "details");
      button.dataset.row = row;
      const tr = el("tr", { class: opened ? "opened" : null }, el("td", null, button), cells.map((c) => el(c.head ? "th" : "td", { scope: c.head ? "row" : null, class: c.class || null }, c.of(b, row))));
      return opened ? [tr, drawDetail(row, id)] : [tr];
    }

    function drawDetail(row, id) {
      return el("tr", { id, class: "detail" }, el("td", { colspan: String(cells.length + 1) }, el("div", { class: "inside" }, detail(b, row))));
    }

    const buttonOf = (row) => body.querySelector('button.open[data-row="' + row + '"]');

    function toggle(row) {
      const button = buttonOf(row), tr = button.closest("tr"), id = "row-" + row;
      if (open.delete(row)) {
        document.getElementById(id).remove();
        button.removeAttribute("aria-controls");
        if (state.row === b.keys[row]) state.row = "";
      } else {
        open.add(row);
        tr.after(drawDetail(row, id));
        button.setAttribute("aria-controls", id);
        state.row = b.keys[row];
      }
      button.setAttribute("aria-expanded", String(open.has(row)));
      tr.className = open.has(row) ? "opened" : "";
      address();
    }

    function drawGroups() {
      if (!state.group) {
        groups.replaceChildren();
        return;
      }
      const f = model.facets.find((x) => x.name === state.group), list = model.groups(found, state.group);
      const sums = (m) => [...m].sort((x, y) => (x[0] < y[0] ? -1 : 1)).map(([c, n]) => el("span", { class: "sub amount" }, (c ? c + " " : "") + money(trim(c, n))));
      const trs = list.slice(0, groupsShown).map((g) => {
        const label = g.value || "none";
        return el("tr", null, el("th", { scope: "row", class: "data" }, bdi(label)), el("td", { class: "n" }, count(g.rows)), el("td", { class: "n" }, sums(g.amounts)), el("td", { class: "n" }, sums(g.differences)),
          el("td", null, el("button", { type: "button", "aria-label": "show only " + label, on: { click: () => { set({ filters: choose(f.name, g.value), group: "" }); grouping.focus(); } } }, "show only")));
      });
      const text = "By " + f.name + ": " + (list.length > trs.length ? "the first " + count(trs.length) + " of " : "") + count(list.length) + (list.length === 1 ? " group" : " groups") + (b.rows < b.of ? ", of the rows on this page" : "") + ".";
      const head = (text, n) => el("th", { scope: "col", class: n ? "n" : null }, text);
      groups.replaceChildren(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Exceptions in groups" }, el("table", { class: "groups" },
        el("caption", null, el("span", { class: "cap" }, text)),
        el("thead", null, el("tr", null, head(f.name), head("rows", true), head("amount", true), head("difference", true), el("th", { scope: "col" }, el("span", { class: "unseen" }, "choose")))), el("tbody", null, trs))));
    }

    // trim takes the zeros at the end of a sum away, but those that every amount of its
    // currency has.
    const digits = new Map();
    for (let row = 0; row < b.rows; row++) {
      const c = b.text("currency")(row) ?? "";
      for (const x of ["operation_amount", "result_amount", "difference"]) {
        const text = b.text(x)(row);
        if (text !== null) digits.set(c, Math.min(digits.get(c) ?? Infinity, (text.split(".")[1] || "").length));
      }
    }
    function trim(c, n) {
      const [head, tail = ""] = b.money.print(n).split("."), keep = digits.get(c) ?? 0;
      const rest = tail.slice(0, keep) + tail.slice(keep).replace(/0+$/, "");
      return rest ? head + "." + rest : head;
    }

    // go opens the row of a link, and looks for it without filters where they hide it.
    function go() {
      const row = b.rowOf.get(state.row);
      if (row === undefined) return;
      if (!found.includes(row)) {
        state = { ...model.start(), row: state.row, size: state.size };
        found = model.rows(state);
      }
      open.add(row);
      state.page = Math.floor(found.indexOf(row) / state.size) + 1;
      update();
      const button = buttonOf(row);
      button.closest("tr").scrollIntoView({ block: "start" });
      button.focus({ preventScroll: true });
    }

    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => set({ q: search.value }), 150);
    });
    sorted.addEventListener("change", () => set({ sort: sorted.value }));
    grouping.addEventListener("change", () => set({ group: grouping.value }, true));
    size.addEventListener("change", () => set({ size: Number(size.value) }));

    // Arrows go from row to row, Home and End to the ends, Page up and down turn the page,
    // Escape closes the row.
    body.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      if (e.key === "Escape") {
        const row = e.target.closest("tr.detail") ? Number(e.target.closest("tr.detail").id.slice(4)) : Number(e.target.dataset.row);
        if (open.has(row)) {
          toggle(row);
          buttonOf(row).focus();
        }
        return;
      }
      if (!e.target.matches("button.open")) return;
      const list = [...body.querySelectorAll("button.open")], at = list.indexOf(e.target);
      let to = null;
      if (e.key === "ArrowDown") to = list[at + 1];
      else if (e.key === "ArrowUp") to = list[at - 1];
      else if (e.key === "Home") to = list[0];
      else if (e.key === "End") to = list[list.length - 1];
      else if (e.key === "PageDown" || e.key === "PageUp") {
        const next = state.page + (e.key === "PageDown" ? 1 : -1);
        if (next >= 1 && next <= pages()) {
          set({ page: next }, true);
          to = body.querySelector("button.open");
        }
      } else return;
      e.preventDefault();
      if (to) to.focus();
    });

    addEventListener("hashchange", () => {
      const next = model.read(location.hash);
      if (!next) return;
      state = next;
      update();
      if (state.row) go();
    });
    // On paper there are no pages to turn: more of what is chosen is printed.
    addEventListener("beforeprint", () => { printing = true; draw(); });
    addEventListener("afterprint", () => { printing = false; draw(); });

    plain.hidden = true;
    place.hidden = false;
    update();
    if (state.row) go();
    place.dataset.ready = "yes";
  }

  boardData.load(source.textContent).then(build).catch((e) => {
    // The first rows stay as a table, and the page says why there are no more.
    place.replaceChildren(el("p", null, "The board cannot be shown in this browser (" + e.message + "). Below are the largest rows."));
    place.hidden = false;
    plain.hidden = false;
    place.dataset.ready = "failed";
  });
})();
