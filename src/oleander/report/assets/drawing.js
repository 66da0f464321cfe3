// Elements and drawings. Text of the data is added as text, never as markup.

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C7A00"];
const SHAPES = ["circle", "square", "triangle", "diamond", "down", "plus", "hexagon"];
const SVG = "http://www.w3.org/2000/svg";

function make(space, tag, attributes, children) {
  const element = space ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== "") element.append(child);
  }
  return element;
}
const h = (tag, attributes, ...children) => make(false, tag, attributes, children.flat(Infinity));
const s = (tag, attributes, ...children) => make(true, tag, attributes, children.flat(Infinity));

const colourOf = (n) => COLOURS[n % COLOURS.length];
// Seven colours with seven shapes, shifted by one each round: 49 answers look different.
const shapeOf = (n) => SHAPES[(n + Math.floor(n / COLOURS.length)) % SHAPES.length];

function shapePath(shape, r) {
  const polygon = (n, turn) =>
    Array.from({ length: n }, (_, i) => {
      const angle = (2 * Math.PI * i) / n + turn;
      return `${i ? "L" : "M"}${(r * 1.2 * Math.cos(angle)).toFixed(2)} ${(r * 1.2 * Math.sin(angle)).toFixed(2)}`;
    }).join("") + "Z";
  const paths = {
    circle: `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
    square: `M${-r * 0.9} ${-r * 0.9}h${1.8 * r}v${1.8 * r}h${-1.8 * r}Z`,
    triangle: polygon(3, -Math.PI / 2),
    down: polygon(3, Math.PI / 2),
    diamond: polygon(4, 0),
    hexagon: polygon(6, 0),
    plus: `M${-r} ${-r / 3}h${(2 * r) / 3}v${(-2 * r) / 3}h${(2 * r) / 3}v${(2 * r) / 3}h${(2 * r) / 3}v${(2 * r) / 3}h${(-2 * r) / 3}v${(2 * r) / 3}h${(-2 * r) / 3}v${(-2 * r) / 3}h${(-2 * r) / 3}Z`,
  };
  return paths[shape];
}

function icon(n) {
  return s("svg", { viewBox: "-8 -8 16 16", width: 14, height: 14, "aria-hidden": "true" }, n < 0 ? cross(4) : marker(n, 6));
}

function marker(n, r, attributes) {
  return s("path", { d: shapePath(shapeOf(n), r), fill: colourOf(n), class: "mark", ...attributes });
}

function cross(r, attributes) {
  return s("path", { d: `M${-r} ${-r}L${r} ${r}M${-r} ${r}L${r} ${-r}`, class: "cross", ...attributes });
}

// A drawing shrinks with the screen, and its letters with it. On a narrow screen it is drawn narrow, so that they stay readable.
const isNarrow = (rem = 46) => matchMedia(`(max-width: ${rem}rem)`).matches && !matchMedia("print").matches;

// 100% is shown for all only, and 0% for none only.
const showFloor = (floor) => `${+(100 * floor).toFixed(6)}%`;
const percent = (share, digits = 1) => {
  if (share === null) return "–";
  const shown = (share * 100).toFixed(digits), step = 10 ** -digits;
  if (share < 1 && Number(shown) === 100) return `>${(100 - step).toFixed(digits)}%`;
  return share > 0 && Number(shown) === 0 ? `<${step.toFixed(digits)}%` : `${shown}%`;
};
const shorten = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

function drawChart(cells, floors, here, at, choose, hasPicked) {
  const [width, height, left, right, top, bottom] = [isNarrow() ? 360 : isNarrow(64) ? 440 : 600, 310, 44, 92, 34, 44];
  const known = cells.filter((cell) => cell.set !== null);
  const most = Math.max(...known.map((cell) => cell.n_rules), 1);
  const x = (rules) => left + (rules / most) * (width - left - right);
  const base = Math.max(0, Math.floor(Math.min(...known.map((cell) => cell.coverage), 1) * 10 - 0.5) / 10);
  const y = (share) => top + (1 - (Math.max(share, base) - base) / (1 - base)) * (height - top - bottom);
  const label = `Share of rows answered against the number of rules to read, a line for each of ${floors.length} floors. The table below has the same figures.`;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const steps = base >= 0.8 ? 0.05 : base >= 0.5 ? 0.1 : 0.2;
  for (let share = 1; share >= base - 1e-9; share -= steps) {
    svg.append(s("line", { x1: left, x2: width - right, y1: y(share), y2: y(share), class: "grid" }));
    svg.append(s("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${Math.round(share * 100)}%`));
  }
  const wide = [1, 2, 5].flatMap((digit) => [1, 10, 100, 1000, 10000].map((power) => digit * power)).sort((a, b) => a - b).find((step) => most / step <= 8) ?? most;
  for (let rules = 0; rules <= most; rules += wide) {
    svg.append(s("text", { x: x(rules), y: height - bottom + 18, "text-anchor": "middle" }, rules.toLocaleString("en")));
  }
  svg.append(s("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle", class: "soft" }, "rules to read"));
  svg.append(s("text", { x: 0, y: 12, class: "soft" }, "rows answered"));
  svg.append(s("text", { x: width - right + 18, y: 12, class: "soft" }, "floor"));
  const ends = [];
  floors.forEach((floor, f) => {
    const line = frontier(cells, floor);
    if (!line.length) return;
    const isHere = floor === at;
    if (line.some((cell) => cell.most > cell.coverage)) {
      const up = line.map((cell) => `${x(cell.n_rules)},${y(cell.most)}`);
      const down = line.map((cell) => `${x(cell.n_rules)},${y(cell.coverage)}`).reverse();
      svg.append(s("polygon", { points: [...up, ...down].join(" "), fill: colourOf(f), opacity: isHere ? 0.25 : 0.1 }));
    }
    const points = line.map((cell) => `${x(cell.n_rules)},${y(cell.coverage)}`).join(" ");
    svg.append(s("polyline", { points, fill: "none", stroke: colourOf(f), "stroke-width": isHere ? 3 : 1.5 }));
    for (const cell of line) {
      const dot = marker(f, isHere ? 5 : 4, { transform: `translate(${x(cell.n_rules)} ${y(cell.coverage)})`, class: hasPicked(cell) ? "mark dot picked" : "mark dot", click: () => choose(cell, floor) });
      dot.append(s("title", {}, `${cell.n_rules} rules, floor ${showFloor(floor)}: ${percent(cell.coverage)} answered`));
      svg.append(dot);
    }
    const own = cells.find((cell) => cell.fitted && cell.set !== null && cell.min_fidelity === floor && !line.includes(cell));
    if (own) svg.append(marker(f, isHere ? 5 : 4, { transform: `translate(${x(own.n_rules)} ${y(own.coverage)})`, class: "mark dot", click: () => choose(own) }));
    const last = line[line.length - 1];
    ends.push({ y: y(last.coverage), x: x(last.n_rules), floor, isHere, colour: colourOf(f) });
  });
  // Labels of lines that end close together are moved apart.
  ends.sort((one, other) => one.y - other.y);
  let above = -Infinity;
  for (const end of ends) {
    const at = Math.max(end.y, above + 15);
    above = at;
    // More rules answer no more rows: the line goes on level, below all marks.
    svg.prepend(s("path", { d: `M${end.x} ${end.y}H${width - right}L${width - right + 14} ${at}`, class: "lead", stroke: end.colour }));
    svg.append(s("text", { x: width - right + 18, y: at + 4, class: end.isHere ? "bold" : "" }, `≥ ${showFloor(end.floor)}`));
  }
  if (here.set !== null) svg.append(s("circle", { cx: x(here.n_rules), cy: y(here.coverage), r: 9, class: "here" }));
  return svg;
}

// The choices that keep a floor and that no choice with as little to read surpasses, by rules to read. A choice that keeps
// a higher floor keeps this one too: so the lines rise with the rules to read, and fall with the floor.
function frontier(cells, floor) {
  const found = cells.filter((cell) => cell.set !== null && cell.min_fidelity >= floor);
  found.sort((one, other) => one.n_rules - other.n_rules || other.coverage - one.coverage || (other.fitted ? 1 : 0) - (one.fitted ? 1 : 0) || one.min_fidelity - other.min_fidelity);
  let most = -1;
  return found.filter((cell) => {
    const isWider = cell.coverage > most;
    most = Math.max(most, cell.coverage);
    return isWider;
  });
}

// The stops of the slider: those choices, and the fitted one, which may answer less because it is certified.
function choicesAt(cells, floor) {
  const line = frontier(cells, floor);
  const own = cells.find((cell) => cell.fitted && cell.set !== null && cell.min_fidelity === floor);
  return own && !line.includes(own) ? [...line, own].sort((one, other) => one.n_rules - other.n_rules || other.coverage - one.coverage) : line;
}

// A tree as nested lists of conditions, which stay readable however many leaves there are. The parts of a large tree
// open on demand, and the way of a row through it is marked.
function drawTree(member, sayRule, path) {
  const tree = member.explainer;
  const size = (node) => (tree.column[node] < 0 ? 1 : size(tree.left[node]) + size(tree.right[node]));
  const isLarge = size(0) > 20;
  const branch = (node, condition, depth) => {
    const mark = path.has(node) ? "step" : null;
    if (tree.column[node] < 0) {
      const answer = tree.rule[node] === null ? h("em", { class: "soft" }, "silent") : sayRule(member.rules[tree.rule[node]]);
      return h("li", { class: mark }, h("bdi", {}, condition), " → ", answer);
    }
    const part = h("details", { open: !isLarge || depth < 2 || path.has(node) }, h("summary", {}, h("bdi", {}, condition), h("span", { class: "soft" }, ` (${size(node)} leaves)`)), children(node, depth + 1));
    return h("li", { class: mark }, part);
  };
  const children = (node, depth) => h("ul", { class: "branches" }, branch(tree.left[node], tree.asks[node][0], depth), branch(tree.right[node], tree.asks[node][1], depth));
  return children(0, 0);
}

// A line for each combination of rules: a dot for each rule that holds, and a bar of the rows by the model's answer. Above,
// a bar for all rows of each rule. Lines of the picked rule keep their colour.
function drawPicture({ lines, few }, totals, names, classes, fillOf, picked, pick) {
  const width = isNarrow() ? 350 : 760;
  const isDotted = totals.length <= 20;
  const wide = isDotted ? Math.min(26, (isNarrow() ? 150 : 420) / totals.length) : 0;
  const [left, head, tall, end] = [isDotted ? Math.max(totals.length * wide, 92) : isNarrow() ? 120 : 220, isDotted ? 66 : 6, 22, 64];
  const all = [...lines, ...(few ? [{ n: few[1], by: [[null, few[1]]], words: plural(few[0], "other combination") }] : [])];
  const height = head + tall * all.length + 4;
  const most = Math.max(...all.map(({ n }) => n), 1);
  const x = (n) => (n / most) * (width - left - 14 - end);
  const says = (line) => line.words ?? (line.rules.length ? join(line.rules.map((n) => names[n]), ", ").join("") : "no rule: silent");
  const parts = (line) => line.by?.map(([label, n]) => `${label === null ? "several answers, or few rows" : classes[label]} ${count(n)}`).join(", ");
  const say = (line) => `${says(line)}: ${plural(line.n, "row")}${line.by && !line.words ? ` (${parts(line)})` : ""}`;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Rows by the rules that hold. ${all.map(say).join("; ")}.` });
  const at = (n) => wide * (n + 0.5);
  if (isDotted) {
    const largest = Math.max(...totals.map((n) => n ?? 0), 1);
    totals.forEach((n, number) => {
      const size = ((n ?? 2) / largest) * 40;
      svg.append(s("g", { class: number === picked ? "column picked" : "column", click: () => pick(number) }, s("title", {}, `${names[number]}: ${n === null ? "fewer than 5" : count(n)} rows`),
        s("rect", { x: at(number) - wide / 2, y: 0, width: wide, height: height - 4, class: "band-of" }),
        s("rect", { x: at(number) - wide / 2 + 3, y: 44 - size, width: Math.max(wide - 6, 2), height: size, class: "total" }),
        s("text", { x: at(number), y: 58, "text-anchor": "middle", class: wide < 18 ? "small" : null }, String(number + 1))));
    });
    svg.append(s("text", { x: left + 14, y: 40, class: "soft" }, "↑ rows where the rule holds"), s("text", { x: left + 14, y: 58, class: "soft" }, isNarrow() ? "↓ rows of the combination" : "↓ rows where exactly these rules hold"));
  }
  all.forEach((line, i) => {
    const middle = head + tall * (i + 0.5);
    const isOut = picked !== null && !line.rules?.includes(picked);
    const group = s("g", { class: isOut ? "out" : null }, s("title", {}, say(line)));
    if (isDotted && line.rules?.length) {
      group.append(s("path", { d: `M${at(line.rules[0])} ${middle}H${at(line.rules.at(-1))}`, class: "axis" }));
      totals.forEach((_, number) => group.append(s("circle", { cx: at(number), cy: middle, r: Math.min(5, wide / 3), class: line.rules.includes(number) ? "on" : "off" })));
    } else {
      group.append(s("text", { x: left, y: middle + 4, "text-anchor": "end", class: line.rules ? null : "soft" }, shorten(says(line), Math.floor(left / 6.6))));
    }
    let start = left + 14;
    for (const [label, n] of line.by ?? [[undefined, line.n]]) {
      group.append(s("rect", { x: start.toFixed(1), y: middle - 7, width: Math.max(x(n) - 0.7, 0.8).toFixed(1), height: 14, ...(label === undefined ? { class: "full" } : fillOf(label)) }));
      start += x(n);
    }
    group.append(s("text", { x: start + 6, y: middle + 4 }, count(line.n)));
    svg.append(group);
  });
  return svg;
}

// The rows where a rule holds: those that match the model, and those that do not. The widest rule has the full length.
function drawBar([right, n], widest) {
  const [length, height] = [240, 8];
  const x = (rows) => (length * rows) / Math.max(widest, 1);
  // A few rows that do not match are still seen.
  const wrong = n > right ? Math.max(x(n - right), 2) : 0;
  return s("svg", { viewBox: `0 0 ${length} ${height}`, class: "counted", "aria-hidden": "true" },
    s("rect", { width: Math.max(x(n) - wrong, 0), height, class: "full" }), s("rect", { x: Math.max(x(n) - wrong, 0), width: wrong, height, class: "wrong" }));
}

// The rows by the values of one column, with those that fulfil a condition in colour.
function drawHistogram(column, condition, term) {
  const label = `Rows by ${column.name}, with those in colour where ${term}: ${sayBins(column).join("; ")}.`;
  return column.bins.edges ? drawNumbers(column, condition, label) : drawLevels(column, condition, label);
}

// Each bin in words, as the tip of its bar has it.
function sayBins(column) {
  const { edges, codes, counts, rest, missing } = column.bins;
  const say = (value) => word(column, value);
  const names = codes
    ? codes.map(say)
    : counts.map((_, i) => (i === 0 ? `up to ${say(edges[0])}` : i === edges.length ? `over ${say(edges[i - 1])}` : `over ${say(edges[i - 1])} to ${say(edges[i])}`));
  const bins = counts.map((n, i) => `${names[i]}: ${n.toLocaleString("en")} rows`);
  return [...bins, ...(rest ? [`other levels: ${rest.toLocaleString("en")} rows`] : []), ...(missing ? [`missing: ${missing.toLocaleString("en")} rows`] : [])];
}

function drawNumbers(column, condition, label) {
  const { edges, counts, step, missing } = column.bins;
  const [width, height, foot] = [150, 52, 14];
  const [low, high] = [edges[0] - step, edges.at(-1) + step];
  const right = missing ? width - 22 : width;
  // The open ends are one step wide: how far they reach would show single rows.
  const x = (value) => ((Math.min(Math.max(value, low), high) - low) / (high - low)) * right;
  const bounds = [low, ...edges, high];
  // A bin that was merged is wider, and its bar as much lower.
  const tall = counts.map((n, i) => (n * step) / (bounds[i + 1] - bounds[i]));
  const most = Math.max(...tall, missing ?? 0);
  const y = (n) => (n / most) * (height - foot - 4);
  const words = sayBins(column);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const isAsked = !condition.codes;
  // A threshold beyond the last edge stands in the middle of the open end.
  const place = (value) => (value <= bounds[0] || value < edges[0] ? x(edges[0] - step / 2) : value > edges.at(-1) ? x(edges.at(-1) + step / 2) : x(value));
  const from = isAsked && condition.lower !== null ? place(condition.lower) : 0;
  const to = isAsked && condition.upper !== null ? place(condition.upper) : right;
  counts.forEach((n, i) => {
    const [start, end, size] = [x(bounds[i]), x(bounds[i + 1]) - 1, y(tall[i])];
    const bar = (left, until, kind) => s("rect", { x: left.toFixed(1), y: (height - foot - size).toFixed(1), width: Math.max(until - left, 0).toFixed(1), height: size.toFixed(1), class: kind });
    svg.append(s("g", {}, s("title", {}, words[i]), bar(start, end, "rest"), isAsked && Math.min(end, to) > Math.max(start, from) ? bar(Math.max(start, from), Math.min(end, to), "full") : null));
  });
  if (missing) {
    svg.append(s("rect", { x: width - 12, y: height - foot - y(missing), width: 12, height: y(missing), class: condition.missing ? "full" : "rest" }, s("title", {}, words.at(-1))));
    svg.append(s("text", { x: width, y: height - 2, "text-anchor": "end", class: "soft small" }, "?"));
  }
  svg.append(s("path", { d: `M0 ${height - foot}H${right}`, class: "axis" }));
  for (const value of isAsked ? [condition.lower, condition.upper] : []) {
    if (value !== null) svg.append(s("path", { d: `M${place(value).toFixed(1)} 0V${height - foot + 3}`, class: "cut" }));
  }
  // A bar of one whole number has its number below it; other bars have numbers at their edges.
  const isOne = column.kind === "integer" && step === 1;
  const number = (value, anchor) => s("text", { x: x(value) - (isOne ? x(low + 0.5) : 0), y: height - 2, "text-anchor": isOne || edges.length === 1 ? "middle" : anchor, class: "soft small" }, word(column, value));
  svg.append(number(edges[0], "start"));
  if (edges.length > 1) svg.append(number(edges.at(-1), "end"));
  return svg;
}

function drawLevels(column, condition, label) {
  const { codes, counts, rest, missing } = column.bins;
  const lines = codes.map((code, i) => [column.levels[code], counts[i], condition.codes?.includes(code)]);
  if (rest) lines.push(["other levels", rest, false]);
  if (missing) lines.push(["missing", missing, condition.missing]);
  const [width, line] = [150, 14];
  const most = Math.max(...lines.map(([, n]) => n));
  const svg = s("svg", { viewBox: `0 0 ${width} ${line * lines.length}`, role: "img", "aria-label": label });
  const words = sayBins(column);
  lines.forEach(([text, n, isAsked], i) => svg.append(s("g", {}, s("title", {}, words[i]),
    s("text", { x: 70, y: line * i + 10, "text-anchor": "end", class: isAsked ? "small" : "soft small" }, shorten(text, 11)),
    s("rect", { x: 74, y: line * i + 2, width: Math.max((n / most) * (width - 74), 1).toFixed(1), height: line - 4, class: isAsked ? "full" : "rest" }))));
  return svg;
}
