// A filter of a list. It stands in the address, so that a link shows the same.
import {h} from './dom.js';
import {count} from './words.js';

export const MOST_SHOWN = 500;  // rows at once

export const asked = (name) => new URLSearchParams(location.search).get(name) ?? '';

export function remember(name, value) {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  history.replaceState(history.state, '', url);
}

// changed(): the list is to be drawn anew.
export function searchBox(label, changed) {
  const input = h('input', {id: 'search', type: 'search', placeholder: label, 'aria-label': label,
    'aria-keyshortcuts': '/', autocomplete: 'off', spellcheck: 'false',
    input: () => {
      remember('q', input.value.trim());
      changed();
    }});
  input.value = asked('q');
  return h('div', {role: 'search'}, input);
}

// Whether all words that are searched for stand in one of the texts.
export function matches(...texts) {
  const text = texts.join(' ').toLowerCase();
  return asked('q').toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

// Below a list: what it leaves out. `unread`: in words, what the server has besides; false where it has none.
export const leftOut = (rows, unread) => [
  rows.length > MOST_SHOWN && h('p', {class: 'dim'},
    `The first ${MOST_SHOWN} are shown, ${count(rows.length - MOST_SHOWN, 'more is', 'more are')} not; search for them.`),
  unread && h('p', {class: 'dim'}, unread),
];
