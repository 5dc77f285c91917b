// The findings of all jobs: open ones first, then the worst, then the latest.
import {askAll} from './api.js';
import {h} from './dom.js';
import {MOST_SHOWN, asked, leftOut, matches, narrowedTo, narrowing, remember, searchBox} from './filter.js';
import {ageOf, classInWords, count, severity, sureness} from './words.js';

const WEIGHTS = ['critical', 'error', 'warning', 'info'];
const ROLES = ['cause', 'symptom', 'observation'];
const MOST_READ = 2000;
const HOSTS_AT_ONCE = 3;

// The names are parameters of the page's address and of the API.
const NARROWED_BY = [
  {name: 'job', of: (finding) => [finding.job]},
  {name: 'class', of: (finding) => [finding.class], words: classInWords},
  {name: 'host', of: (finding) => finding.subject.hosts},
];

const narrowed = () => NARROWED_BY.map(({name}) => [name, asked(name)]).filter(([, value]) => value);

const rank = (finding) =>
  [finding.state === 'open' ? 0 : 1, ROLES.indexOf(finding.role), WEIGHTS.indexOf(finding.severity)];

function inOrder(a, b) {
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((value, i) => value !== right[i]);
  return at < 0 ? b.opened.localeCompare(a.opened) : left[at] - right[at];
}

// The server applies the filters, so that other findings, however many, do not use up the rows.
const query = () => new URLSearchParams([...(asked('state') === 'all' ? [] : [['state', 'open']]), ...narrowed()]);

export const findingsView = {
  title: () => ['Findings', ...narrowed().map(([, value]) => value)].join(', '),
  every: 30_000,
  concerns: (finding) => NARROWED_BY.every(({name, of}) => !asked(name) || of(finding).includes(asked(name))),
  load: async (signal) => ({...await askAll(`/api/v1/findings?${query()}`, 'findings', signal, MOST_READ), state: asked('state')}),
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
          click: () => choose('all')}, 'also resolved')),
      narrowedTo(NARROWED_BY),
      shown.length === 0 && h('p', {}, rows.length > 0 || narrowed().length > 0 ? 'No finding matches.' : all ? 'Nothing was found.' : 'Nothing is open.'),
      h('ul', {class: 'rows', 'aria-label': 'Findings, the worst first'}, shown.slice(0, MOST_SHOWN).map(row)),
      leftOut(shown, more && `Only the ${count(rows.length, 'finding')} that changed longest ago are searched; there are more. `
        + 'Narrow the list to a job, a class or a host to see its later findings, or ask /api/v1/findings, which has all of them.'),
    ];
  },
};

function row(finding) {
  const {hosts} = finding.subject;
  const link = (name, value, words) => narrowing(name, value, `${name}-${value}-of-${finding.finding}`, words);
  return h('li', {class: finding.role === 'cause' && finding.state === 'open' ? 'failed' : 'unknown'},
    h('a', {class: 'row', id: `finding-${finding.finding}`, href: `/findings/${encodeURIComponent(finding.finding)}`},
      h('span', {class: 'row-head'}, severity(finding.severity), h('b', {class: 'name'}, finding.title),
        h('span', {class: 'dim since'}, finding.role, ', ', ageOf(finding.first_seen ?? finding.opened)))),
    h('p', {class: 'dim row-foot'}, link('job', finding.job), ', ', link('class', finding.class, classInWords(finding.class)),
      hosts.slice(0, HOSTS_AT_ONCE).map((host) => [', ', link('host', host)]),
      hosts.length > HOSTS_AT_ONCE && ` and ${count(hosts.length - HOSTS_AT_ONCE, 'more host')}`,
      `, ${sureness(finding.confidence)}`,
      finding.state !== 'open' && `, resolved${finding.reason ? ` (${finding.reason.replaceAll('_', ' ')})` : ''}`,
      finding.review === 'acknowledged' && h('b', {}, ', acknowledged')));
}
