"use strict";
// Answers of the explainers for an encoded row, computed by the same steps as in Python.
// A missing value is null.

function contains(region, row, columns, member) {
  if (region.kind === "spoken") {
    const explainer = member.explainer;
    return contains(region.outer, row, columns, member) && explainer.speaking[leafOf(explainer, row, columns)];
  }
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
      const step = Math.abs(value - middle) / ball.units[j];
      distance = ball.norm === null ? Math.max(distance, step) : distance + step ** ball.norm;
    }
  });
  return [ball.norm === null ? distance : distance ** (1 / ball.norm), flips];
}

function leafOf(tree, row, columns) {
  let node = 0;
  while (tree.column[node] >= 0) {
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
  return node;
}

function ruleOf(member, row, columns, classes) {
  const explainer = member.explainer;
  if (explainer.kind === "tree") return explainer.leaves[leafOf(explainer, row, columns)];
  if (explainer.kind === "linear") return linearRule(explainer, row, columns, classes);
  return member.rules[0];
}

function linearRule(model, row, columns, classes) {
  const seen = columns.map((column, j) => {
    const [value, middle] = [row[j], model.reference[j]];
    if (!column.number) return value === middle ? 1 : 0;
    return value === null ? 0 : (value - middle) / column.scale;
  });
  const scores = model.intercepts.map((start, k) => seen.reduce((sum, x, j) => sum + x * model.coefficients[j][k], start));
  const best = scores.indexOf(Math.max(...scores));
  const terms = seen
    .map((x, j) => [j, x * model.coefficients[j][best]])
    .filter(([, amount]) => amount !== 0)
    .sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]))
    .map(([j, amount]) => `${columns[j].name} = ${word(columns[j], row[j])} (${amount > 0 ? "+" : ""}${Number(amount.toPrecision(3))})`);
  const label = model.classes[best];
  const [n, share] = [model.n_draws, model.share];
  const text = `${terms.join(" and ") || "always"} → ${classes[label]} (${percent(share, 0)} of ${n.toLocaleString("en")} draws)`;
  return { terms, label, n, share, unit: "draws", text };
}

function word(column, value) {
  if (value === null) return "missing";
  return column.number ? String(Number(value.toPrecision(10))) : column.levels[value];
}

function canAsk(data, set) {
  const known = (region) => (region.kind === "spoken" ? known(region.outer) : region.kind !== "other");
  return set.members.every((m) => data.members[m].explainer.kind !== "other" && known(data.members[m].region));
}

function explain(data, set, row) {
  const { columns, classes } = data;
  const members = set.members.map((m) => data.members[m]);
  const covering = members.map((_, n) => n).filter((n) => contains(members[n].region, row, columns, members[n]));
  // Members are in the order in which they answer.
  const statements = covering.map((n) => ({ explainer: n, rule: ruleOf(members[n], row, columns, classes) }));
  const disagree = new Set(statements.map((one) => one.rule.label)).size > 1;
  const silenced = disagree && set.overlap === "silent";
  const label = statements.length && !silenced ? classes[statements[0].rule.label] : null;
  return { statements, disagree, silenced, label };
}
