// The review of a finding by an operator: acknowledged, wrong, closed or reopened.
import {tell} from './api.js';
import {byId, h, say} from './dom.js';
import {clock} from './words.js';

const KEY = 'faultline-name';

const SAID = {acknowledged: 'acknowledged', wrong: 'marked as wrong', closed: 'closed', reopened: 'reopened'};

const path = (id) => `/api/v1/findings/${encodeURIComponent(id)}/review`;

// finding: as the API answers for a single finding, with its reviews. changed(): it has to be loaded again.
export function review(finding, changed) {
  const open = finding.state === 'open';
  const taken = finding.review === 'acknowledged';
  // The id holds that of the finding: if another finding takes its place, it gets neither the typed text nor the focus.
  const id = (part) => `review-${part}-${finding.finding}`;
  const fill = (part, what) => Object.assign(byId(id(part)) ?? {}, what);
  const give = async (verdict) => {
    const by = byId('review-by').value.trim();
    const note = byId(id('note')).value.trim();
    localStorage.setItem(KEY, by);
    fill('outcome', {textContent: 'saving…'});
    try {
      await tell(path(finding.finding), {verdict, by, note});
    } catch (problem) {
      fill('outcome', {textContent: problem.message});
      return say(problem.message);
    }
    // The page may have been drawn anew, or left, meanwhile.
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
      open && !taken && button('acknowledged', 'Acknowledge', 'You are working on it. The finding stays open.', {class: 'main', 'aria-keyshortcuts': 'a'}),
      open && button('wrong', 'It is wrong', 'Faultline is wrong: resolve this finding. Other findings of this failure stay open.'),
      open && button('closed', 'It is over', 'The failure is over: resolve it and its symptoms.'),
      !open && button('reopened', 'Open it again', 'The finding was not wrong, or the failure is not over.'),
      h('span', {id: id('outcome'), class: 'outcome', 'data-kept': true})),
    h('p', {class: 'said-by'},
      h('label', {for: 'review-by'}, 'Your name'), by,
      h('label', {for: id('note')}, 'Note'), h('input', {id: id('note'), class: 'note', maxlength: 2000, placeholder: 'optional; saved with the button you press'})),
    reviews(finding));
}

function state(finding) {
  if (finding.state === 'open')
    return finding.review === 'acknowledged' ? h('p', {class: 'taken'}, 'Somebody is working on it.') : null;
  const why = finding.reason ? `, because: ${finding.reason.replaceAll('_', ' ')}` : '';
  return h('p', {class: 'taken'}, `Resolved${finding.resolved ? ` ${clock(finding.resolved)}` : ''}${why}.`);
}

const reviews = (finding) =>
  finding.reviews.length > 0 && h('ul', {class: 'reviews'}, [...finding.reviews].reverse().map((said) =>
    h('li', {}, h('b', {}, SAID[said.verdict]), said.by && ` by ${said.by}`, `, ${clock(said.time)}`, said.note && `: ${said.note}`)));

// The key "a" presses the button, if there is one.
export const acknowledge = () => document.querySelector('[id^=review-acknowledged]')?.click();
