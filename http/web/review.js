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
  const outcome = h('span', {id: 'review-outcome', class: 'outcome'});
  const give = async (verdict) => {
    const by = byId('review-by').value.trim();
    localStorage.setItem(KEY, by);
    outcome.textContent = 'saying so…';
    try {
      await tell(path(finding.finding), {verdict, by, note: byId('review-note').value.trim()});
      byId('review-note').value = '';
      say(`The finding is ${SAID[verdict]}.`);
      changed();
    } catch (problem) {
      outcome.textContent = problem.message;
      say(problem.message);
    }
  };
  const button = (verdict, text, title, attributes = {}) =>
    h('button', {type: 'button', id: `review-${verdict}`, title, click: () => give(verdict), ...attributes}, text);
  const by = h('input', {id: 'review-by', autocomplete: 'name', size: 12, maxlength: 200});
  by.value = localStorage.getItem(KEY) ?? '';
  return h('section', {class: 'review', 'aria-label': 'Review'},
    state(finding),
    h('p', {class: 'buttons'},
      open && !taken && button('acknowledged', 'Acknowledge', 'You take care of it; alerts say so.', {class: 'main', 'aria-keyshortcuts': 'a'}),
      open && button('wrong', 'It is wrong', 'It is not so: it is resolved, and what was found of this failure otherwise stays.'),
      open && button('closed', 'It is over', 'The failure has ended, with all that it showed itself by.'),
      !open && button('reopened', 'Open it again', 'It was not wrong or over after all.'),
      outcome),
    h('p', {class: 'said-by'},
      h('label', {for: 'review-by'}, 'Your name'), by,
      h('label', {for: 'review-note'}, 'Note'), h('input', {id: 'review-note', maxlength: 2000, placeholder: 'goes with the next button'})),
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
export const acknowledge = () => byId('review-acknowledged')?.click();
