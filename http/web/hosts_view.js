// All hosts, first those that failed jobs repeatedly.
import {askAll} from './api.js';
import {h} from './dom.js';
import {MOST_SHOWN, leftOut, matches, searchBox} from './filter.js';
import {ageOf, count} from './words.js';

const repeats = (host) => host.gpus.map((gpu) => gpu.repeat).filter(Boolean);
const failed = (host) => Math.max(0, ...host.gpus.map((gpu) => gpu.failed_jobs));
const weight = ({open, total}) =>
  open.critical * 1e6 + open.error * 1e4 + open.warning * 100 + total.critical * 10 + total.error;

const inOrder = (a, b) =>
  repeats(b).length - repeats(a).length || failed(b) - failed(a) ||
  weight(b.finding_counts) - weight(a.finding_counts) ||
  a.host.localeCompare(b.host, 'en', {numeric: true});

export const hostsView = {
  title: () => 'Hosts',
  every: 60_000,
  concerns: () => true,
  load: (signal) => askAll('/api/v1/hosts', 'hosts', signal, 20_000),
  draw: ({rows, more}, changed) => {
    const shown = rows.filter((host) => matches(host.host, host.jobs.map((job) => job.job).join(' '),
      repeats(host).map((repeat) => repeat.text).join(' '))).sort(inOrder);
    return [
      h('div', {class: 'head'}, h('h1', {tabindex: -1}, 'Hosts'), searchBox('Search hosts, jobs', changed)),
      shown.length === 0 && h('p', {}, 'No host matches.'),
      h('ul', {class: 'rows', 'aria-label': 'Hosts, the worst first'}, shown.slice(0, MOST_SHOWN).map(row)),
      leftOut(shown, more && `Only the first ${count(rows.length, 'host')} by name are searched; there are more. Each host has a page: /hosts/NAME.`),
    ];
  },
};

function row(host) {
  const {open, total} = host.finding_counts;
  const some = ['critical', 'error', 'warning', 'info'].filter((name) => open[name] > 0).map((name) => `${open[name]} ${name}`);
  const all = Object.values(total).reduce((sum, number) => sum + number, 0);
  return h('li', {class: open.critical + open.error > 0 ? 'failed' : repeats(host).length > 0 ? 'slow' : 'unknown'},
    h('a', {class: 'row', id: `host-${host.host}`, href: `/hosts/${encodeURIComponent(host.host)}`},
      h('span', {class: 'row-head'}, h('b', {class: 'name'}, host.host),
        h('span', {class: 'dim since'}, host.last_event ? ['last event ', ageOf(host.last_event)] : 'no events')),
      repeats(host).map((repeat) => h('span', {class: 'row-cause'}, repeat.text)),
      h('span', {class: 'dim row-foot'}, `${count(host.job_count, 'job')}, ${some.length > 0 ? `open: ${some.join(', ')}` : 'nothing open'}`,
        all > 0 && `, ever: ${count(all, 'finding')}`)));
}
