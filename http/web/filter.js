// A filter of a list. It stands in the address, so that a link shows the same.
import {h} from './dom.js';
import {count} from './words.js';

export const MOST_SHOWN = 500;  // rows at once

export const asked = (name) => new URLSearchParams(location.search).get(name) ?? '';

// Where the same list is that asks this, too; an empty value: that asks it no more.
export function addressWith(name, value) {
  const query = new URLSearchParams(location.search);
  if (value) query.set(name, value);
  else query.delete(name);
  return [location.pathname, query].filter(String).join('?');
}

export const remember = (name, value) => history.replaceState(history.state, '', addressWith(name, value));

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

// A link to what of the list has this value; where it has no other, its words alone.
export const narrowing = (name, value, id, words = value) =>
  (asked(name) === value ? words : h('a', {id, href: addressWith(name, value), title: `Only what has this ${name}`}, words));

// What the list is narrowed to; a link each takes it back.
export function narrowedTo(ways) {
  const chips = ways.filter(({name}) => asked(name)).map(({name, words = (value) => value}) =>
    h('li', {}, h('a', {id: `only-${name}`, class: 'chip', href: addressWith(name, '')}, `only ${name} `, h('b', {}, words(asked(name))),
      h('span', {'aria-hidden': 'true'}, ' ×'), h('span', {class: 'aloud'}, ', remove this filter'))));
  return chips.length > 0 && h('ul', {class: 'choices chips', 'aria-label': 'What the list is narrowed to'}, chips);
}

// Below a list: what it leaves out. `unread`: in words, what the server has besides; false where it has none.
export const leftOut = (rows, unread) => [
  rows.length > MOST_SHOWN && h('p', {class: 'dim'},
    `The first ${MOST_SHOWN} are shown, ${count(rows.length - MOST_SHOWN, 'more is', 'more are')} not; search for them.`),
  unread && h('p', {class: 'dim'}, unread),
];
