// What was found in all jobs; what is open first, of that the worst, of that the latest.
import {askAll} from './api.js';
import {h} from './dom.js';
import {MOST_SHOWN, asked, leftOut, matches, remember, searchBox} from './filter.js';
import {ageOf, classInWords, count, severity, sureness} from './words.js';

const WEIGHTS = ['critical', 'error', 'warning', 'info'];
const ROLES = ['cause', 'symptom', 'observation'];
const MOST_READ = 2000;

const rank = (finding) =>
  [finding.state === 'open' ? 0 : 1, ROLES.indexOf(finding.role), WEIGHTS.indexOf(finding.severity)];

function inOrder(a, b) {
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((value, i) => value !== right[i]);
  return at < 0 ? b.opened.localeCompare(a.opened) : left[at] - right[at];
}

export const findingsView = {
  title: () => 'Findings',
  every: 30_000,
  concerns: () => true,
  load: (signal) => askAll(`/api/v1/findings${asked('state') === 'all' ? '' : '?state=open'}`, 'findings', signal, MOST_READ),
  draw: ({rows, more}, changed, reload) => {
    const all = asked('state') === 'all';
    const shown = rows.filter((finding) =>
      matches(finding.title, finding.job, finding.class, finding.severity, finding.subject.hosts.join(' '))).sort(inOrder);
    const choose = (state) => {
      remember('state', state);
      reload();
    };
    return [
      h('div', {class: 'head'}, h('h1', {tabindex: -1}, 'Findings'), searchBox('Search findings, jobs, hosts', changed)),
      h('div', {class: 'choices', role: 'group', 'aria-label': 'Which findings'},
        h('button', {type: 'button', id: 'open-ones', class: 'choice', 'aria-pressed': String(!all), click: () => choose('')}, 'open'),
        h('button', {type: 'button', id: 'all-ones', class: 'choice', 'aria-pressed': String(all),
          click: () => choose('all')}, 'resolved ones, too')),
      shown.length === 0 && h('p', {}, rows.length === 0 ? 'Nothing is open.' : 'No finding is like that.'),
      h('ul', {class: 'rows', 'aria-label': 'Findings, the worst first'}, shown.slice(0, MOST_SHOWN).map(row)),
      leftOut(shown, more && `There are others: only the ${count(rows.length, 'finding')} that changed longest ago are looked through. `
        + 'Later ones are on the pages of their jobs and hosts, and in /api/v1/findings, which takes job=, host= and class=.'),
    ];
  },
};

const row = (finding) =>
  h('li', {class: finding.role === 'cause' && finding.state === 'open' ? 'failed' : 'unknown'},
    h('a', {class: 'row', id: `finding-${finding.finding}`, href: `/findings/${encodeURIComponent(finding.finding)}`},
      h('span', {class: 'row-head'}, severity(finding.severity), h('b', {class: 'name'}, finding.title),
        h('span', {class: 'dim since'}, finding.role, ', ', ageOf(finding.first_seen ?? finding.opened))),
      h('span', {class: 'dim row-foot'}, `${finding.job}, ${classInWords(finding.class)}, ${sureness(finding.confidence)}`,
        finding.state !== 'open' && `, resolved${finding.reason ? ` (${finding.reason.replaceAll('_', ' ')})` : ''}`,
        finding.review === 'acknowledged' && h('b', {}, ', taken care of'))));
