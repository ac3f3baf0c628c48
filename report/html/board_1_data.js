"use strict";
// The rows of the board: columns as board_encode.go writes them, and what is asked of them.
// Values are only ever set as text, never as markup.
const boardData = (() => {
  // parse reads the JSON of the page, compressed or not.
  async function parse(text) {
    const data = JSON.parse(text);
    if (typeof data.deflate !== "string") return data;
    const packed = atob(data.deflate);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  // texts makes a column of texts: different texts once, and the index of each row, -1 none.
  function texts(column, other) {
    const out = { list: [], index: null };
    if (column.i) {
      out.list = column.d;
      out.index = Int32Array.from(column.i);
    } else {
      out.index = new Int32Array(column.v.length);
      column.v.forEach((x, row) => {
        out.index[row] = x === null ? -1 : x === 0 ? -2 : out.list.push(x) - 1;
      });
    }
    const same = new Map(); // what is as the operation has it
    for (let row = 0; row < out.index.length; row++) {
      if (out.index[row] !== -2) continue;
      const at = other.index[row];
      if (!same.has(at)) same.set(at, out.list.push(other.list[at]) - 1);
      out.index[row] = same.get(at);
    }
    out.text = (row) => (out.index[row] < 0 ? null : out.list[out.index[row]]);
    return out;
  }

  // decimals reads exact decimal texts as whole numbers of one scale.
  function decimals(lists) {
    const plain = /^-?[0-9]+(\.[0-9]+)?$/;
    let scale = 0;
    for (const list of lists) {
      for (const x of list) if (plain.test(x)) scale = Math.max(scale, (x.split(".")[1] || "").length);
    }
    const read = (x) => {
      if (x === null || !plain.test(x)) return null;
      const [head, tail = ""] = x.split(".");
      return BigInt(head + tail.padEnd(scale, "0"));
    };
    const print = (n) => {
      const digits = (n < 0n ? -n : n).toString().padStart(scale + 1, "0");
      const cut = digits.length - scale;
      return (n < 0n ? "-" : "") + digits.slice(0, cut) + (scale ? "." + digits.slice(cut) : "");
    };
    return { scale, read, print };
  }

  async function load(text) {
    const data = await parse(text);
    // The rows come in the order of the files; each goes to its place.
    const turn = (list) => {
      const out = list.slice();
      data.columns.place.n.forEach((place, row) => { out[place - 1] = list[row]; });
      return out;
    };
    const columns = {};
    for (const [name, c] of Object.entries(data.columns)) {
      if (c.n) columns[name] = { numbers: turn(c.n) };
      else columns[name] = texts(c.i ? { d: c.d, i: turn(c.i) } : { v: turn(c.v) }, columns["o:" + name.slice(2)]);
    }
    const nothing = () => null; // of what a large page leaves out
    const text_ = (name) => columns[name]?.text ?? nothing;
    const number = (name) => (row) => columns[name].numbers[row];
    const b = { ...data, columns, text: text_, number };
    b.money = decimals([columns.operation_amount.list, columns.result_amount.list, columns.difference.list]);
    const o = text_("operation_amount"), r = text_("result_amount");
    // The amount of a row is the larger of both sides.
    const sizes = [];
    b.larger = (row) => {
      if (sizes[row] === undefined) {
        const x = b.money.read(o(row)), y = b.money.read(r(row)), abs = (n) => (n < 0n ? -n : n);
        sizes[row] = x === null ? (y === null ? null : abs(y)) : y === null || abs(x) >= abs(y) ? abs(x) : abs(y);
      }
      return sizes[row];
    };
    b.amount = (row) => {
      const x = b.money.read(o(row)), abs = (n) => (n < 0n ? -n : n);
      return x !== null && abs(x) === b.larger(row) ? o(row) : b.larger(row) === null ? null : r(row) ?? o(row);
    };
    b.file = (side, row) => {
      const no = number(side + "_file")(row);
      return no === null ? null : data.files[side + "s"][no];
    };
    b.account = (row) => (b.file("result", row) || b.file("operation", row)).account || "default";
    b.cause = (row) => {
      const fields = text_("differs")(row);
      return text_("class")(row) + "/" + text_("reason")(row) + (fields ? ": " + fields.replaceAll(";", ", ") : "");
    };
    // A row is called by its case; several rows of one case are counted.
    const seen = new Map();
    b.keys = [];
    b.rowOf = new Map();
    for (let row = 0; row < data.rows; row++) {
      const at = ["operation", "result"].filter((s) => b.file(s, row)).map((s) => b.file(s, row).name + ":" + number(s + "_record")(row)).join("+");
      let key = text_("case_id")(row) ?? at;
      const n = (seen.get(key) || 0) + 1;
      seen.set(key, n);
      if (n > 1) key += "~" + n;
      b.keys.push(key);
      b.rowOf.set(key, row);
    }
    return b;
  }

  // grouped sets commas between thousands.
  const grouped = (x) => {
    const [head, tail] = x.split(".");
    return head.replace(/\B(?=([0-9]{3})+$)/g, ",") + (tail === undefined ? "" : "." + tail);
  };

  // age is a time in seconds, in its two largest units.
  const age = (secs) => {
    if (secs < 0) return "-" + age(-secs);
    const d = Math.floor(secs / 86400), h = Math.floor((secs % 86400) / 3600), m = Math.floor((secs % 3600) / 60);
    if (d) return d + " d" + (h ? " " + h + " h" : "");
    if (h) return h + " h" + (m ? " " + m + " min" : "");
    return m ? m + " min" : secs + " s";
  };

  return { load, grouped, age };
})();
