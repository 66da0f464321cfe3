// The page shows one cell of the trade-off at a time; every part is drawn from that cell.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const numbers = [...new Set(data.cells.map((cell) => cell.max_explainers))].sort((a, b) => a - b);
const floors = [...new Set(data.cells.map((cell) => cell.min_fidelity))].sort((a, b) => a - b);
const cellAt = (number, floor) => data.cells.find((cell) => cell.max_explainers === number && cell.min_fidelity === floor);
const fitted = cellAt(...data.start);
const state = { cell: fitted, row: [...data.typical] };
const setOf = (cell) => (cell.set === null ? null : data.sets[cell.set]);
const membersOf = (set) => set.members.map((m) => data.members[m]);
const plural = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const name = (text) => h("bdi", {}, text);

function unpack(text, kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return kind === "bits" ? bytes : new Int16Array(bytes.buffer);
}

// A lower bound is never rounded up.
const atLeast = (share) => `${(Math.floor(share * 1000 + 1e-9) / 10).toFixed(1)}%`;
// An upper bound is never rounded down.
const atMost = (share) => `${(Math.ceil(share * 1000 - 1e-9) / 10).toFixed(1)}%`;
// Only a program that chooses explainers has a time limit.
const ranOut = (cell) => cell.status === "unknown" && !setOf(fitted)?.in_turn;

function choose(cell) {
  state.cell = cell;
  render();
}

function renderTiles() {
  const { cell } = state;
  const set = setOf(cell);
  const tile = (id, title, figure, ...lines) =>
    h("div", { class: "tile", id }, h("h2", {}, title), h("p", { class: /\d/.test(figure) || figure.length < 4 ? "figure" : "figure words" }, figure), ...lines.filter(Boolean).map((line) => h("p", {}, line)));
  if (!set) {
    const reason = cell.status === "withheld" ? "Not shown, because an explainer of this choice is a ball around a row of the data" : ranOut(cell) ? "The search ran out of time before it found an explainer" : "No explainer reaches the floor";
    $("tiles").replaceChildren(tile("tile-none", "Answers", "0%", `${reason}: at most ${cell.max_explainers} explainers, floor ${cell.min_fidelity}.`));
    return;
  }
  const certificate = cell === fitted ? data.certificate : null;
  const rules = membersOf(set).reduce((sum, member) => sum + member.size, 0);
  const judgedOn = set.in_turn ? "of the rows that judged them" : "of the rows they were chosen on";
  const asked = percent(cell.min_fidelity, cell.min_fidelity * 100 % 1 ? 1 : 0);
  const sure = certificate && certificate.coverage && `Certified: at least ${atLeast(certificate.coverage.bound)} (${certificate.coverage.n_right} of ${certificate.coverage.n_rows} ${certificate.unit} that nothing was learned from).`;
  const right = certificate && (certificate.answers_words.startsWith("not")
    ? `Not certified: too few held-out ${certificate.unit} are answered.`
    : `Certified: at least ${atLeast(certificate.answers.bound)} (${certificate.answers.n_right} of ${certificate.answers.n_rows} ${certificate.unit} that nothing was learned from)${certificate.answers.bound < cell.min_fidelity ? `, less than the floor of ${asked}` : ""}.`);
  const spent = cell !== fitted && data.certificate && "Not certified: the certificate is about the fitted choice only.";
  const lowest = "is the lowest agreement of an explainer with the model";
  const near = set.in_turn
    ? cell.status === "certified"
      ? ["Certified", "Learned from draws, synthetic rows that the model labelled; judged on rows that nothing was learned from."]
      : ["Judged", "Learned from draws, synthetic rows that the model labelled; judged on rows that nothing was learned from, but not certified."]
    : cell.status === "optimal"
    ? ["Best possible", "Proven: no choice of as many candidates covers more rows."]
    : [`≤ ${atMost(cell.most)}`, "No choice of as many candidates covers more than this; the search stopped before closing the gap."];
  const plain = data.verdict.find((line) => line.answer === "one plain tree");
  const enough = plain && plain.bound >= cell.min_fidelity;
  const one = plain
    ? [enough ? "Yes" : "No", `It would answer every row, ${percent(plain.agreement)} of them as the model does (lower bound ${atLeast(plain.bound)}); the floor is ${asked}.`]
    : ["Not judged", ""];
  $("tiles").replaceChildren(
    tile("tile-coverage", "Answers", percent(cell.coverage), judgedOn, sure),
    set.in_turn
      ? tile("tile-fidelity", "Agreement", percent(cell.agreement), `of the answers are the model's; the floor is ${asked}.`, right, spent)
      : tile("tile-fidelity", "Fidelity", percent(cell.fidelity), `${lowest}; the floor is ${asked}. Their answers are the model's on ${percent(cell.agreement)} of the rows they cover.`, right, spent),
    tile("tile-number", "Explainers", String(set.members.length), `local explainers, ${plural(rules, "rule", "rules")} to read in all.`),
    tile("tile-best", set.in_turn ? "Evidence" : "How near to the best", near[0], near[1]),
    tile("tile-tree", "Is one plain tree enough?", one[0], one[1]),
  );
}

function renderTradeOff() {
  const { cell } = state;
  $("chart").replaceChildren(drawChart(data.cells, numbers, floors, cell, choose));
  $("k").value = numbers.indexOf(cell.max_explainers);
  $("phi").value = floors.indexOf(cell.min_fidelity);
  $("k-out").textContent = cell.max_explainers;
  $("phi-out").textContent = cell.min_fidelity;
  $("k").setAttribute("aria-valuetext", `at most ${cell.max_explainers}`);
  $("phi").setAttribute("aria-valuetext", `at least ${cell.min_fidelity}`);
  $("cell-note").textContent =
    cell.set === null
      ? cell.status === "withheld" ? "Not shown, because it would show a row of the data." : ranOut(cell) ? "No explainer was found in time." : "No explainer reaches this floor."
      : `${percent(cell.coverage)} answered by ${plural(setOf(cell).members.length, "explainer", "explainers")}` +
        (cell === fitted ? `. This is the fitted choice${data.certificate ? ", which is certified" : ""}.` : ". This is another choice than the fitted one.");
  $("shade").hidden = !data.cells.some((other) => other.set !== null && other.most > other.coverage + 1e-9);
  $("back").hidden = cell === fitted;
  const head = h("tr", {}, h("th", { scope: "col" }, "explainers, at most"), floors.map((floor) => h("th", { scope: "col" }, `≥ ${floor}`)));
  const lines = numbers.map((number) =>
    h("tr", {}, h("th", { scope: "row" }, String(number)), floors.map((floor) => {
      const other = cellAt(number, floor);
      return h("td", { class: other === cell ? "here" : null }, !other || other.set === null ? "–" : percent(other.coverage));
    })),
  );
  $("cells").replaceChildren(h("table", {}, h("caption", {}, "Share of rows answered"), h("thead", {}, head), h("tbody", {}, lines)));
}

function ruleItem(rule, member) {
  const isLinear = member.explainer.kind === "linear";
  const terms = rule.terms.flatMap((term, i) => [i ? (isLinear ? ", " : " and ") : "", name(term)]);
  const [before, after] = isLinear ? ["Score of ", ": "] : ["If ", ", the model says "];
  const label = h("strong", {}, name(data.classes[rule.label]));
  const size = h("span", { class: "soft" }, ` (${percent(rule.share, 0)} of ${plural(rule.n, rule.unit.slice(0, -1), rule.unit)})`);
  if (isLinear) return h("li", {}, before, label, after, terms.length ? terms : "none");
  return h("li", {}, terms.length ? [before, terms, after] : "The model says ", label, size);
}

function card(member, number) {
  const figure = (text, value) => h("div", {}, h("dt", {}, text), h("dd", {}, value));
  const icon = s("svg", { viewBox: "-8 -8 16 16", width: 18, height: 18, "aria-hidden": "true" }, marker(number, 6));
  const rules = [...member.rules].sort((one, other) => other.n - one.n);
  const [first, rest] = [rules.slice(0, 5), rules.slice(5)];
  const list = (some) => h("ul", { class: "rules" }, some.map((rule) => ruleItem(rule, member)));
  return h("article", { class: "card", "aria-label": `Explainer ${number}` },
    h("h3", {}, icon, ` Explainer ${number}`),
    h("dl", {},
      figure("rows", member.support.toLocaleString("en")),
      figure(`agreement, rows it ${setOf(state.cell).in_turn ? "answers" : "was chosen on"}`, percent(member.fidelity)),
      member.bound !== null && member.bound !== member.fidelity ? figure("lower bound", atLeast(member.bound)) : null,
      figure(member.explainer.kind === "linear" ? "weights" : "rules", String(member.size)),
    ),
    member.claim ? h("p", { class: "soft" }, `On held-out rows: ${member.claim}.`) : null,
    h("p", {}, "Region: ", name(member.where), "."),
    h("p", {}, "Columns: ", member.features.length ? member.features.flatMap((j, i) => [i ? ", " : "", name(data.columns[j].name)]) : "none", "."),
    list(first),
    rest.length ? h("details", {}, h("summary", {}, `${rest.length} rarer rules`), list(rest)) : null,
    member.explainer.kind === "tree" && member.explainer.column.length > 1
      ? h("details", { class: "tree", toggle: (event) => {
          const place = event.target.querySelector(".scroll");
          if (event.target.open && !place.firstChild) place.append(drawTree(member.explainer, data.classes));
        } }, h("summary", {}, "The tree"), h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "The tree; scroll to see all of it" }))
      : null,
  );
}

function renderCards() {
  const { cell } = state;
  const set = setOf(cell);
  if (!set) {
    $("reading").textContent = "There are no explainers for this choice.";
    $("cards").replaceChildren();
    $("count").textContent = "";
    return;
  }
  const n = set.members.length;
  $("reading").textContent =
    (set.overlap === "silent"
      ? "Each explainer is valid in one region. Where several explainers cover a row and disagree, no answer is given."
      : "Each explainer is valid in one region. Where several explainers cover a row, the first one answers.") +
    (membersOf(set).some((member) => member.rules.some((rule) => rule.unit === "draws")) ? " A draw is a synthetic row that the model labelled." : "");
  const wanted = $("filter").value.trim().toLowerCase();
  const mentions = (member) =>
    [member.where, ...member.features.map((j) => data.columns[j].name), ...member.rules.flatMap((rule) => [data.classes[rule.label], ...rule.terms])]
      .some((text) => text.toLowerCase().includes(wanted));
  const key = { number: (_, i) => i, support: (m) => -m.support, fidelity: (m) => -(m.fidelity ?? 0), size: (m) => m.size }[$("sort").value];
  const shown = membersOf(set).map((member, i) => [member, i]).filter(([member]) => mentions(member));
  shown.sort((one, other) => key(...one) - key(...other) || one[1] - other[1]);
  $("count").textContent = shown.length === n ? plural(n, "explainer", "explainers") : `${shown.length} of ${n}`;
  $("cards").replaceChildren(...shown.map(([member, i]) => card(member, i)));
}

function renderMap() {
  const set = setOf(state.cell);
  if (!data.map) {
    $("map-words").textContent = "No rows were given for this page, so there is no map.";
    return;
  }
  const { points, grid, labels, rows, n_rows } = data.map;
  const some = points.length < n_rows ? `${points.length.toLocaleString("en")} random rows of ${n_rows.toLocaleString("en")}` : plural(n_rows, "row", "rows");
  $("map-words").textContent = `${some}, in the plane in which they differ most. Near points are similar rows. A cross is a row without an answer.`;
  const responsible = set ? unpack(set.responsible, "numbers") : new Int16Array(points.length).fill(-1);
  const covers = set ? set.covers.map((text) => unpack(text, "bits")) : [];
  const [width, height, edge] = [isNarrow() ? 400 : 620, isNarrow() ? 340 : 430, 16];
  const x = (place) => edge + (place[0] / grid) * (width - 2 * edge);
  const y = (place) => height - edge - (place[1] / grid) * (height - 2 * edge);
  const counts = new Map();
  for (const n of responsible) counts.set(n, (counts.get(n) ?? 0) + 1);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `A map of ${some}; the list beside it counts the rows of each explainer.` });
  const place = (i) => ({ transform: `translate(${x(points[i]).toFixed(1)} ${y(points[i]).toFixed(1)})`, "data-i": i });
  const order = [...points.keys()].sort((a, b) => (responsible[a] < 0 ? 1 : 0) - (responsible[b] < 0 ? 1 : 0));
  for (const i of order) svg.append(responsible[i] < 0 ? cross(4, place(i)) : marker(responsible[i], 4, place(i)));
  const tip = h("div", { class: "tip", role: "status", hidden: true });
  const showTip = (event) => {
    const i = event.target.dataset?.i;
    tip.hidden = i === undefined;
    if (tip.hidden) return;
    const inside = covers.map((bits, n) => [bits, n]).filter(([bits]) => (bits[i >> 3] >> (i & 7)) & 1).map(([, n]) => n);
    tip.replaceChildren(
      h("p", {}, responsible[i] < 0 ? "No answer." : `Explainer ${responsible[i]} answers.`),
      h("p", {}, inside.length ? `Covered by ${inside.join(", ")}.` : "No explainer covers this row."),
      labels ? h("p", {}, "The model's answer is ", name(data.classes[labels[i]]), ".") : "",
      rows ? h("p", {}, rows[i].map((value, j) => h("span", { class: "cellvalue" }, name(`${data.columns[j].name} = ${value}`)))) : "",
    );
    const box = $("plot").getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - 220);
    tip.style.setProperty("left", `${Math.max(left, 0)}px`);
    tip.style.setProperty("top", `${event.clientY - box.top + 14}px`);
  };
  svg.addEventListener("mouseover", showTip);
  svg.addEventListener("mouseleave", () => { tip.hidden = true; });
  $("plot").replaceChildren(svg, tip);
  const line = (n, text) =>
    h("li", {}, s("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" }, n < 0 ? cross(4) : marker(n, 5)), ` ${text}: ${plural(counts.get(n) ?? 0, "row", "rows")}`);
  const listed = set ? set.members.map((_, n) => n).filter((n) => counts.get(n)) : [];
  $("legend").replaceChildren(h("ul", { class: "legend" }, listed.map((n) => line(n, `explainer ${n} answers`)), line(-1, "no answer")));
}

function renderLeftOut() {
  const set = setOf(state.cell);
  const left = set && set.left_out;
  if (!left) {
    $("left").replaceChildren(h("p", {}, data.map ? "No row is answered: there is no explainer." : "No rows were given for this page."));
    return;
  }
  const parts = [h("p", {}, `Of ${plural(left.of, "row", "rows")} on this page, ${left.n.toLocaleString("en")} (${percent(left.n / left.of)}) have no answer.`)];
  if (left.rules.length && left.n) {
    parts.push(h("p", {}, "Most of them are where:"));
    parts.push(h("ul", {}, left.rules.map((rule) => h("li", {}, rule.terms.length ? rule.terms.flatMap((term, i) => [i ? " and " : "", name(term)]) : "everywhere", h("span", { class: "soft" }, ` (${percent(rule.share, 0)} of ${plural(rule.n, "row", "rows")} there have no answer)`)))));
  } else if (left.n) parts.push(h("p", {}, "No small tree separates them from the answered rows."));
  const tables = left.by.map((group) =>
    h("table", {}, h("caption", {}, "By ", name(group.name)),
      h("thead", {}, h("tr", {}, ["", "rows", "no answer", "share"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, group.lines.map((line) => h("tr", {}, h("th", { scope: "row" }, name(line.value)),
        line.n === undefined
          ? h("td", { colspan: 3, class: "soft" }, "fewer than 5 rows, not counted")
          : [h("td", {}, line.n.toLocaleString("en")), h("td", {}, line.left.toLocaleString("en")), h("td", { class: "share" }, percent(line.left / line.n, 0), meter(line.left / line.n))]))),
    ));
  $("left").replaceChildren(...parts, h("div", { class: "tables" }, tables));
}

function meter(share) {
  const bar = s("svg", { viewBox: "0 0 60 8", width: 60, height: 8, "aria-hidden": "true" });
  bar.append(s("rect", { width: 60, height: 8, class: "empty" }), s("rect", { width: 60 * share, height: 8, class: "full" }));
  return bar;
}

function renderForm() {
  const set = setOf(state.cell);
  if (!set || !canAsk(data, set)) {
    $("form").replaceChildren();
    $("said").replaceChildren(h("p", {}, set ? "These explainers cannot answer in a page; use Python." : "There is no explainer."));
    return;
  }
  const used = [...new Set(membersOf(set).flatMap((member) => member.features))].sort((a, b) => a - b);
  const fields = used.map((j) => {
    const column = data.columns[j];
    const id = `field-${j}`;
    const value = state.row[j];
    const change = (event) => { read(j, event.target); answer(); };
    const input = column.number
      ? h("input", { id, type: "number", step: column.kind === "integer" ? 1 : "any", value: value ?? "", placeholder: column.missing ? "missing" : "a number", input: change })
      : h("select", { id, change }, column.levels.map((level, code) => h("option", { value: code, selected: code === value }, level)), column.missing ? h("option", { value: "", selected: value === null }, "missing") : null);
    return h("div", { class: "field" }, h("label", { for: id }, name(column.name)), input);
  });
  $("form").replaceChildren(...fields);
  answer();
}

function read(j, input) {
  const column = data.columns[j];
  const text = input.value.trim();
  const bad = text === "" ? !column.missing : !Number.isFinite(Number(text));
  input.setAttribute("aria-invalid", String(bad));
  state.row[j] = bad ? undefined : text === "" ? null : Number(text);
}

function answer() {
  const wrong = state.row.findIndex((value) => value === undefined);
  if (wrong >= 0) {
    $("said").replaceChildren(h("p", {}, name(data.columns[wrong].name), " needs a number."));
    return;
  }
  const explanation = explain(data, setOf(state.cell), state.row);
  const head = explanation.label === null ? h("p", { class: "figure none" }, "No answer") : h("p", { class: "figure" }, name(explanation.label));
  const note = !explanation.statements.length
    ? "No explainer covers this row: no answer is given."
    : explanation.silenced
      ? "The explainers disagree: no answer is given."
      : explanation.disagree
        ? "The explainers disagree; the first one answers."
        : "";
  const set = setOf(state.cell);
  const judgedOn = set.in_turn ? "it answers" : "it was chosen on";
  const lines = explanation.statements.map((one) => h("li", { "data-explainer": one.explainer },
    h("strong", {}, `Explainer ${one.explainer}`), ` (agrees with the model on ${percent(data.members[set.members[one.explainer]].fidelity)} of the rows ${judgedOn}): `, name(one.rule.text)));
  $("said").replaceChildren(head, note ? h("p", {}, note) : "", h("ul", {}, lines));
}

function renderMaking() {
  const rows = data.made.map(([title, text]) => h("div", {}, h("dt", {}, title), h("dd", {}, text)));
  const { certificate, verdict } = data;
  const figures = (line) => (line.coverage === 0
    ? h("td", { colspan: 3, class: "soft" }, `reaches ${data.start[1]} on no share of the rows`)
    : [percent(line.coverage), percent(line.agreement), atLeast(line.bound)].map((share) => h("td", {}, share)));
  $("making").replaceChildren(
    h("dl", { class: "made" }, rows),
    certificate
      ? h("p", {}, `Certificate: exact (Clopper–Pearson) lower bounds, counted on ${certificate.unit} that nothing was learned from, which hold together with ${percent(certificate.confidence, 0)} confidence. Fewer ${certificate.unit} give lower bounds.`)
      : h("p", {}, "Nothing is certified."),
    h("table", {}, h("caption", {}, "What one tree would do, on rows that it was not grown on"),
      h("thead", {}, h("tr", {}, ["tree", "coverage", "agreement", "lower bound"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, verdict.map((line) => h("tr", {}, h("th", { scope: "row" }, line.answer), figures(line))))),
  );
}

function render() {
  renderTiles();
  renderTradeOff();
  renderCards();
  renderMap();
  renderLeftOut();
  renderForm();
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = dark ? "Light" : "Dark";
}

$("k").max = numbers.length - 1;
$("phi").max = floors.length - 1;
const move = () => choose(cellAt(numbers[Number($("k").value)], floors[Number($("phi").value)]));
$("k").addEventListener("input", move);
$("phi").addEventListener("input", move);
$("back").addEventListener("click", () => choose(fitted));
$("sort").addEventListener("change", renderCards);
$("filter").addEventListener("input", renderCards);
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
$("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
matchMedia("(max-width: 46rem)").addEventListener("change", render);
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) {
    part.open = true;
    // The browser sends this event only after printing has begun, and a tree is drawn on it.
    part.dispatchEvent(new Event("toggle"));
  }
});
renderMaking();
render();
