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
// Seven colours with seven shapes, shifted by one each round: 49 explainers look different.
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

function marker(n, r, attributes) {
  return s("path", { d: shapePath(shapeOf(n), r), fill: colourOf(n), class: "mark", ...attributes });
}

function cross(r, attributes) {
  return s("path", { d: `M${-r} ${-r}L${r} ${r}M${-r} ${r}L${r} ${-r}`, class: "cross", ...attributes });
}

// A drawing shrinks with the screen, and its letters with it. On a narrow screen it is drawn narrow, so that they stay readable.
const isNarrow = () => matchMedia("(max-width: 46rem)").matches && !matchMedia("print").matches;

// 100% is shown for all only, and 0% for none only.
const percent = (share, digits = 1) => {
  if (share === null) return "–";
  const shown = (share * 100).toFixed(digits), step = 10 ** -digits;
  if (share < 1 && Number(shown) === 100) return `>${(100 - step).toFixed(digits)}%`;
  return share > 0 && Number(shown) === 0 ? `<${step.toFixed(digits)}%` : `${shown}%`;
};
// The middle is left out, because a condition has its number at the end.
const shorten = (text, most, end = 10) => {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - end - 1).join("")}…${letters.slice(-end).join("")}` : text;
};

function drawChart(cells, numbers, floors, here, choose) {
  const [width, height, left, right, top, bottom] = [isNarrow() ? 360 : 560, 310, 44, 92, 34, 40];
  const x = (i) => left + (numbers.length > 1 ? (i / (numbers.length - 1)) * (width - left - right) : (width - left - right) / 2);
  const lowest = Math.min(...cells.filter((cell) => cell.set !== null).map((cell) => cell.coverage), 1);
  const base = Math.max(0, Math.floor(lowest * 10 - 0.5) / 10);
  const y = (share) => top + (1 - (Math.max(share, base) - base) / (1 - base)) * (height - top - bottom);
  const label = `Share of rows answered against the number of explainers, a line for each of ${floors.length} floors. The table below has the same figures.`;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const steps = base >= 0.8 ? 0.05 : base >= 0.5 ? 0.1 : 0.2;
  for (let share = 1; share >= base - 1e-9; share -= steps) {
    svg.append(s("line", { x1: left, x2: width - right, y1: y(share), y2: y(share), class: "grid" }));
    svg.append(s("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${Math.round(share * 100)}%`));
  }
  numbers.forEach((number, i) => svg.append(s("text", { x: x(i), y: height - bottom + 18, "text-anchor": "middle" }, number)));
  svg.append(s("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle", class: "soft" }, "explainers, at most"));
  svg.append(s("text", { x: 0, y: 12, class: "soft" }, "rows answered"));
  svg.append(s("text", { x: width - right + 18, y: 12, class: "soft" }, "floor"));
  const ends = [];
  floors.forEach((floor, f) => {
    const line = numbers.map((number) => cells.find((cell) => cell.max_explainers === number && cell.min_fidelity === floor));
    const known = line.map((cell, i) => [cell, i]).filter(([cell]) => cell && cell.set !== null);
    if (!known.length) return;
    const isHere = floor === here.min_fidelity;
    if (known.some(([cell]) => cell.most > cell.coverage)) {
      const up = known.map(([cell, i]) => `${x(i)},${y(cell.most)}`);
      const down = known.map(([cell, i]) => `${x(i)},${y(cell.coverage)}`).reverse();
      svg.append(s("polygon", { points: [...up, ...down].join(" "), fill: colourOf(f), opacity: isHere ? 0.25 : 0.1 }));
    }
    const points = known.map(([cell, i]) => `${x(i)},${y(cell.coverage)}`).join(" ");
    svg.append(s("polyline", { points, fill: "none", stroke: colourOf(f), "stroke-width": isHere ? 3 : 1.5 }));
    for (const [cell, i] of known) {
      const dot = marker(f, isHere ? 5 : 4, { transform: `translate(${x(i)} ${y(cell.coverage)})`, class: "mark dot", click: () => choose(cell) });
      dot.append(s("title", {}, `at most ${cell.max_explainers} explainers, floor ${floor}: ${percent(cell.coverage)} answered`));
      svg.append(dot);
    }
    const [last, at] = known[known.length - 1];
    ends.push({ y: y(last.coverage), x: x(at), floor, f, isHere });
  });
  // Labels of lines that end close together are moved apart.
  ends.sort((one, other) => one.y - other.y);
  let above = -Infinity;
  for (const end of ends) {
    const at = Math.max(end.y, above + 15);
    above = at;
    svg.append(s("line", { x1: end.x + 6, y1: end.y, x2: width - right + 14, y2: at, class: "lead" }));
    svg.append(s("text", { x: width - right + 18, y: at + 4, class: end.isHere ? "bold" : "" }, `≥ ${end.floor}`));
  }
  if (here.set !== null) {
    const i = numbers.indexOf(here.max_explainers);
    svg.append(s("circle", { cx: x(i), cy: y(here.coverage), r: 9, class: "here" }));
  }
  return svg;
}

function drawTree(tree, classes) {
  const [step, line] = [206, 30];
  let leaves = 0;
  let depth = 0;
  const places = {};
  const place = (node, level) => {
    depth = Math.max(depth, level);
    if (tree.column[node] < 0) places[node] = [level, leaves++];
    else {
      place(tree.left[node], level + 1);
      place(tree.right[node], level + 1);
      places[node] = [level, (places[tree.left[node]][1] + places[tree.right[node]][1]) / 2];
    }
  };
  place(0, 0);
  const [width, height] = [(depth + 1) * step + 10, leaves * line + 8];
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `A tree with ${leaves} leaves; its rules are listed above.` });
  // The tree shrinks to fit as long as it stays readable; below that it scrolls.
  svg.style.setProperty("min-width", `${Math.round(width * 0.72)}px`);
  const at = (node) => [places[node][0] * step + 4, places[node][1] * line + line / 2 + 4];
  for (const node of Object.keys(places).map(Number)) {
    const [x, y] = at(node);
    if (tree.column[node] >= 0) {
      for (const [child, answer] of [[tree.left[node], "yes"], [tree.right[node], "no"]]) {
        const [cx, cy] = at(child);
        const from = x + step - 34;
        svg.append(s("path", { d: `M${from} ${y}C${from + 18} ${y} ${cx - 18} ${cy} ${cx} ${cy}`, class: "edge" }));
        svg.append(s("text", { x: cx - 5, y: answer === "yes" ? cy - 4 : cy + 12, "text-anchor": "end", class: "tiny" }, answer));
      }
    }
    const leaf = tree.leaves[node];
    const silent = leaf && tree.speaking && !tree.speaking[node];
    const content = leaf ? (silent ? "abstains" : `${classes[leaf.label]} · ${percent(leaf.share, 0)} of ${leaf.n}`) : tree.asks[node];
    const box = s("g", { class: leaf ? (silent ? "node silent" : "node leaf") : "node" });
    box.append(s("rect", { x, y: y - 12, width: step - 34, height: 24, rx: leaf ? 12 : 4 }));
    const text = s("text", { x: x + (step - 34) / 2, y: y + 4, "text-anchor": "middle" }, shorten(content, 25));
    text.append(s("title", {}, leaf ? leaf.text : content));
    box.append(text);
    svg.append(box);
  }
  return svg;
}
