// What would change the answer of a row, by the same steps as in Python (results/changing.py): the nearest rule with
// another answer, and the columns that must change.

const [MOST_TRIES, MOST_MORE, MOST_COLUMNS, MOST_CHANGED, STEP] = [200, 2, 12, 2000, 0.02];

// The conditions that some columns must fulfil for another answer; null where none was found.
function findChange(data, set, row) {
  const { columns, tolerance } = data;
  const members = set.members.map((m) => data.members[m]);
  const speaker = (values) => set.ranked.find((n) => contains(members[n].region, values, columns)) ?? -1;
  // What one of them says: a number, or the code of an answer.
  const say = (n, values) => {
    const { explainer } = members[n];
    if (explainer.kind === "line") return sumOfLine(explainer, values, columns);
    const { rule } = ruleOf(members[n], values, columns);
    return tolerance ? rule.value : rule.label;
  };
  const own = speaker(row) < 0 ? null : say(speaker(row), row);
  const width = tolerance && tolerance.value * (tolerance.relative ? Math.abs(own) : 1) * (1 + 1e-9);
  const isOther = (answer) => own === null || (tolerance ? !(Math.abs(answer - own) <= width) : answer !== own);
  const cuts = new Map();
  const premises = members.flatMap((member, number) => rulesOf(member, columns).flatMap(({ held, position }) => {
    for (const [j, { lower, upper }] of held) {
      const found = cuts.get(j) ?? cuts.set(j, new Set()).get(j);
      for (const end of [lower, upper]) if (Number.isFinite(end)) found.add(end);
    }
    const answer = member.explainer.kind === "line" ? null : member.rules[position][tolerance ? "value" : "label"];
    return answer === null || isOther(answer) ? [{ number, held, position, answer }] : [];
  }));
  // Where every explainer is a box or a tree, an answer is the same all over a cell.
  const isExact = members.every(({ region, explainer }) => region.kind === "box" && explainer.kind !== "line");
  const cellsOf = (j, condition) => listCells(columns[j], [...cuts.get(j)].sort((a, b) => a - b), row[j], condition);
  const options = [];
  for (const premise of premises) {
    const { held } = premise;
    const needed = [...held.keys()].filter((j) => !fulfils(held.get(j), row[j]));
    const least = needed.reduce((sum, j) => sum + Math.min(...distancesTo(columns[j], cellsOf(j, held.get(j)), row[j])), 0);
    if (!Number.isFinite(least)) continue;
    const others = [...cuts.keys()].filter((j) => !needed.includes(j)).slice(0, MOST_COLUMNS);
    for (let more = 0; more <= MOST_MORE; more += 1) {
      for (const added of subsets(others, more)) {
        if (needed.length + more) options.push({ ...premise, n: needed.length + more, least, columns: [...needed, ...added] });
      }
    }
  }
  options.sort((one, other) => one.n - other.n || one.least - other.least);
  let best = null;
  for (const option of options.slice(0, MOST_TRIES)) {
    if (best && (option.n - best.n || option.least - best.size) >= 0) break;
    const cells = option.columns.map((j) => cellsOf(j, option.held.get(j)));
    const isGood = (values) => {
      if (speaker(values) !== option.number) return false;
      const said = say(option.number, values);
      return option.answer === null ? isOther(said) : said === option.answer;
    };
    const found = tryChange(data, row, option, cells, isGood, isExact);
    if (found && (!best || (option.n - best.n || found.size - best.size) < 0)) best = { ...option, ...found };
  }
  if (!best) return null;
  const { rule, value } = ruleOf(members[best.number], best.changed, columns);
  return { number: best.number, position: best.position, label: value ?? data.classes[rule.label], terms: joinTerms(best.terms) };
}

// The rules of an explainer: for each its position, and its conditions by column, of the region and of the tree.
function rulesOf({ region, explainer }, columns) {
  const first = new Map((region.conditions ?? []).map((one) => [one.column, { ...one, lower: one.lower ?? -Infinity, upper: one.upper ?? Infinity }]));
  if (explainer.kind !== "tree") return [{ held: first, position: 0 }];
  const found = [];
  const walk = (node, held) => {
    const j = explainer.column[node];
    if (j < 0) {
      found.push({ held, position: explainer.rule[node] });
      return;
    }
    sidesOf(explainer, node, columns[j]).forEach((side, i) => walk([explainer.left, explainer.right][i][node], new Map(held).set(j, bothOf(held.get(j), side))));
  };
  walk(0, first);
  return found.sort((one, other) => one.position - other.position);
}

// The conditions to go left and to go right.
function sidesOf(tree, node, column) {
  if (column.number) {
    const [threshold, isLeft] = [tree.threshold[node] ?? Infinity, tree.missing_left[node] === 1];
    return [{ lower: -Infinity, upper: threshold, missing: column.missing && isLeft }, { lower: threshold, upper: Infinity, missing: column.missing && !isLeft }];
  }
  const [level, codes] = [tree.level[node], column.levels.map((_, code) => code)];
  const isMissing = level === codes.length;
  return [{ codes: codes.filter((code) => code === level), missing: isMissing }, { codes: codes.filter((code) => code !== level), missing: column.missing && !isMissing }];
}

function bothOf(one, other) {
  if (!one) return other;
  const missing = one.missing && other.missing;
  if (one.codes || other.codes) return { codes: (one.codes ?? other.codes).filter((code) => (other.codes ?? []).includes(code)), missing };
  return { lower: Math.max(one.lower, other.lower), upper: Math.min(one.upper, other.upper), missing };
}

// The parts of a column within which no answer changes, but those of the row's own value and those that fail a condition.
function listCells(column, cuts, value, condition) {
  const isInteger = column.kind === "integer";
  let cells = [];
  if (column.number) {
    const edges = [-Infinity, ...cuts, Infinity];
    cells = edges.slice(1).map((upper, i) => {
      const lower = edges[i];
      const bottom = Number.isFinite(lower) ? lower : Number.isFinite(upper) ? upper - column.scale : 0;
      const over = isInteger ? Math.floor(bottom) + 1 : roundUp(bottom, Math.max(STEP * column.scale, 2.3e-308));
      const isBelow = Number.isFinite(upper) && ((value !== null && value > upper) || over > upper);
      return { value: isBelow ? (isInteger ? Math.floor(upper) : upper) : over, lower, upper };
    }).filter((cell) => cell.value > cell.lower && cell.value <= cell.upper);
  } else {
    cells = column.levels.slice(0, column.n_named).map((_, code) => ({ value: code, lower: code, upper: code }));
  }
  if (column.missing) cells.push({ value: null, lower: NaN, upper: NaN });
  const isOwn = (cell) => cell.value === value || (column.number && value !== null && value > cell.lower && value <= cell.upper);
  return cells.filter((cell) => !isOwn(cell) && (!condition || fulfils(condition, cell.value)));
}

// The next multiple of a short step over a number; beside a very large number the step is nothing.
function roundUp(bottom, most) {
  const power = Math.floor(Math.log10(most));
  const factor = [5, 2, 1].find((one) => one * 10 ** power <= most * (1 + 1e-9));
  const step = factor * 10 ** power;
  const over = Number((Math.ceil((bottom + most) / step) * step).toFixed(Math.min(Math.max(-power, 0), 100)));
  return over > bottom ? over : bottom + Math.abs(bottom) * 2 ** -52;
}

function distancesTo(column, cells, value) {
  if (!column.number || value === null) return cells.map(() => 1);
  return cells.map((cell) => (cell.value === null ? 1 : Math.max(cell.lower - value, value - cell.upper, 0) / column.scale));
}

function subsets(values, n) {
  if (!n) return [[]];
  return values.flatMap((value, i) => subsets(values.slice(i + 1), n - 1).map((rest) => [value, ...rest]));
}

const products = (sizes) => sizes.reduce((found, size) => found.flatMap((one) => Array.from({ length: size }, (_, i) => [...one, i])), [[]]);

// The smallest change of some columns after which a rule answers, widened to all values that give the same answer.
function tryChange(data, row, { columns }, cells, answers, isExact) {
  const n = cells.reduce((product, one) => product * one.length, 1);
  if (!n || n > MOST_CHANGED) return null;
  const far = columns.map((j, axis) => distancesTo(data.columns[j], cells[axis], row[j]));
  const good = new Set();
  let best = null;
  for (const places of products(cells.map((one) => one.length))) {
    const changed = [...row];
    places.forEach((place, axis) => { changed[columns[axis]] = cells[axis][place].value; });
    if (!answers(changed)) continue;
    good.add(places.join());
    const size = places.reduce((sum, place, axis) => sum + far[axis][place], 0);
    if (!best || size < best.size) best = { size, places, changed };
  }
  if (!best) return null;
  if (!isExact) return { ...best, terms: columns.map((j) => ({ words: `${data.columns[j].name} = ${wordWithUnit(data.columns[j], best.changed[j])}` })) };
  const kept = best.places.map((place) => [place]);
  const isGood = (parts) => products(parts.map((one) => one.length)).every((at) => good.has(at.map((i, axis) => parts[axis][i]).join()));
  columns.forEach((j, axis) => {
    for (const run of listRuns(data.columns[j], cells[axis], best.places[axis])) {
      for (const cell of run) {
        const wider = kept.map((one, other) => (other === axis ? [...one, cell] : one));
        if (!isGood(wider)) break;
        kept[axis] = wider[axis];
      }
    }
  });
  return { ...best, terms: columns.map((j, axis) => describeCells(data.columns[j], kept[axis].map((place) => cells[axis][place]))) };
}

// The cells beside one in the order in which a run may grow: up, down, and each level by itself.
function listRuns(column, cells, place) {
  const others = cells.map((_, i) => i).filter((i) => i !== place);
  if (!column.number) return others.map((i) => [i]);
  const adjoins = (i) => {
    const [end, start] = [cells[i].upper, cells[i + 1].lower];
    return column.kind === "integer" && Number.isFinite(end) && Number.isFinite(start) ? Math.floor(end) === Math.floor(start) : end === start;
  };
  const [up, down] = [[], []];
  for (let i = place; i + 1 < cells.length && adjoins(i); i += 1) up.push(i + 1);
  for (let i = place; i > 0 && adjoins(i - 1); i -= 1) down.push(i - 1);
  return [up, down, others.filter((i) => cells[i].value === null)];
}

// A condition in words, as Python writes it: what a known value must be, and whether it may be missing.
function describeCells(column, cells) {
  const known = cells.filter(({ value }) => value !== null);
  const isMissing = known.length < cells.length;
  const say = (value) => word(column, value);
  let words = "";
  if (column.number && known.length) {
    const [lower, upper] = [Math.min(...known.map((one) => one.lower)), Math.max(...known.map((one) => one.upper))];
    const isOne = ["integer", "date"].includes(column.kind) && Math.floor(upper) - Math.floor(lower) === 1;
    words = upper === Infinity
      ? lower === -Infinity ? `${column.name} is known` : `${column.name} > ${say(lower)}${column.unit}`
      : lower === -Infinity ? `${column.name} ≤ ${say(upper)}${column.unit}`
        : isOne ? `${column.name} = ${say(Math.floor(upper))}${column.unit}` : `${say(lower)} < ${column.name} ≤ ${say(upper)}${column.unit}`;
  } else if (known.length) {
    const codes = known.map(({ value }) => value).sort((a, b) => a - b);
    const others = column.levels.map((_, code) => code).filter((code) => !codes.includes(code));
    // "drug is not none" would be a double negative.
    const isDouble = codes.length <= 3 && others.map(say).some((level) => /^(no|none|not|never|nothing|without)(?![\p{L}\p{N}_])/iu.test(level));
    const isShorter = others.length < codes.length && !isDouble;
    const names = (isShorter ? others : codes).map(say);
    words = others.length ? `${column.name} ${isShorter ? "is not" : "is"} ${names.length === 1 ? names[0] : `one of ${names.join(", ")}`}` : `${column.name} is known`;
  }
  return { words: isMissing ? (words ? `${words} or missing` : `${column.name} is missing`) : words, hasOr: isMissing && words !== "" };
}

const joinTerms = (terms) => terms.map(({ words, hasOr }) => (hasOr && terms.length > 1 ? `(${words})` : words)).join(" and ");
