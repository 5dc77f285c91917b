// The filters of a list. They are part of the address, so that a link shows the same list.
import {h} from './dom.js';
import {count} from './words.js';

export const MOST_SHOWN = 500;  // rows at once

export const asked = (name) => new URLSearchParams(location.search).get(name) ?? '';

// The address of the same list with this filter; an empty value removes the filter.
export function addressWith(name, value) {
  const query = new URLSearchParams(location.search);
  if (value) query.set(name, value);
  else query.delete(name);
  return [location.pathname, query].filter(String).join('?');
}

export const remember = (name, value) => history.replaceState(history.state, '', addressWith(name, value));

// changed() is called when the list has to be drawn anew.
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

// Whether each word of the search is in one of the texts.
export function matches(...texts) {
  const text = texts.join(' ').toLowerCase();
  return asked('q').toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

// A link to the rows with this value; if the list is narrowed to it already, only its words.
export const narrowing = (name, value, id, words = value) =>
  (asked(name) === value ? words : h('a', {id, href: addressWith(name, value), title: `Show only this ${name}`}, words));

// The filters in force, each a link that removes it.
export function narrowedTo(ways) {
  const chips = ways.filter(({name}) => asked(name)).map(({name, words = (value) => value}) =>
    h('li', {}, h('a', {id: `only-${name}`, class: 'chip', href: addressWith(name, '')}, `only ${name} `, h('b', {}, words(asked(name))),
      h('span', {'aria-hidden': 'true'}, ' ×'), h('span', {class: 'aloud'}, ', remove this filter'))));
  return chips.length > 0 && h('ul', {class: 'choices chips', 'aria-label': 'Filters in force'}, chips);
}

// Below a list: what it leaves out. `unread`: says that the server has more rows; false if it has none.
export const leftOut = (rows, unread) => [
  rows.length > MOST_SHOWN && h('p', {class: 'dim'},
    `The first ${MOST_SHOWN} are shown, ${count(rows.length - MOST_SHOWN, 'more is', 'more are')} not; search to find them.`),
  unread && h('p', {class: 'dim'}, unread),
];
