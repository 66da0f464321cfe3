"use strict";
// Answers of the explainers for an encoded row, computed by the same steps as in Python.
// A missing value is null.

function contains(region, row, columns) {
  if (region.kind === "box") return region.conditions.every((condition) => fulfils(condition, row[condition.column]));
  const [distance, flips] = distances(region, row, columns);
  return distance <= region.radius * (1 + 1e-12) && flips <= region.flips;
}

function fulfils(condition, value) {
  if (value === null) return condition.missing;
  if (condition.codes) return condition.codes.includes(value);
  return (condition.lower === null || value > condition.lower) && (condition.upper === null || value <= condition.upper);
}

function distances(ball, row, columns) {
  let distance = 0;
  let flips = 0;
  columns.forEach((column, j) => {
    const value = row[j];
    const middle = ball.center[j];
    if (value === null || middle === null) {
      // Two missing values are equal; one alone is a flip and adds no distance.
      flips += value === middle ? 0 : 1;
    } else if (!column.number) {
      flips += value === middle ? 0 : 1;
    } else {
      distance = Math.max(distance, Math.abs(value - middle) / ball.units[j]);
    }
  });
  return [distance, flips];
}

// The nodes on the way of a row, from the root to its leaf.
function pathOf(tree, row, columns) {
  const path = [0];
  for (let node = 0; tree.column[node] >= 0; path.push(node)) {
    const column = columns[tree.column[node]];
    const value = row[tree.column[node]];
    let left;
    if (column.number) {
      const threshold = tree.threshold[node];
      left = value === null ? column.missing && tree.missing_left[node] === 1 : threshold === null || value <= threshold;
    } else if (tree.level[node] === column.levels.length) {
      left = value === null;
    } else {
      left = value === tree.level[node];
    }
    node = left ? tree.left[node] : tree.right[node];
  }
  return path;
}

// The rule that answers a row, its position, and of a line its value.
function ruleOf({ explainer, rules }, row, columns) {
  const position = explainer.kind === "tree" ? explainer.rule[pathOf(explainer, row, columns).at(-1)] : 0;
  const value = explainer.kind === "line" ? valueOnLine(explainer, row, columns) : undefined;
  return { position, rule: rules[position], value };
}

// The number that a line gives to a row. A missing value adds nothing.
function sumOfLine(line, row, columns) {
  const amount = ([j, slope, reference]) => (row[j] === null ? 0 : columns[j].number ? slope * (row[j] - reference) : row[j] === reference ? slope : 0);
  return line.terms.reduce((sum, term) => sum + amount(term), line.intercept);
}

// The same with the digits that are worth reading.
function valueOnLine(line, row, columns) {
  const total = sumOfLine(line, row, columns);
  return `${Number(line.relative ? total.toPrecision(line.digits) : total.toFixed(line.digits))} ${line.within}`;
}

const DAY = 86400000;
const isDate = (column) => column.kind === "date" || column.kind === "timestamp";
// A date is a number of days since 1970-01-01, with the time as a part of a day.
const dateText = (column, days) => new Date(Math.round(days * 86400) * 1000).toISOString().slice(0, column.kind === "date" ? 10 : 19);
const daysOf = (text) => Date.parse(text.includes("T") ? `${text}Z` : text) / DAY;

function word(column, value) {
  if (value === null) return "missing";
  if (isDate(column)) return dateText(column, value).replace("T", " ").replace(/ 00:00:00$/, "").replace(/:00$/, "");
  return column.number ? String(Number.isInteger(value) ? value : Number(value.toPrecision(10))) : column.levels[value];
}

const wordWithUnit = (column, value) => word(column, value) + (value === null ? "" : column.unit);

// The name of a rule, as in the summary: its explainer is named only where explainers have several rules.
function nameOf(members, number, position) {
  if (members.every((member) => member.rules.length === 1)) return `rule ${number + 1}`;
  if (members[number].rules.length === 1) return `explainer ${number + 1}`;
  return members.length === 1 ? `rule ${position + 1}` : `explainer ${number + 1}, rule ${position + 1}`;
}

function canAsk(data, set) {
  return set.members.every((m) => data.members[m].explainer.kind !== "other" && data.members[m].region.kind !== "other");
}

function explain(data, set, row) {
  const { columns, classes } = data;
  const members = set.members.map((m) => data.members[m]);
  // The most faithful first, which answers.
  const covering = set.ranked.filter((n) => contains(members[n].region, row, columns));
  const statements = covering.map((n) => ({ explainer: n, ...ruleOf(members[n], row, columns) }));
  const disagree = new Set(statements.map((one) => one.rule.label)).size > 1;
  const [first] = statements;
  const label = first ? first.value ?? classes[first.rule.label] : null;
  return { statements, disagree, label, far: farOutside(data, row) };
}

// A phrase of Python's with its parts filled in.
const fill = (phrase, ...parts) => phrase.replaceAll("{}", () => parts.shift());

// What is said of each number that lies far outside the data.
function farOutside({ columns, phrases }, row) {
  const side = ({ far }, value) => (value > far[1] ? "above" : value < far[0] ? "below" : null);
  return columns.flatMap((column, j) => {
    const found = column.number && row[j] !== null ? side(column, row[j]) : null;
    return found ? [fill(phrases.far, `${column.name} = ${wordWithUnit(column, row[j])}`, found)] : [];
  });
}
