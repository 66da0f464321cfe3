// Veto and note: a small file of edits of the fitted choice, which `oleander edit` applies.

function listEdits() {
  const edits = [];
  for (const box of document.querySelectorAll("#edits [data-veto]")) if (box.checked) edits.push({ do: "without", rule: Number(box.dataset.veto) });
  for (const line of document.querySelectorAll("#edits [data-note]")) if (line.value.trim()) edits.push({ do: "note", rule: Number(line.dataset.note), text: line.value.trim() });
  return edits;
}

function renderEditing() {
  const members = membersOf(data.sets[fitted.set]);
  $("edit").hidden = false;
  members.forEach((member, number) => {
    const [title, rule] = [nameOf(members, number, 0), member.rules[0]];
    const veto = h("input", { type: "checkbox", "data-veto": number + 1 });
    const note = h("input", { type: "text", "data-note": number + 1, maxlength: 300, "aria-label": `Note on ${title}` });
    $("edits").append(h("li", {}, h("label", {}, veto, ` veto ${title}`), ": ", rule.terms.join(" and ") || "always", " → ", answerOf(rule.label), " ", h("label", {}, "note ", note)));
  });
  $("export").addEventListener("click", () => {
    const file = new Blob([JSON.stringify({ explainer: data.fingerprint, edits: listEdits() }, null, 1)], { type: "application/json" });
    const address = URL.createObjectURL(file);
    h("a", { href: address, download: "edits.json" }).click();
    URL.revokeObjectURL(address);
  });
}

if (data.fingerprint !== null && fitted.set !== null) renderEditing();
