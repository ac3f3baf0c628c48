// What is chosen on the board: filters, search, order, groups, page. All of it stands in
// the part of the address after #, so that a link can be sent.
const boardState = (() => {
  const plain = { q: "", sort: "", group: "", page: 1, size: 50, row: "" };

  // facets are what rows can be filtered and grouped by: a value for each row, "" none.
  function facets(b) {
    const text = (name) => (row) => b.text(name)(row) ?? "";
    const in_order = (list) => (x, y) => list.indexOf(x.value) - list.indexOf(y.value);
    const list = [
      { name: "cause", of: b.cause },
      { name: "class", of: text("class"), order: in_order(b.classes) },
      { name: "reason", of: text("reason") },
      { name: "queue", of: text("queue"), order: in_order(b.queues) },
      { name: "currency", of: text("currency") },
      { name: "type", of: text("type") },
      { name: "account", of: b.account },
      { name: "owner", of: text("owner") },
      { name: "age", of: text("bucket"), order: in_order(b.buckets) },
      { name: "risk", of: text("risk") },
      { name: "entity", of: text("entity"), wide: true },
    ];
    for (const f of list) {
      f.at = new Map();
      f.values = [];
      f.index = new Int32Array(b.rows);
      for (let row = 0; row < b.rows; row++) {
        const value = f.of(row);
        let at = f.at.get(value);
        if (at === undefined) {
          at = f.values.push({ value, rows: 0 }) - 1;
          f.at.set(value, at);
        }
        f.index[row] = at;
        f.values[at].rows++;
      }
      f.sorted = f.values.slice().sort(f.order || ((x, y) => y.rows - x.rows || (x.value < y.value ? -1 : 1)));
    }
    return list;
  }

  // sorts are the orders: each compares two rows, rows without a value come last.
  function sorts(b) {
    const last = (x, y, compare) => (x === null ? (y === null ? 0 : 2) : y === null ? -2 : compare(x, y));
    const plainly = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
    const by = (of, compare = plainly) => (x, y) => last(of(x), of(y), compare);
    const text = (name) => by((row) => b.text(name)(row));
    const number = (name) => by(b.number(name));
    // Amounts of different currencies do not compare: each currency has its own order.
    const money = (of) => (x, y) => {
      const c = last(b.text("currency")(x), b.text("currency")(y), plainly);
      return c ? Math.sign(c) * 2 : last(of(x), of(y), plainly);
    };
    const then = (...list) => (x, y) => {
      for (const f of list) {
        const c = f(x, y);
        if (c) return c;
      }
      return 0;
    };
    const place = (side) => then(by((row) => b.file(side, row)?.name ?? null), number(side + "_record"));
    return {
      verdict: { label: "verdict", compare: then(by((row) => b.classes.indexOf(b.text("class")(row))), text("reason"), text("differs")) },
      entity: { label: "entity", compare: by((row) => boardRow.name(b, row) || null) },
      age: { label: "age", compare: number("age") },
      amount: { label: "amount", compare: money((row) => { const x = b.amount(row); return x === null ? null : b.money.read(x); }) },
      difference: { label: "difference", compare: money((row) => b.money.read(b.text("difference")(row))) },
      differs: { label: "what differs", compare: text("differs") },
      action: { label: "recommended action", compare: then(by((row) => { const at = b.queues.indexOf(b.text("queue")(row)); return at < 0 ? null : at; }), text("owner")) },
      risk: { label: "duplication risk", compare: text("risk") },
      evidence: { label: "evidence", compare: then(place("operation"), place("result")) },
      due: { label: "due", compare: text("due") },
      type: { label: "type", compare: text("type") },
      currency: { label: "currency", compare: text("currency") },
      version: { label: "version", compare: text("version") },
      destination: { label: "destination", compare: text("destination") },
      owner: { label: "owner", compare: text("owner") },
      case: { label: "case", compare: text("case_id") },
      item: { label: "item", compare: text("item_id") },
    };
  }

  function create(b) {
    const list = facets(b), orders = sorts(b);
    let haystack = null;

    // read takes the state out of the address; false: the address is of something else.
    function read(hash) {
      const text = hash.replace(/^#/, "");
      if (!text.includes("=")) return null;
      const p = new URLSearchParams(text), s = { ...plain, filters: {} };
      for (const f of list) if (p.has(f.name)) s.filters[f.name] = p.get(f.name);
      s.q = p.get("q") ?? "";
      s.row = p.get("row") ?? "";
      const key = (p.get("sort") ?? "").replace(/^-/, "");
      if (orders[key]) s.sort = p.get("sort");
      if (list.some((f) => f.name === p.get("group"))) s.group = p.get("group");
      s.page = Math.max(1, parseInt(p.get("page"), 10) || 1);
      if (["25", "50", "100", "250"].includes(p.get("size"))) s.size = Number(p.get("size"));
      return s;
    }

    function write(s) {
      const p = new URLSearchParams();
      for (const f of list) if (f.name in s.filters) p.set(f.name, s.filters[f.name]);
      for (const name of Object.keys(plain)) if (s[name] !== plain[name]) p.set(name, s[name]);
      const text = p.toString();
      return text ? "#" + text : "";
    }

    // searched is all that a row says, in small letters.
    function searched() {
      if (haystack) return haystack;
      const columns = Object.values(b.columns).filter((c) => c.text);
      haystack = new Array(b.rows);
      for (let row = 0; row < b.rows; row++) {
        const parts = [];
        for (const c of columns) {
          const x = c.text(row);
          if (x !== null && x !== parts[parts.length - 1]) parts.push(x);
        }
        for (const side of ["operation", "result"]) {
          const f = b.file(side, row);
          if (f) parts.push(f.name + " record " + b.number(side + "_record")(row));
        }
        haystack[row] = parts.join("\n").toLowerCase();
      }
      return haystack;
    }

    // rows lists the rows that fit, in their order.
    function rows(s) {
      const wanted = [];
      for (const f of list) {
        if (!(f.name in s.filters)) continue;
        const at = f.at.get(s.filters[f.name]);
        if (at === undefined) return [];
        wanted.push([f.index, at]);
      }
      const words = s.q.toLowerCase().split(/\s+/).filter(Boolean);
      const hay = words.length ? searched() : null;
      let out = [];
      for (let row = 0; row < b.rows; row++) {
        if (wanted.every(([index, at]) => index[row] === at) && words.every((w) => hay[row].includes(w))) out.push(row);
      }
      if (s.sort) {
        const down = s.sort.startsWith("-"), compare = orders[s.sort.replace(/^-/, "")].compare;
        // ±2 is an order that does not turn: nothing known last, currencies apart.
        out.sort((x, y) => {
          const c = compare(x, y);
          return (down && Math.abs(c) < 2 ? -c : c) || x - y;
        });
      }
      return out;
    }

    // groups adds up rows by a facet, the group with most rows first.
    function groups(found, name) {
      const f = list.find((x) => x.name === name), byValue = new Map();
      const currency = b.text("currency"), difference = b.text("difference");
      for (const row of found) {
        const at = f.index[row];
        let g = byValue.get(at);
        if (!g) byValue.set(at, (g = { value: f.values[at].value, rows: 0, amounts: new Map(), differences: new Map() }));
        g.rows++;
        const c = currency(row) ?? "";
        for (const [to, n] of [[g.amounts, b.larger(row)], [g.differences, b.money.read(difference(row))]]) {
          if (n !== null) to.set(c, (to.get(c) ?? 0n) + n);
        }
      }
      return [...byValue.values()].sort((x, y) => y.rows - x.rows || (x.value < y.value ? -1 : 1));
    }

    return { facets: list, orders, read, write, rows, groups, start: () => ({ ...plain, filters: {} }) };
  }

  return { create };
})();
