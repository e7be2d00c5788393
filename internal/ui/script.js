// The page works without this script; with it, what changes comes up by itself. Nothing here approves anything.
"use strict";
const events = new EventSource("events");
events.addEventListener("change", async () => {
  const answer = await fetch("", { cache: "no-store" });
  if (!answer.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const section of next.querySelectorAll("section[id]")) {
    const shown = document.getElementById(section.id);
    if (!shown || shown.innerHTML === section.innerHTML) continue;
    const focused = document.activeElement && document.activeElement.id;
    const open = [...shown.querySelectorAll("details[open]")].map(d => d.id);
    shown.innerHTML = section.innerHTML;
    for (const id of open) if (id && document.getElementById(id)) document.getElementById(id).open = true;
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
  }
  const waiting = document.querySelectorAll("article.question").length;
  document.title = (waiting ? "(" + waiting + ") " : "") + "Bouncer";
});
