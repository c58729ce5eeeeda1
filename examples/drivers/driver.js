// A driver for Thresh: makes any JavaScript object a system under test.
//
// Thresh writes one line of JSON, the driver answers with one line:
//
//   {"reset":true}                                  -> {"ok":null}
//   {"call":"refund","args":{"order":1,"amount":5}} -> {"ok":VALUE}
//                                                      {"rejected":"why"}  the library says no
//                                                      {"error":"why"}     the library is broken
//
// "args" is a mapping, or a list where the document binds by position. "body"
// holds the bytes of a case in base64 where the system file says `body: raw`.
// Copy this file, and put your library in the place of Orders.
"use strict";
const readline = require("node:readline");

class Rejected extends Error {}

class Orders {
  paid = new Map();
  left = new Map();
  pay({ order, amount }) {
    if (this.paid.has(order) || !(amount > 0)) throw new Rejected("cannot be paid");
    this.paid.set(order, amount);
    this.left.set(order, amount);
    return amount;
  }
  refund({ order, amount }) {
    if (!this.paid.has(order) || !(amount > 0)) throw new Rejected("nothing to refund");
    if (amount > this.left.get(order)) throw new Rejected("more than is left");
    this.left.set(order, this.left.get(order) - amount);
    return this.left.get(order);
  }
  remaining({ order }) {
    return this.left.get(order) ?? 0;
  }
}

const names = { pay: ["order", "amount"], refund: ["order", "amount"], remaining: ["order"] };
let system = new Orders();

async function answer(line) {
  if (line.reset) {
    system = new Orders();
    return null;
  }
  if (!Object.hasOwn(names, line.call)) throw new Error("no operation " + line.call);
  let args = line.args ?? {};
  if (Array.isArray(args)) args = Object.fromEntries(args.map((value, i) => [names[line.call][i], value]));
  if (line.body !== undefined) args.body = Buffer.from(line.body, "base64");
  return await system[line.call](args);
}

console.log = console.error; // what the library prints is not an answer

(async () => {
  for await (const text of readline.createInterface({ input: process.stdin })) {
    let reply;
    try {
      reply = { ok: (await answer(JSON.parse(text))) ?? null };
    } catch (error) {
      reply = error instanceof Rejected ? { rejected: error.message } : { error: String(error) };
      if (reply.error) console.error(error.stack);
    }
    process.stdout.write(JSON.stringify(reply) + "\n");
  }
})();
