// What an operator says of a finding: it is taken care of, wrong, over, or not after all.
import {tell} from './api.js';
import {byId, h, say} from './dom.js';
import {clock} from './words.js';

const KEY = 'faultline-name';

const SAID = {acknowledged: 'taken care of', wrong: 'wrong', closed: 'over', reopened: 'open again'};

const path = (id) => `/api/v1/findings/${encodeURIComponent(id)}/review`;

// finding: as the API answers for it alone, with its reviews. changed(): it is to be asked for again.
export function review(finding, changed) {
  const open = finding.state === 'open';
  const taken = finding.review === 'acknowledged';
  // With the finding in it: where another takes its place, neither what was typed nor the focus goes over to it.
  const id = (part) => `review-${part}-${finding.finding}`;
  const fill = (part, what) => Object.assign(byId(id(part)) ?? {}, what);
  const give = async (verdict) => {
    const by = byId('review-by').value.trim();
    const note = byId(id('note')).value.trim();
    localStorage.setItem(KEY, by);
    fill('outcome', {textContent: 'saying so…'});
    try {
      await tell(path(finding.finding), {verdict, by, note});
    } catch (problem) {
      fill('outcome', {textContent: problem.message});
      return say(problem.message);
    }
    // It may have been drawn anew, or left, meanwhile.
    fill('outcome', {textContent: ''});
    fill('note', {value: ''});
    say(`The finding is ${SAID[verdict]}.`);
    changed();
  };
  const button = (verdict, text, title, attributes = {}) =>
    h('button', {type: 'button', id: id(verdict), title, click: () => give(verdict), ...attributes}, text);
  const by = h('input', {id: 'review-by', autocomplete: 'name', size: 12, maxlength: 200});
  by.value = localStorage.getItem(KEY) ?? '';
  return h('section', {class: 'review', 'aria-label': 'Review'},
    state(finding),
    h('p', {class: 'buttons'},
      open && !taken && button('acknowledged', 'Acknowledge', 'You take care of it; alerts say so.', {class: 'main', 'aria-keyshortcuts': 'a'}),
      open && button('wrong', 'It is wrong', 'It is not so: it is resolved, and what was found of this failure otherwise stays.'),
      open && button('closed', 'It is over', 'The failure has ended, with all that it showed itself by.'),
      !open && button('reopened', 'Open it again', 'It was not wrong or over after all.'),
      h('span', {id: id('outcome'), class: 'outcome', 'data-kept': true})),
    h('p', {class: 'said-by'},
      h('label', {for: 'review-by'}, 'Your name'), by,
      h('label', {for: id('note')}, 'Note'), h('input', {id: id('note'), class: 'note', maxlength: 2000, placeholder: 'optional; saved with the button you press'})),
    reviews(finding));
}

function state(finding) {
  if (finding.state === 'open')
    return finding.review === 'acknowledged' ? h('p', {class: 'taken'}, 'Somebody takes care of it.') : null;
  const why = finding.reason ? `, because: ${finding.reason.replaceAll('_', ' ')}` : '';
  return h('p', {class: 'taken'}, `Resolved${finding.resolved ? ` ${clock(finding.resolved)}` : ''}${why}.`);
}

const reviews = (finding) =>
  finding.reviews.length > 0 && h('ul', {class: 'reviews'}, [...finding.reviews].reverse().map((said) =>
    h('li', {}, h('b', {}, SAID[said.verdict]), said.by && ` says ${said.by}`, `, ${clock(said.time)}`, said.note && `: ${said.note}`)));

// The key "a": as if the button were pressed, where there is one.
export const acknowledge = () => document.querySelector('[id^=review-acknowledged]')?.click();
