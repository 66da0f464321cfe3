// The page shows one choice of the trade-off at a time; every part is drawn from it.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const floors = [...new Set(data.cells.map((cell) => cell.min_fidelity))].sort((a, b) => a - b);
const fitted = data.cells.find((cell) => cell.max_explainers === data.start[0] && cell.min_fidelity === data.start[1]);
fitted.fitted = true;
const state = { cell: fitted, floor: fitted.min_fidelity, row: [...data.typical], isTried: false, hit: null, rule: null, sort: { by: "row", down: false } };
const here = () => (state.cell.set === null ? null : data.sets[state.cell.set]);
const membersOf = (set) => set.members.map((m) => data.members[m]);
const areRules = (members) => members.every((member) => member.one);
const count = (n) => n.toLocaleString("en");
const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
// A long name may break after an underscore, and a sign stays with its number.
const name = (text) => h("bdi", {}, text.split(/([≤≥<>=±−+×] [-−]?\d[^\s,]*)/).map((part, i) => (i % 2 ? h("span", { class: "tie" }, part) : join(part.split(/(?<=_)/), () => h("wbr")))));
const join = (parts, between) => parts.flatMap((part, i) => [i ? (typeof between === "function" ? between() : between) : "", part]);
// Up to this many rules are listed at once; of more, the widest few of each explainer.
const [MOST_RULES, WIDEST_RULES] = [20, 12];
// More rules than these are not printed.
const MOST_PRINTED = 60;
// A short answer stays beside its arrow.
const MOST_TIED = 24;
// A longer list of silent rows stays on the screen.
const MOST_LINES_PRINTED = 30;

// A choice that keeps a higher floor than asked for stands on the line of the floor asked for.
function choose(cell, floor = cell.min_fidelity) {
  const member = state.rule === null ? null : here()?.members[state.rule];
  Object.assign(state, { cell, floor });
  // A rule that this choice has too stays selected.
  const place = here()?.members.indexOf(member) ?? -1;
  state.rule = place < 0 ? null : place;
  keepAddress();
  render();
}

// Marks the rows of a rule in every part of the page; the same rule again marks nothing.
function pick(number) {
  state.rule = state.rule === number ? null : number;
  const focused = document.activeElement?.dataset?.pick;
  keepAddress();
  render();
  if (focused !== undefined) document.querySelector(`#list [data-pick="${focused}"]`)?.focus({ preventScroll: true });
}

// The address of the page keeps the choice and the rule: a link to it opens the same view.
function keepAddress() {
  const parts = [
    ...(state.cell === fitted ? [] : [`choice=${state.cell.max_explainers},${state.cell.min_fidelity}`]),
    ...(state.rule === null ? [] : [`rule=${state.rule + 1}`]),
  ];
  if (!parts.length && !/^#(rule|choice)=/.test(location.hash)) return;
  try {
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.href.split("#")[0]);
  } catch {
    // The frame of a notebook has no address.
  }
}

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const [most, floor] = (asked.get("choice") ?? "").split(",").map(Number);
  const cell = data.cells.find((one) => one.max_explainers === most && one.min_fidelity === floor) ?? fitted;
  const number = Number(asked.get("rule")) - 1;
  const n = cell.set === null ? 0 : data.sets[cell.set].members.length;
  Object.assign(state, { cell, floor: cell.min_fidelity, rule: number >= 0 && number < n && Number.isInteger(number) ? number : null });
}

function renderPicked() {
  $("picked").hidden = state.rule === null;
  if (state.rule === null) return;
  const rule = nameOfMember(membersOf(here()), state.rule);
  $("picked").replaceChildren(h("span", {}, h("strong", {}, rule), " is selected: the other parts of the page mark its rows. "), h("button", { type: "button", click: () => pick(state.rule) }, "Clear"));
}

const nameOfMember = (members, number) => (members[number].one ? nameOf(members, number, 0) : `explainer ${number + 1}`);
const pickButton = (number, title) => h("button", { type: "button", class: "plain name", "data-pick": number, "aria-pressed": String(state.rule === number), title: "Mark its rows on the whole page", click: () => pick(number) }, title);

function renderLead() {
  $("lead").replaceChildren(...state.cell.lead.map((text) => h("p", {}, name(text))));
  $("facts").replaceChildren(...state.cell.facts.map((text) => h("li", { class: text.startsWith("Warning") ? "warning" : null }, name(text))));
  for (const button of document.querySelectorAll(".back")) button.hidden = state.cell === fitted;
}

// The colour of an answer; ranges of numbers go from light to dark.
const fillOf = (label) => {
  const place = data.ranges?.indexOf(label) ?? -1;
  if (label === null) return { class: "others" };
  return place < 0 ? { fill: colourOf(label) } : { class: "full", opacity: (0.35 + (0.65 * place) / Math.max(data.ranges.length - 1, 1)).toFixed(2) };
};
// A formula is the answer of one rule alone, so a colour of its own would say nothing.
const answerOf = (label) => h("strong", { class: "answer" }, data.tolerance ? "" : [icon(label), " "], name(data.classes[label]));

function ruleLine(members, number, position, title) {
  const [member, rule] = [members[number], members[number].rules[position]];
  const terms = join(rule.terms.map(name), " and ");
  const premise = terms.length ? ["If ", terms] : "Always";
  const isHit = state.hit === `${number}-${position}`;
  const widest = Math.max(...members.flatMap((one) => one.rules.map(({ bar }) => bar?.[1] ?? 0)));
  const isPicked = member.one && state.rule === number;
  return h("li", { class: ["rule", isHit && "hit", isPicked && "picked"].filter(Boolean).join(" "), "aria-current": isHit ? "true" : null, "data-rule": `${number}-${position}` },
    member.one ? pickButton(number, title) : h("span", { class: "name" }, title), h("span", { class: "premise" }, premise, " ",
      h("span", { class: data.classes[rule.label].length <= MOST_TIED ? "tie" : null }, h("span", { class: "arrow" }, "→ "), answerOf(rule.label))),
    h("div", { class: "sure" }, rule.bar ? drawBar(rule.bar, widest) : null, h("span", { class: rule.unsure ? "evidence unsure" : "evidence" }, rule.evidence)),
    member.one ? histogramsOf(member) : null);
}

// The histogram of the column of each condition, over all rows of the page.
function histogramsOf(member) {
  const drawn = member.region.conditions.map((condition, i) => [condition, member.rules[0].terms[i], data.columns[condition.column]]).filter(([, , column]) => column.bins);
  return drawn.length ? h("div", { class: "figures" }, drawn.map(([condition, term, column]) => h("figure", {}, h("figcaption", { title: term }, name(term)), drawHistogram(column, condition, term)))) : null;
}

function explainerItem(members, number, most) {
  const member = members[number];
  const order = member.rules.map((_, position) => position).sort((a, b) => member.rules[b].n - member.rules[a].n || a - b);
  const line = (position) => ruleLine(members, number, position, `rule ${position + 1}`);
  const rest = order.slice(most);
  const lazily = (title, kind, draw) => h("details", { class: kind, toggle: (event) => {
    if (event.target.open && !event.target.querySelector("ul")) event.target.append(draw());
  } }, h("summary", {}, title));
  const tree = member.explainer.kind === "tree" && member.rules.length > 1;
  return h("li", { class: state.rule === number ? "explainer picked" : "explainer" },
    h("h3", {}, pickButton(number, `Explainer ${number + 1}`), h("span", { class: "soft" }, `: ${member.words}`)),
    h("p", { class: "soft" }, "Where: ", name(member.where), "."),
    h("ul", {}, order.slice(0, most).map(line)),
    rest.length ? lazily(plural(rest.length, "narrower rule"), rest.length > MOST_PRINTED ? "long" : null, () => h("ul", {}, rest.map(line))) : null,
    tree ? lazily(`As a tree of ${member.explainer.column.filter((column) => column < 0).length} leaves`, "tree", () => drawTree(member, sayRule, new Set())) : null,
  );
}

const sayRule = (rule) => [answerOf(rule.label), h("span", { class: "soft" }, ` (${rule.evidence})`)];

function renderRules() {
  const set = here();
  $("search").hidden = !set || state.cell.n_rules <= WIDEST_RULES;
  if (!set) {
    $("reading").textContent = "There are no rules for this choice.";
    $("figures-words").hidden = $("brief").hidden = true;
    $("list").replaceChildren();
    return;
  }
  const members = membersOf(set);
  const rules = areRules(members) ? "rule" : "explainer";
  const hold = areRules(members) ? "Each rule can be read alone: its counts are of all rows where its conditions hold." : "";
  const line = members.find((member) => member.explainer.kind === "line")?.explainer;
  const order = members.length > 1 ? `Where several ${areRules(members) ? "rules hold" : "explainers cover a row"}, the most faithful one answers.` : "";
  const hasBounds = members.some((member) => member.rules.some((rule) => rule.evidence.includes("at least")));
  const bound = hasBounds ? `“At least” is a lower bound${data.confidence ? ` with ${data.confidence} confidence` : ""}, for one rule at a time. ` : "";
  $("reading").textContent = `${hold} ${bound}${order} ${data.within ? `A rule matches the model where its answer is within ${data.within}. ` : ""}Whether the model itself is correct is another question.${line ? " A formula such as 94 − 0.6 × (x − 54) says 94 where x is 54, and 0.6 less for each unit more." : ""}`;
  $("figures-words").hidden = $("brief").hidden = !members.some((member) => member.one);
  const wanted = $("search").hidden ? "" : $("filter").value.trim().toLowerCase();
  const mentions = (member) => [member.where, ...member.features.map((j) => data.columns[j].name), ...member.rules.flatMap((rule) => [data.classes[rule.label], ...rule.terms])]
    .some((text) => text.toLowerCase().includes(wanted));
  const shown = members.map((_, number) => number).filter((number) => mentions(members[number]));
  $("count").textContent = wanted ? `${shown.length} of ${plural(members.length, rules)}` : "";
  const most = state.cell.n_rules > MOST_RULES ? Math.max(1, Math.floor(WIDEST_RULES / members.length)) : MOST_RULES;
  $("list").replaceChildren(...shown.map((number) => members[number].one ? ruleLine(members, number, 0, nameOf(members, number, 0)) : explainerItem(members, number, most)));
}

function renderForm() {
  const set = here();
  if (!set || !canAsk(data, set)) {
    $("form").replaceChildren();
    $("said").replaceChildren(h("p", {}, set ? "These explainers cannot answer in a page; use Python." : "There is no explainer."));
    return;
  }
  // A ball measures the distance along every column.
  const used = membersOf(set).some((member) => member.region.kind === "ball") ? data.columns.map((_, j) => j) : [...new Set(membersOf(set).flatMap((member) => member.features))].sort((a, b) => a - b);
  $("form").replaceChildren(...used.map((j) => {
    const column = data.columns[j];
    const [id, value] = [`field-${j}`, state.row[j]];
    const change = (event) => { read(j, event.target); state.isTried = true; answer(); };
    const hint = usualRange(column);
    const about = { id, "aria-describedby": hint ? `${id}-hint` : null };
    const input = isDate(column)
      ? h("input", { ...about, type: column.kind === "date" ? "date" : "datetime-local", step: 1, value: value === null ? "" : dateText(column, value), input: change })
      : column.number
      ? h("input", { ...about, type: "number", step: column.kind === "integer" ? 1 : "any", value: value ?? "", placeholder: column.missing ? "missing" : "a number", input: change })
      : h("select", { ...about, change }, column.levels.map((level, code) => h("option", { value: code, selected: code === value }, level)), column.missing ? h("option", { value: "", selected: value === null }, "missing") : null);
    const isUsed = state.rule !== null && membersOf(set)[state.rule].features.includes(j);
    return h("div", { class: isUsed ? "field picked" : "field" }, h("label", { for: id }, name(column.name), column.unit ? ` (${column.unit.trim()})` : ""), input, h("small", { id: `${id}-hint`, class: "soft" }, hint));
  }));
  answer();
}

// The bins leave out the ends of a column, in which single rows could be recognised.
function usualRange(column) {
  const [first, last] = [column.bins?.edges?.[0], column.bins?.edges?.at(-1)];
  return first === undefined || first === last ? "" : `most rows: ${word(column, first)} to ${wordWithUnit(column, last)}`;
}

function read(j, input) {
  const column = data.columns[j];
  const text = input.value.trim();
  const value = text === "" ? null : isDate(column) ? daysOf(text) : Number(text);
  // The browser gives no text for half a number or half a date.
  const bad = input.validity.badInput || (value === null ? !column.missing : !Number.isFinite(value));
  input.setAttribute("aria-invalid", String(bad));
  state.row[j] = bad ? undefined : value;
}

function answer() {
  const wrong = state.row.findIndex((value) => value === undefined);
  if (wrong >= 0) {
    $("said").replaceChildren(h("p", {}, name(data.columns[wrong].name), isDate(data.columns[wrong]) ? " needs a date." : " needs a number."));
    return;
  }
  const set = here();
  const members = membersOf(set);
  const explanation = explain(data, set, state.row);
  const head = explanation.label === null ? h("p", { class: "figure none" }, "Silent") : h("p", { class: "figure" }, name(explanation.label));
  const note = !explanation.statements.length
    ? `The rules are silent: ${data.phrases.silent}.`
    : explanation.disagree
      ? data.phrases.disagree
      : "";
  const far = explanation.far.map((text) => h("p", { class: "warning" }, name(`Warning: ${text}.`)));
  if (data.silent_for.length && explanation.label !== null) far.push(h("p", { class: "warning" }, name(`Warning: the rules are silent for ${data.silent_for.join(", ")}.`)));
  const lines = explanation.statements.map((one, i) => h("li", { "data-explainer": one.explainer },
    h("strong", {}, nameOf(members, one.explainer, one.position)), i ? ` also ${areRules(members) ? "holds" : "covers this row"} and says ` : " says ", one.value ? `${one.value}, by ` : "", answerOf(one.rule.label), h("span", { class: "soft" }, ` (${one.rule.evidence})`),
    h("ul", { class: "checks" }, checks(one)), wayThrough(members[one.explainer])));
  const change = findChange(data, set, state.row);
  const changed = change ? h("p", { class: "change" }, name(fill(data.phrases.change, change.label, nameOf(members, change.number, change.position), change.terms))) : "";
  $("said").replaceChildren(head, ...far, note ? h("p", {}, note) : "", changed, h("ul", {}, lines.length ? lines : nearest(members)));
  const [first] = explanation.label === null || !state.isTried ? [] : explanation.statements;
  state.hit = first ? `${first.explainer}-${first.position}` : null;
  for (const line of $("list").querySelectorAll("[data-rule]")) {
    const isHit = line.dataset.rule === state.hit;
    line.classList.toggle("hit", isHit);
    if (isHit) line.setAttribute("aria-current", "true");
    else line.removeAttribute("aria-current");
  }
}

const valueOf = (j) => h("span", { class: "soft" }, " (here ", name(wordWithUnit(data.columns[j], state.row[j])), ")");

// The conditions of the rule that answers, all of which the row meets.
const checks = ({ rule }) => rule.terms.map((term, i) => (rule.columns.length ? h("li", { class: "met" }, name(term), valueOf(rule.columns[i])) : h("li", {}, name(term))));

function wayThrough(member) {
  if (member.explainer.kind !== "tree" || member.explainer.column.length < 2) return null;
  return h("details", { class: "tree", toggle: (event) => {
    if (event.target.open && !event.target.querySelector("ul")) event.target.append(drawTree(member, sayRule, new Set(pathOf(member.explainer, state.row, data.columns))));
  } }, h("summary", {}, "Its way through the tree"));
}

// Of a row without an answer: the rule of which the fewest conditions fail.
function nearest(members) {
  const boxes = members.map((member, number) => ({ member, number })).filter(({ member }) => member.one);
  const fails = (member) => member.region.conditions.map((condition) => !fulfils(condition, state.row[condition.column]));
  const size = ({ member }) => fails(member).filter(Boolean).length;
  const [best] = boxes.sort((one, other) => size(one) - size(other) || one.number - other.number);
  if (best) {
    const [failed, rule] = [fails(best.member), best.member.rules[0]];
    return h("li", {}, "The nearest is ", h("strong", {}, nameOf(members, best.number, 0)), ", which says ", answerOf(rule.label),
      h("ul", { class: "checks" }, rule.terms.map((term, i) => h("li", { class: failed[i] ? "failed" : "met" }, h("span", { class: "sr" }, failed[i] ? "fails: " : "meets: "), name(term), valueOf(rule.columns[i])))));
  }
  return null;
}

function renderLeftOut() {
  const left = here()?.left_out;
  if (!left) {
    $("silent").hidden = true;
    $("left").replaceChildren(h("p", {}, data.n_rows !== null ? "All rows are silent: there is no explainer." : "No rows were given for this page."));
    return;
  }
  const [first, head, ...places] = left.words;
  const parts = [h("p", {}, [first, head ?? ""].join(" ")), h("ul", {}, places.map((text) => h("li", {}, name(text.trim()))))];
  const agreement = data.by_folds ? "answers from the other rows that match" : "answers that match the model";
  const members = membersOf(here());
  const tables = left.by.map((group) => {
    const isJudged = group.lines.some((line) => line.judged !== undefined);
    const held = state.rule === null ? [] : [`${nameOfMember(members, state.rule)} holds`];
    const heads = ["", "rows", "silent", ...(isJudged ? [agreement] : []), ...held];
    const share = (words, part, of, within, least = 0) => h("td", { class: of && part / of < least ? "share unsure" : "share" }, of ? [h("span", {}, words), meter(part / of), h("small", { class: "soft" }, percent(part / of, 0), within ? [" ", h("bdi", { class: "tie" }, `(${within})`)] : "")] : "–");
    const few = (n) => (n === null ? "fewer than 5" : count(n));
    return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": `By ${group.name}` }, h("table", {}, h("caption", {}, "By ", name(group.name)),
      h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, group.lines.map((line) => h("tr", {}, h("th", { scope: "row" }, name(line.value)),
        line.n === undefined
          ? h("td", { colspan: heads.length - 1, class: "soft" }, "fewer than 5 rows, not counted")
          : [h("td", {}, count(line.n)), share(count(line.n - line.answered), line.n - line.answered, line.n, line.silent_within),
             ...(isJudged ? [share(`${count(line.right)} of ${count(line.judged)}`, line.right, line.judged, line.right_within, state.cell.min_fidelity)] : []),
             ...(held.length ? [h("td", { class: "held" }, few(line.held[state.rule]))] : [])])))));
  });
  const isJudged = left.by.some((group) => group.lines.some((line) => line.judged !== undefined));
  const note = data.by_folds ? "Answers that match are those of rules that were learned in the same way from the other rows." : data.is_asked ? "" : "The explainers were chosen on the rows of the fit: agreement on these rows is not agreement on new rows.";
  const intervals = data.has_intervals ? "In the tables, brackets hold the 95% interval of each share, for one share at a time." : data.is_asked ? "Shares have no intervals here, because rows of one group are not independent." : "";
  const under = isJudged ? `Shares below the floor of ${showFloor(state.cell.min_fidelity)} are in the colour of a warning.` : "";
  $("left").replaceChildren(...parts, h("p", { class: "soft" }, `${isJudged ? note : ""} ${intervals} ${under}`), h("div", { class: "tables" }, tables));
  renderSilent();
}

// The rows without an answer, as the list and its file have them.
function silentRows() {
  const set = here();
  if (!set?.silent) return [];
  const members = membersOf(set);
  const { rows, why, reasons } = set.silent;
  const places = new Map(data.listed.rows.map((row, place) => [row, place]));
  return rows.map((row, i) => {
    const [place, [number, misses]] = [places.get(row), reasons[why[i]]];
    const rule = misses ? members[number].rules[0] : null;
    return {
      place,
      name: data.listed.names[place],
      model: data.listed.labels ? data.classes[data.listed.labels[place]] : "",
      number: number ?? -1,
      nearest: rule ? `${nameOf(members, number, 0)}${data.tolerance ? "" : ` → ${data.classes[rule.label]}`}` : "",
      // What decides the order: fewer conditions first, then the rule and the condition.
      order: rule ? [misses.length, number, ...misses] : [99, number ?? 99],
      misses: rule ? misses.map((position) => rule.terms[position]) : [],
      reason: rule ? "" : "no explainer covers the row",
    };
  });
}

const inOrder = (one, other) => {
  for (let i = 0; i < Math.max(one.length, other.length); i += 1) {
    if (one[i] !== other[i]) return (one[i] ?? -1) - (other[i] ?? -1);
  }
  return 0;
};
const ORDERS = {
  row: (one, other) => one.place - other.place,
  model: (one, other) => one.model.localeCompare(other.model),
  nearest: (one, other) => one.number - other.number,
  misses: (one, other) => inOrder(one.order, other.order),
};

function renderSilent() {
  const lines = silentRows();
  $("silent").hidden = !lines.length;
  if (!lines.length) return;
  const isNumber = areRules(membersOf(here()));
  const [by, turn] = [ORDERS[state.sort.by] ?? ORDERS.row, state.sort.down ? -1 : 1];
  lines.sort((one, other) => turn * by(one, other) || ORDERS.row(one, other));
  const all = here().left_out.n;
  $("silent-words").textContent = `${lines.length < all ? `The first ${count(lines.length)} of ${plural(all, "silent row")}` : plural(all, "silent row")}. ${isNumber ? "No rule holds for them; the nearest rule is the one with the fewest conditions that fail." : ""} ${data.listed.values ? "" : "This page holds no values of single rows."}${state.rule === null ? "" : ` ${nameOfMember(membersOf(here()), state.rule)} is the nearest rule of ${plural(lines.filter(({ number }) => number === state.rule).length, "row")} here, which are marked.`}`;
  const heads = [["row", "row"], ...(data.listed.labels ? [["model", "the model says"]] : []), ...(isNumber ? [["nearest", "nearest rule"], ["misses", "conditions that fail"]] : [["misses", "reason"]])];
  const sort = (key) => () => {
    state.sort = { by: key, down: state.sort.by === key && !state.sort.down };
    renderSilent();
    $(`sort-${key}`).focus();
  };
  const head = ([key, text]) => h("th", { scope: "col", "aria-sort": state.sort.by !== key ? null : state.sort.down ? "descending" : "ascending" },
    h("button", { type: "button", class: "plain", id: `sort-${key}`, click: sort(key) }, text, h("span", { "aria-hidden": "true" }, state.sort.by !== key ? " ↕" : state.sort.down ? " ↓" : " ↑")));
  const begin = (place) => () => {
    Object.assign(state, { row: [...data.listed.values[place]], isTried: true });
    renderForm();
    $("try").scrollIntoView();
    $("form").querySelector("input, select")?.focus();
  };
  const line = (one) => h("tr", { class: state.rule !== null && one.number === state.rule ? "picked" : null }, h("th", { scope: "row" }, name(String(one.name)), data.listed.values ? [" ", h("button", { type: "button", class: "plain", click: begin(one.place) }, "try")] : null),
    data.listed.labels ? h("td", { class: "words" }, name(one.model)) : null,
    isNumber ? h("td", { class: "words" }, name(one.nearest)) : null,
    h("td", { class: "words" }, one.misses.length ? join(one.misses.map(name), " and ") : one.reason));
  $("silent-list").replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, heads.map(head))), h("tbody", {}, lines.map(line))));
  $("silent").classList.toggle("long", lines.length > MOST_LINES_PRINTED);
}

// A cell of a CSV file. A spreadsheet would run text that begins like a formula.
const csvCell = (value) => {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

function silentFile() {
  const lines = silentRows().map((one) => [one.name, one.model, one.nearest, one.misses.join(" and ") || one.reason]);
  // The mark at the beginning tells spreadsheets how the text is encoded.
  return `\ufeff${[["row", "model", "nearest_rule", "misses"], ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

function download() {
  const address = URL.createObjectURL(new Blob([silentFile()], { type: "text/csv" }));
  h("a", { href: address, download: "silent-rows.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function meter(share) {
  const bar = s("svg", { viewBox: "0 0 60 8", width: 60, height: 8, "aria-hidden": "true" });
  bar.append(s("rect", { width: 60, height: 8, class: "empty" }), s("rect", { width: 60 * share, height: 8, class: "full" }));
  return bar;
}

function renderTradeOff() {
  const { cell } = state;
  const line = choicesAt(data.cells, state.floor);
  const place = line.indexOf(cell);
  const member = state.rule === null ? null : here()?.members[state.rule];
  const hasPicked = (other) => member !== null && other.set !== null && data.sets[other.set].members.includes(member);
  $("chart").replaceChildren(drawChart(data.cells, floors, cell, state.floor, choose, hasPicked));
  $("floor").replaceChildren(...floors.map((floor) => h("option", { value: floor, selected: floor === state.floor }, showFloor(floor))));
  $("budget").max = Math.max(line.length - 1, 0);
  $("budget").value = Math.max(place, 0);
  $("budget").disabled = line.length < 2;
  $("budget-out").textContent = cell.set === null ? "none" : count(cell.n_rules);
  $("budget").setAttribute("aria-valuetext", plural(cell.n_rules, "rule"));
  $("cell-note").textContent = `${cell.lead[0]}${cell === fitted ? " This is the fitted choice." : ""}`;
  $("call").textContent = `max_explainers=${cell.max_explainers}, min_fidelity=${cell.min_fidelity}\n--max-explainers ${cell.max_explainers} --min-fidelity ${cell.min_fidelity}`;
  $("shade").hidden = !data.cells.some((other) => other.set !== null && other.most > other.coverage + 1e-9);
  // As the lines: the widest choice that keeps the floor with as many explainers; the fitted one stands for itself.
  const best = (number, floor) => data.cells.find((other) => other === fitted && other.max_explainers === number && other.min_fidelity === floor)
    ?? data.cells.filter((other) => other.set !== null && other.max_explainers <= number && other.min_fidelity >= floor).reduce((one, other) => (one && one.coverage >= other.coverage ? one : other), null);
  const show = (found) => h("td", { class: found === cell ? "here" : null }, found?.set == null ? "–" : percent(found.coverage), found === fitted ? " *" : "");
  const numbers = [...new Set(data.cells.map((other) => other.max_explainers))].sort((a, b) => a - b);
  $("cells").replaceChildren(h("table", {}, h("caption", {}, "Share of rows answered, by floor"),
    h("thead", {}, h("tr", {}, [`${data.is_asked ? "rules" : "explainers"}, at most`, ...floors.map((floor) => `≥ ${showFloor(floor)}`)].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, numbers.map((number) => h("tr", {}, h("th", { scope: "row" }, count(number)), floors.map((floor) => show(best(number, floor))))))),
    h("p", { class: "soft" }, "* the fitted choice."));
}

function renderPicture() {
  const set = here();
  $("plot").replaceChildren();
  $("legend").replaceChildren();
  if (!set?.picture) {
    $("picture-words").textContent = data.n_rows === null ? "No rows were given for this page, so there is no picture." : "There is no rule for this choice.";
    return;
  }
  const members = membersOf(set);
  const { lines } = set.picture;
  const rank = (label) => (label === null ? Infinity : data.ranges ? data.ranges.indexOf(label) : label);
  for (const line of lines) line.by?.sort(([one], [other]) => rank(one) - rank(other));
  const hasLabels = lines.some(({ by }) => by);
  $("picture-words").replaceChildren(`All ${plural(data.n_rows, "row")} of this page. Each line is one combination of rules: dots are the rules that hold, the bar is the rows for which exactly these hold${hasLabels ? ", coloured by what the model says" : ""}. The smallest combinations are counted together. `,
    h("span", { class: "screen" }, "Select a rule by its number to mark its rows on the whole page."));
  $("plot").replaceChildren(drawPicture(set.picture, set.totals, members.map((_, number) => nameOfMember(members, number)), data.classes, fillOf, state.rule, pick));
  const labels = [...new Set(lines.flatMap(({ by }) => (by ?? []).map(([label]) => label)))].sort((a, b) => rank(a) - rank(b));
  $("legend").replaceChildren(...labels.map((label) => h("li", {}, h("span", { class: "swatch" }, s("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, s("rect", { width: 12, height: 12, ...fillOf(label) }))), " ", label === null ? "several answers, or fewer than 5 rows with one" : name(shorten(data.classes[label], 48)))));
}

function renderColumns() {
  const set = here();
  const decided = set?.decided;
  const answered = set?.left_out ? set.left_out.of - set.left_out.n : 0;
  $("columns-words").textContent = decided ? `A row counts for a column if the rule that answers the row uses the column. ${plural(answered, "row")} on this page have an answer.` : "What the columns may hold.";
  const order = data.columns.map((_, j) => j).sort((a, b) => (decided ? decided[b] - decided[a] : 0) || a - b);
  const used = new Set(state.rule === null ? [] : membersOf(set)[state.rule].features);
  const heads = ["column", ...(decided ? ["rows it decides"] : []), "values"];
  const valuesOf = ({ kind, values, missing }) => `${kind === "integer" ? "whole numbers" : values}${missing ? ", may be missing" : ""}`;
  const line = (j) => {
    const column = data.columns[j];
    const own = column.own_name === column.name ? null : h("small", { class: "soft own" }, name(column.own_name));
    return h("tr", { class: used.has(j) ? "picked" : null }, h("th", { scope: "row" }, name(column.name), own),
      decided ? h("td", { class: "share" }, count(decided[j]), meter(answered ? decided[j] / answered : 0)) : null,
      h("td", { class: "words" }, name(valuesOf(column)), h("small", { class: "soft" }, name(usualRange(column)))));
  };
  const table = (columns) => h("table", {}, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, columns.map(line)));
  const isUsed = (j) => !decided || decided[j] > 0 || used.has(j);
  const [first, others] = [order.filter(isUsed), order.filter((j) => !isUsed(j))];
  // Paper has no room for columns that no rule uses.
  $("schema").replaceChildren(first.length ? table(first) : "", others.length ? h("details", { class: "long" }, h("summary", {}, plural(others.length, "column that decides no row", "columns that decide no row")), table(others)) : "");
}

function renderMaking() {
  $("making").replaceChildren(h("ol", {}, data.made.map((text) => h("li", {}, text))));
}

function render() {
  renderLead();
  renderRules();
  renderForm();
  renderLeftOut();
  renderTradeOff();
  renderPicture();
  renderPicked();
  renderColumns();
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = dark ? "Light" : "Dark";
}

$("floor").addEventListener("change", () => {
  const floor = Number($("floor").value);
  const line = choicesAt(data.cells, floor);
  // The choice with about as much to read; where no choice reaches the floor, the cell that says so.
  choose(line.findLast((cell) => cell.n_rules <= Math.max(state.cell.n_rules, line[0].n_rules)) ?? data.cells.findLast((cell) => cell.min_fidelity === floor), floor);
});
$("budget").addEventListener("input", () => choose(choicesAt(data.cells, state.floor)[Number($("budget").value)], state.floor));
for (const button of document.querySelectorAll(".back")) button.addEventListener("click", () => choose(fitted));
$("filter").addEventListener("input", renderRules);
addEventListener("hashchange", () => {
  if (!/^#(rule|choice)=/.test(location.hash)) return;
  readAddress();
  render();
});
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => {
    // A plain link would take the selection out of the address.
    if (state.rule === null && state.cell === fitted) return;
    event.preventDefault();
    const part = document.querySelector(link.getAttribute("href"));
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
    part.scrollIntoView();
  });
}
$("brief").addEventListener("click", () => {
  const isBrief = $("rules").classList.toggle("brief");
  $("brief").textContent = isBrief ? "Show the histograms" : "Hide the histograms";
});
$("download").addEventListener("click", download);
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
$("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
for (const rem of [46, 64]) matchMedia(`(max-width: ${rem}rem)`).addEventListener("change", () => { renderLeftOut(); renderTradeOff(); renderPicture(); });
addEventListener("beforeprint", () => {
  // The rules of a tree are listed beside it, and longer lists stay closed on paper.
  for (const part of document.querySelectorAll("details:not(.tree, .tree *, .long)")) {
    part.open = true;
    // The browser sends this event only after printing has begun, and rules are drawn on it.
    part.dispatchEvent(new Event("toggle"));
  }
});
renderMaking();
readAddress();
render();
if (state.rule !== null) document.querySelector("#list .picked")?.scrollIntoView({ block: "center" });
