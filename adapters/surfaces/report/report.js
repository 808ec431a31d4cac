// Query by query: rows are made at once, answers when a row is opened. All text of
// notes and queries enters the page as text nodes, never as markup.
"use strict";

(() => {
  const data = document.getElementById("answers");
  if (!data) return;
  const { labels, queries, texts } = JSON.parse(data.textContent);
  const FIRST = 6; // results of an answer that are seen at once
  const byId = (id) => document.getElementById(id);
  const symbols = [...byId("columns").querySelectorAll(".symbol")];
  const symbol = (label) => symbols[labels.indexOf(label)].cloneNode(true);

  function make(name, kind, ...children) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  }

  // Text of notes: its direction is its own, and does not reach what stands beside it.
  function quoted(name, kind, text) {
    const made = make(name, kind, text);
    made.dir = "auto";
    return made;
  }

  const who = (label) => make("span", "who", symbol(label), make("bdi", "", label));
  const lines = (one) => (one.start === one.end ? `L${one.start}` : `L${one.start}-L${one.end}`);
  const citation = (one) => make("bdi", "path", `${texts[one.path]}#${lines(one)}`);
  const touches = (a, b) => a.path === b.path && a.start <= b.end && b.start <= a.end;
  const rank = (answer) => answer.results.findIndex((hit) => hit.relevant.length) + 1;
  const troubled = (answer) => answer.error !== undefined || answer.fallbacks.length > 0;

  function time(ms) {
    if (ms === undefined) return "";
    return ms < 10 ? `${ms.toFixed(ms < 1 ? 2 : 1)} ms` : `${Math.round(ms)} ms`;
  }

  // What the filters and orders ask for, worked out once.
  const facts = queries.map((asked, place) => {
    const ranks = asked.answers.map(rank);
    const gains = asked.answers.map((one, i) => one.ndcg ?? (ranks[i] ? 1 / ranks[i] : 0));
    const finders = asked.answers.filter((_, i) => ranks[i]).map((one) => one.label);
    const firsts = asked.answers.map((one) => one.results[0]);
    return {
      place,
      asked,
      finders,
      words: `${asked.query}\n${asked.id}\n${asked.category}`.toLowerCase(),
      differ: firsts.some((hit) => !hit !== !firsts[0] || (hit && !touches(hit, firsts[0]))),
      trouble: asked.answers.some(troubled),
      apart: Math.max(0, ...gains) - Math.min(1, ...gains),
      slowest: Math.max(0, ...asked.answers.map((one) => one.ms ?? 0)),
    };
  });

  // The closed row: the query, and for each contender the rank of the first right result.

  function outcome(label, asked) {
    const answer = asked.answers.find((one) => one.label === label);
    const found = answer ? rank(answer) : 0;
    const [short, long] = !answer
      ? ["", "not asked"]
      : answer.error !== undefined
        ? ["!", "failed"]
        : found
          ? [`${found}`, `right at rank ${found}`]
          : ["–", "nothing right"];
    const cell = make("span", found ? "outcome found" : "outcome", symbol(label), short);
    cell.title = `${label}: ${long}`;
    cell.append(make("span", "hidden", `${label}: ${long}`));
    return cell;
  }

  function row(fact) {
    const { asked } = fact;
    const title = make("span", "asked", quoted("bdi", "", asked.query));
    if (asked.category) title.append(" ", quoted("small", "", asked.category));
    const ranks = labels.map((label) => outcome(label, asked));
    const closed = make("summary", "", title, make("span", "outcomes", ...ranks));
    const made = make("details", "query", closed);
    made.addEventListener("toggle", () => made.append(opened(asked)), { once: true });
    return made;
  }

  // The open row: what is right, and the answers side by side.

  function opened(asked) {
    const answers = asked.answers.map((answer) => column(answer, asked));
    return make("div", "opened", places(asked), make("div", "answers", ...answers));
  }

  function places(asked) {
    const graded = asked.places.some((one) => one.grade !== 1);
    const items = asked.places.map((one, number) => {
      const head = make("div", "hit-head", make("b", "right", "✓ Right"), citation(one));
      if (graded) head.append(make("span", "faint", `grade ${one.grade}`));
      const found = asked.answers
        .map((answer) => [
          answer.label,
          answer.results.findIndex((hit) => hit.relevant.includes(number)) + 1,
        ])
        .filter(([, at]) => at);
      head.append(
        found.length
          ? make("span", "shared", "found by ", ...found.flatMap(([l, at]) => [symbol(l), `#${at} `]))
          : make("span", "only", "found by nobody"),
      );
      return make("li", "", head, quoted("p", "snippet", texts[one.text]));
    });
    return items.length
      ? make("ul", "places", ...items)
      : make("p", "faint", "No right places are known for this query.");
  }

  function column(answer, asked) {
    const facts = [answer.mode, time(answer.ms)];
    if (answer.ndcg !== undefined) facts.push(`nDCG@10 ${answer.ndcg.toFixed(2)}`);
    const head = make(
      "header",
      "",
      make("h4", "", who(answer.label)),
      make("span", "faint", facts.filter(Boolean).join(" · ")),
    );
    const notes = [answer.error, answer.reason, ...answer.fallbacks].filter(Boolean);
    const others = asked.answers.filter((one) => one !== answer);
    const hits = answer.results.map((hit, at) => result(hit, at + 1, others, asked));
    return make(
      "article",
      "",
      head,
      ...notes.map((note) => make("p", "note", note)),
      hits.length ? make("ol", "", ...hits.slice(0, FIRST)) : make("p", "faint", "No results."),
      hits.length > FIRST ? further(hits.slice(FIRST)) : "",
    );
  }

  function further(hits) {
    const count = `${hits.length} further result${hits.length === 1 ? "" : "s"}`;
    return make("details", "further", make("summary", "", count), make("ol", "", ...hits));
  }

  function result(hit, at, others, asked) {
    const right = hit.relevant.length > 0;
    const head = make("div", "hit-head", make("b", "rank", `${at}`), citation(hit));
    if (right) head.append(make("b", "right", "✓ Right"));
    if (others.length) head.append(shared(hit, others));
    head.append(make("span", "faint", hit.score.toFixed(3)));
    const heading = texts[hit.heading];
    return make(
      "li",
      right ? "hit is-right" : "hit",
      head,
      heading && quoted("p", "heading", heading),
      quoted("p", "snippet", texts[hit.snippet]),
    );
  }

  // Who else has these lines, and where; marked when nobody has.
  function shared(hit, others) {
    const places = others.flatMap((other) => {
      const at = other.results.findIndex((theirs) => touches(hit, theirs)) + 1;
      return at ? [symbol(other.label), `#${at} `] : [];
    });
    return places.length
      ? make("span", "shared", "also ", ...places)
      : make("span", "only", "only here");
  }

  // Which rows are seen, and in what order.

  const alphabet = new Intl.Collator(undefined, { numeric: true });
  const orders = {
    asked: (a, b) => a.place - b.place,
    apart: (a, b) => b.apart - a.apart || a.place - b.place,
    slow: (a, b) => b.slowest - a.slowest || a.place - b.place,
    query: (a, b) => alphabet.compare(a.asked.query, b.asked.query),
    category: (a, b) => alphabet.compare(a.asked.category, b.asked.category) || a.place - b.place,
  };

  function wanted(fact, which) {
    const { finders } = fact;
    if (which.startsWith("only:")) return finders.length === 1 && finders[0] === which.slice(5);
    const kinds = {
      all: true,
      differ: fact.differ,
      some: finders.length > 0 && finders.length < fact.asked.answers.length,
      none: finders.length === 0,
      trouble: fact.trouble,
    };
    return kinds[which];
  }

  const rows = facts.map(row);

  function show() {
    const words = byId("words").value.toLowerCase();
    const category = byId("category")?.value ?? "";
    const which = byId("which").value;
    const seen = facts
      .filter((fact) => !category || fact.asked.category === category)
      .filter((fact) => wanted(fact, which) && fact.words.includes(words))
      .sort(orders[byId("order").value]);
    byId("list").replaceChildren(...seen.map((fact) => rows[fact.place]));
    const all = queries.length === 1 ? "1 query" : `${queries.length} queries`;
    byId("count").value = seen.length === queries.length ? all : `${seen.length} of ${all}`;
  }

  const form = document.querySelector(".controls");
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("browser").hidden = false;
  show();
})();
