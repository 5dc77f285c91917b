// Single-key shortcuts. They can be switched off: a user who dictates would press them by speaking.
import {byId, h} from './dom.js';

const KEY = 'faultline-keys';

// [keys, what it does, action]
export function startKeys(rows) {
  const all = [...rows, ['?', 'show these keys', showHelp]];
  byId('keys').append(...all.map(([key, what]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, what))));
  const on = byId('keys-on');
  on.checked = localStorage.getItem(KEY) !== 'off';
  on.addEventListener('change', () => localStorage.setItem(KEY, on.checked ? 'on' : 'off'));
  byId('help').addEventListener('click', showHelp);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && isTyping(event.target)) return event.target.blur();
    if (!on.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
    const row = all.find(([key]) => key === event.key);
    if (!row) return;
    event.preventDefault();
    row[2]();
  });
}

const showHelp = () => byId('help-dialog').showModal();

const isTyping = (element) => element.matches('input:not([type=checkbox]), textarea, select');

// Moves the focus to the row after or before the focused one.
export function moveFocus(step) {
  const rows = [...document.querySelectorAll('main a.row')];
  const at = rows.indexOf(document.activeElement);
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  next?.focus();
}
