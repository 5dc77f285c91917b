// One host across its jobs: what it was blamed for, and what it reported.
import {ask} from './api.js';
import {fold, h} from './dom.js';
import {clock, classInWords, count, findingLink, jobLink, severity, sureness, when} from './words.js';

const MOST_JOBS = 50;

export function hostView(name) {
  return {
    title: () => name,
    every: 60_000,
    concerns: (finding) => finding.subject.hosts.includes(name),
    load: (signal) => ask(`/api/v1/hosts/${encodeURIComponent(name)}?limit=200`, signal),
    draw: (host) => [
      h('div', {class: 'head'}, h('h1', {tabindex: -1}, name), h('span', {class: 'dim'}, `in ${count(host.jobs.length, 'job')}`)),
      blamed(host),
      findings(host),
      fold('jobs', `Its jobs (${host.jobs.length})`, h('ul', {}, host.jobs.slice(0, MOST_JOBS).map((job) =>
        h('li', {}, jobLink(job.job), job.last_activity && [' ', h('span', {class: 'dim'}, 'last lines ', when(job.last_activity))])))),
      counters(host),
      events(host),
    ],
  };
}

// The host itself, its GPUs and its ports, with the jobs that each of them failed.
function blamed(host) {
  const parts = [
    {name: 'the host itself', failures: host.failures, repeat: host.repeat},
    ...host.gpus.map((gpu) => ({...gpu, name: `GPU ${gpu.gpu ?? gpu.uuid ?? gpu.serial ?? ''}`})),
    ...host.ports.map((port) => ({...port, name: `port ${port.port}`})),
  ].filter((part) => part.failures.length > 0);
  if (parts.length === 0) return h('p', {class: 'summary'}, 'No failure of a job was ever blamed on this host, or on a GPU or port of it.');
  return parts.map((part) => h('section', {class: part.repeat ? 'card culprit' : 'card', 'aria-label': part.name},
    h('h2', {}, part.repeat ? part.repeat.text : `${part.name} failed ${count(part.failures.length, 'job')}`),
    (part.uuid || part.serial) && h('p', {class: 'dim'}, [part.uuid, part.serial && `serial number ${part.serial}`].filter(Boolean).join(', ')),
    h('ul', {}, [...part.failures].reverse().map((failure) => h('li', {}, clock(failure.time), ' ', jobLink(failure.job), ': ',
      findingLink(failure.finding, failure.title), ' ', h('span', {class: 'dim'}, sureness(failure.confidence)))))));
}

const findings = (host) =>
  host.findings.length > 0 && h('section', {'aria-labelledby': 'findings-title'}, h('h2', {id: 'findings-title'}, 'Findings'),
    h('ul', {class: 'plain'}, host.findings.map((finding) => h('li', {}, severity(finding.severity), ' ',
      findingLink(finding.finding, finding.title), ' ', h('span', {class: 'dim'}, jobLink(finding.job),
        `, ${classInWords(finding.class)}, ${finding.resolved ? 'resolved' : 'open'}`, finding.blamed && ', blamed',
        `, ${clock(finding.first_seen ?? finding.opened)}`)))));

function counters(host) {
  const parts = [...host.gpus.map((gpu) => [`GPU ${gpu.gpu}`, gpu.counters]), ...host.ports.map((port) => [port.port, port.counters])];
  const rows = parts.flatMap(([part, all]) => all.map((counter) => [part, counter]));
  if (rows.length === 0) return null;
  return fold('counters', `Counters that moved (${rows.length})`,
    h('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Counters that moved'}, h('table', {},
      h('thead', {}, h('tr', {}, ['part', 'counter', 'by', 'an hour', 'between'].map((title) => h('th', {scope: 'col'}, title)))),
      h('tbody', {}, rows.map(([part, counter]) => h('tr', {}, h('th', {scope: 'row'}, part),
        h('td', {}, counter.counter, counter.link && ` (link ${counter.link})`),
        h('td', {}, `${counter.at_least ? 'at least ' : ''}${counter.delta.toLocaleString('en')}`), h('td', {}, counter.rate_per_hour ?? '-'),
        h('td', {}, between(counter))))))));
}

const between = ({first, last}) =>
  first.time && last.time ? `${clock(first.time)} and ${clock(last.time)}` : 'unknown times';

const events = (host) =>
  host.events.length > 0 && fold('events', `What it reported (the latest ${host.events.length})`,
    h('ul', {class: 'lines'}, host.events.map((event) => h('li', {}, h('p', {class: 'dim'}, event.time ? clock(event.time) : 'time unknown',
      `, ${event.kind.replaceAll('_', ' ')}`, event.part && ` of ${event.part}`, event.count > 1 && `, ${count(event.count, 'time')}`,
      ', ', jobLink(event.job), `, ${event.source}, line ${event.line}`), h('pre', {}, event.text)))));
