// The page of `burin fleet serve`: decides which view is shown and when it is updated.

import { runsView, runView } from "./lists.js";
import { IDLE_MS, place, setText } from "./parts.js";
import { TaskView } from "./task.js";

let view = null;
let timer;
let round = 0;

/** Loads the data of the current view, and again after a pause. Only one request runs at a time. */
async function poll() {
  clearTimeout(timer);
  round += 1;
  const own = round;
  let wait = IDLE_MS;
  try {
    wait = await view.refresh();
    place("banner").hidden = true;
  } catch (error) {
    const words = { 401: "This address does not work any more. Open the one that burin fleet serve prints." };
    const isAnswer = error.status !== undefined;
    setText(
      place("banner"),
      words[error.status] ??
        (isAnswer ? error.message : "The server does not answer. Is burin fleet serve running?"),
    );
    place("banner").hidden = false;
  }
  if (own === round && !document.hidden) timer = setTimeout(poll, wait);
}

function open() {
  const [path, query = ""] = location.hash.slice(2).split("?");
  const [kind, name = ""] = path.split("/").map(decodeURIComponent);
  const isFirst = view === null;
  if (kind === "task") view = new TaskView(name);
  else if (kind === "run") view = runView(name, new URLSearchParams(query));
  else view = runsView(new URLSearchParams(query));
  document.title = name === "" ? "Burin fleet" : `${name} – Burin fleet`;
  if (!isFirst) document.querySelector("h1").focus();
  void poll();
}

addEventListener("hashchange", open);
addEventListener("acted", poll);
document.addEventListener("visibilitychange", () => document.hidden || poll());
place("skip").addEventListener("click", (event) => {
  event.preventDefault();
  place("main").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  place("search")?.focus();
});
open();
