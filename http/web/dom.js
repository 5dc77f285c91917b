// Elements from values. Texts of logs and names of hosts and jobs are inserted as text, never as markup.

function add(parent, child) {
  if (Array.isArray(child)) child.forEach((one) => add(parent, one));
  else if (child instanceof Node) parent.append(child);
  else if (child !== null && child !== undefined && child !== false) parent.append(String(child));
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  children.forEach((child) => add(element, child));
  return element;
}

// h('a', {href: '/', click: (event) => ...}, 'text', element, [more], null)
export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

export const byId = (id) => document.getElementById(id);

// A fold that stays open or closed when the page is drawn anew, because it has an id.
export const fold = (id, summary, ...children) =>
  h('details', {id, class: 'fold'}, h('summary', {}, summary), ...children);

// Replaces the old elements by new ones without disturbing a user who reads, types or has unfolded something. The
// content of an element with data-kept stays.
export function redraw(container, ...children) {
  const open = new Set([...container.querySelectorAll('details[id][open]')].map((fold) => fold.id));
  const typed = new Map([...container.querySelectorAll('input[id]')].map((input) => [input.id, input.value]));
  const kept = new Map([...container.querySelectorAll('[data-kept]')].map((element) => [element.id, [...element.childNodes]]));
  const active = container.contains(document.activeElement) ? document.activeElement : null;
  const selection = active instanceof HTMLInputElement ? [active.selectionStart, active.selectionEnd] : null;
  container.replaceChildren();
  add(container, children);
  for (const fold of container.querySelectorAll('details[id]')) fold.open = open.has(fold.id);
  for (const input of container.querySelectorAll('input[id]')) if (typed.has(input.id)) input.value = typed.get(input.id);
  for (const element of container.querySelectorAll('[data-kept]')) element.append(...(kept.get(element.id) ?? []));
  const again = active && (active.id ? byId(active.id) : [...container.querySelectorAll(active.localName)].find((one) => one.isEqualNode(active)));
  again?.focus({preventScroll: true});
  if (again && selection) again.setSelectionRange(...selection);
}

// Told to whoever listens to the page instead of looking at it.
export function say(text) {
  byId('said').textContent = text;
}

// A command to paste, with a button that copies it.
export function command(text, id) {
  const code = h('code', {}, text);
  const button = h('button', {type: 'button', class: 'copy', id, 'aria-label': `Copy the command ${text}`,
    click: async () => {
      const copied = await copy(text, code);
      button.textContent = copied ? 'copied' : 'not copied';
      say(copied ? 'Copied' : 'The browser did not allow copying; the command is selected.');
      setTimeout(() => { button.textContent = 'copy'; }, 2000);
    }}, 'copy');
  return h('div', {class: 'command'}, h('pre', {}, code), button);
}

// Resolves to whether the text was copied; if not, it is selected, to be copied by hand.
async function copy(text, shown) {
  // A page that came without TLS from another machine has no clipboard, and a browser may refuse access to it.
  if (navigator.clipboard && await navigator.clipboard.writeText(text).then(() => true, () => false)) return true;
  getSelection().selectAllChildren(shown);
  return document.execCommand('copy');
}
