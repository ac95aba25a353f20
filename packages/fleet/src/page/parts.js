// What all views share. Anything from tasks and models is inserted as text.

export const POLL_MS = 1500;
export const IDLE_MS = 5000;
export const STATES = {
  queued: "Queued",
  running: "Running",
  waiting: "Waiting",
  success: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
};
export const OTHER_STATES = {
  error: "Failed",
  limit: "Stopped at a limit",
  refused: "Refused",
  set_aside: "Set aside",
};

export const place = (id) => document.getElementById(id);

/** Removes the token from the URL, so that a screenshot of the window does not show it. */
function takeToken() {
  const given = /^#([\w-]{20,})$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    localStorage.setItem("token", given);
    history.replaceState(null, "", "#/");
  }
  return localStorage.getItem("token") ?? "";
}
const token = takeToken();

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export function button(words, click, more = {}) {
  return make("button", { type: "button", click, ...more }, words);
}

/** Sets an element's text only if it differs, so that a selection in it stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export async function ask(path, body) {
  const headers = { authorization: `Bearer ${token}` };
  const sent = body && {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, sent ?? { headers });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

export function tell(text, isSeen = true) {
  setText(place("told"), text);
  place("told").classList.toggle("seen", isSeen && text !== "");
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => tell(""), 6000);
}

/** Runs an action of the user and shows the result. */
export async function act(path, body = {}) {
  try {
    tell((await ask(path, body)).told);
  } catch (error) {
    tell(`That did not work: ${error.message}`);
  }
  dispatchEvent(new Event("acted"));
}

const counted = new Intl.NumberFormat("en");
export const number = (value) => (value === null ? "" : counted.format(value));
export const money = (value) => (value === null ? "" : `$${value.toFixed(value < 1 ? 4 : 2)}`);
export const url = (...parts) => parts.map((part) => encodeURIComponent(part)).join("/");

export function duration(from, to) {
  if (from === null) return "";
  const seconds = Math.max(0, Math.round(((to ?? Date.now()) - from) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function moment(at) {
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  return at === null ? "" : day.format(new Date(at));
}

export function fillState(element, { kind, state }) {
  element.className = `state ${kind}`;
  setText(element, OTHER_STATES[state] ?? STATES[kind]);
}

export function crumbs(links) {
  place("crumbs").replaceChildren(...links.map(([name, href]) => make("a", { href }, name)));
}

export function showLive(running, waiting) {
  const more = waiting > 0 ? ` · ${number(waiting)} waiting for an answer` : "";
  setText(place("live"), `${number(running)} running${more}`);
}
