// How a row of the board is drawn, and what it tells when it is opened.
const boardRow = (() => {
  // el makes an element. What children say is text; nothing is ever read as markup.
  function el(name, attributes, ...children) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes || {})) {
      if (v === false || v === null || v === undefined) continue;
      if (k === "on") for (const [event, f] of Object.entries(v)) e.addEventListener(event, f);
      else e.setAttribute(k, v === true ? "" : v);
    }
    for (const c of children.flat(Infinity)) if (c !== null && c !== undefined && c !== "") e.append(c);
    return e;
  }
  const bdi = (text) => el("bdi", null, text);
  // soft lets a name break after the marks that part its words.
  const soft = (text) => text.split(/(?<=[_.-])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
  const sub = (...parts) => el("span", { class: "sub" }, ...parts);
  const money = (x) => (x === null || x === undefined ? "" : boardData.grouped(x));
  // said is a value of a side, as the page says it everywhere.
  const said = (x) => (x === null ? "nothing" : x === "" ? "an empty text" : x);

  // both are the values of a field on both sides.
  const both = (b, f, row) => [f.operations ? b.text(f.operations)(row) : null, f.results ? b.text(f.results)(row) : null];
  const differing = (b, row) => (b.text("differs")(row) ?? "").split(";").filter(Boolean);

  function name(b, row) {
    const id = b.text("entity")(row);
    if (id) return id;
    for (const want of ["operation_id", "idempotency_key", "remote_id"]) {
      const f = b.fields.find((x) => x.name === want);
      const found = f && both(b, f, row).find((x) => x);
      if (found) return found;
    }
    return "";
  }

  const sides = [["operation", "operations"], ["result", "results"]];

  function evidence(b, row) {
    return sides.filter(([side]) => b.file(side, row)).map(([side, label]) =>
      el("div", null, sub(label), el("bdi", null, soft(b.file(side, row).name)), " record " + b.number(side + "_record")(row)));
  }

  function action(b, row) {
    const t = (n) => b.text(n)(row), out = [];
    out.push(t("queue") ?? "none"); // what is deferred or only observed is no proposal for now
    if (t("business_operation")) out.push(sub(bdi(t("business_operation"))));
    if (b.number("deferred")(row)) out.push(sub("deferred"));
    if (b.number("observe_only")(row)) out.push(sub("observation only"));
    if (t("owner")) out.push(sub("owner ", bdi(t("owner"))));
    if (t("destination")) out.push(sub("to ", bdi(t("destination"))));
    return out;
  }

  // cells are the columns of the table; sort names the order that its heading chooses.
  const cells = [
    { label: "verdict", sort: "verdict", head: true, of: (b, row) => [b.text("class")(row) + "/", el("wbr"), ...soft(b.text("reason")(row)),
      b.number("set")(row) !== null ? sub("set " + b.number("set")(row)) : null,
      b.number("candidates")(row) !== null ? sub(b.number("candidates")(row) + (b.number("candidates")(row) === 1 ? " candidate" : " candidates")) : null] },
    { label: "entity", sort: "entity", class: "data", of: (b, row) => [bdi(name(b, row)), b.text("type")(row) ? sub(bdi(b.text("type")(row))) : null,
      b.text("version")(row) ? sub("version ", bdi(b.text("version")(row))) : null] },
    { label: "age", sort: "age", class: "when", of: (b, row) => {
      const secs = b.number("age")(row);
      return [secs === null ? b.text("bucket")(row) ?? "" : boardData.age(secs), b.text("due")(row) ? sub("due " + b.text("due")(row)) : null];
    } },
    { label: "amount", sort: "amount", class: "n", of: (b, row) => [money(b.amount(row)), sub(b.text("currency")(row) ?? "")] },
    { label: "difference", sort: "difference", class: "n", of: (b, row) => [money(b.text("difference")(row))] },
    { label: "what differs", sort: "differs", class: "data", of: (b, row) => {
      const out = [], names = differing(b, row);
      for (const f of b.fields.filter((x) => names.includes(x.name))) {
        const [o, r] = both(b, f, row);
        out.push(el("div", null, sub(f.name), bdi(said(o)), " → ", bdi(said(r))));
      }
      return out;
    } },
    { label: "recommended action", sort: "action", class: "act", of: action },
    { label: "duplication risk", sort: "risk", class: "risk", of: (b, row) => [b.text("risk")(row) ?? ""] },
    { label: "evidence", sort: "evidence", class: "data", of: evidence },
  ];

  // explain is the command that explains a row; "" where no id of it is plain.
  function explain(b, row) {
    const plain = /^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,79}$/;
    for (const want of b.explain_by) {
      const f = b.fields.find((x) => x.name === want);
      const id = f && both(b, f, row).find((x) => x);
      if (id && plain.test(id)) return b.explain + " " + id;
    }
    for (const [side] of sides) {
      const f = b.file(side, row), at = f && f.name + ":" + b.number(side + "_record")(row);
      if (at && plain.test(at)) return b.explain + " " + at;
    }
    return "";
  }

  async function copy(text, from, say) {
    try {
      await navigator.clipboard.writeText(text);
      say("copied");
    } catch {
      // Not every browser lets a page from a disk copy: then it is only marked.
      const s = getSelection();
      s.removeAllRanges();
      const r = document.createRange();
      r.selectNodeContents(from);
      s.addRange(r);
      say("marked, copy it");
    }
  }

  // anchor is the row of the sources that tells of a file; undefined where the page lists
  // only some of them.
  let anchors = null;
  function anchor(label, f) {
    if (!anchors) {
      anchors = new Map();
      for (const tr of document.querySelectorAll('tr[id^="file-"]')) {
        const key = tr.id.split("-")[1] + "\n" + tr.cells[0].textContent + "\n" + tr.querySelector("bdi").textContent;
        if (!anchors.has(key)) anchors.set(key, tr.id);
      }
    }
    return anchors.get(label + "\n" + f.source + "\n" + f.name);
  }

  // detail is all that is known of a row.
  function detail(b, row) {
    const t = (n) => b.text(n)(row), n = (x) => b.number(x)(row);
    const facts = el("dl");
    const fact = (label, ...value) => {
      if (value.some((x) => x !== null && x !== "")) facts.append(el("dt", null, label), el("dd", null, ...value));
    };
    fact("case", t("case_id") === null ? null : el("a", { href: "#" + new URLSearchParams({ row: b.keys[row] }) }, t("case_id")));
    fact("item", t("item_id"));
    fact("recommended action", t("queue") ?? "none: nothing is proposed", t("business_operation") ? [", ", bdi(t("business_operation"))] : "");
    fact("because", t("because") === null ? null : bdi(t("because")));
    fact("advice", t("advice") === null ? null : bdi(t("advice")));
    fact("checks refused", (t("refused") ?? "").replaceAll(";", ", "));
    fact("duplication risk", t("risk"));
    fact("owner", t("owner") === null ? null : bdi(t("owner")));
    fact("approvals", n("approvals") === null ? null : String(n("approvals")));
    fact("due", t("due"));
    fact("age", n("age") === null ? (t("bucket") ?? "unknown") : boardData.age(n("age")));
    fact("type", t("type") === null ? null : bdi(t("type")));
    fact("version", t("version") === null ? null : bdi(t("version")));
    fact("destination", t("destination") === null ? null : bdi(t("destination")));
    fact("linked by", t("pass") === null ? null : bdi(t("pass")));

    const names = differing(b, row), body = el("tbody");
    for (const f of b.fields) {
      const [o, r] = both(b, f, row), differs = names.includes(f.name);
      if (o === null && r === null && !differs) continue;
      body.append(el("tr", differs ? { class: "differs" } : null, el("th", { scope: "row" }, f.name), el("td", { class: "data" }, bdi(said(o))),
        el("td", { class: "data" }, bdi(said(r))), el("td", null, differs ? "differs" : "")));
    }
    const head = (...list) => el("thead", null, el("tr", null, list.map((x) => el("th", { scope: "col" }, x))));
    const values = el("table", null, el("caption", null, "Both values of every field"), head("field", "operations", "results", "compared"), body);

    const rows = sides.filter(([side]) => b.file(side, row)).map(([side, label]) => {
      const f = b.file(side, row), at = anchor(label, f);
      return el("tr", null, el("th", { scope: "row" }, label), el("td", null, t(side + "_verdict")), el("td", { class: "data" }, bdi(f.source)), el("td", { class: "data" }, at ? el("a", { href: "#" + at }, bdi(f.name)) : bdi(f.name)),
        el("td", { class: "n" }, String(n(side + "_record"))), el("td", { class: "digest" }, f.sha256));
    });
    const where = el("table", null, el("caption", null, "Where the rows stand"), head("side", "verdict", "source", "file", "record", "sha256 of the file"), el("tbody", null, rows));

    const out = [el("div", { class: "facts" }, facts), el("div", { class: "scroll" }, values), el("div", { class: "scroll" }, where)];
    for (const s of out.slice(1)) {
      s.setAttribute("tabindex", "0");
      s.setAttribute("role", "region");
      s.setAttribute("aria-label", s.querySelector("caption").textContent + ", row " + (row + 1) + (name(b, row) ? ", " + name(b, row) : ""));
    }
    const command = explain(b, row);
    if (command) {
      const code = el("code", null, command), told = el("span", { class: "mute", role: "status" });
      out.push(el("p", { class: "explain" }, "why: ", code, " ", el("button", { type: "button", on: { click: () => copy(command, code, (x) => { told.textContent = x; }) } }, "copy"), " ", told));
    }
    return out;
  }

  return { el, bdi, sub, money, name, cells, detail };
})();
