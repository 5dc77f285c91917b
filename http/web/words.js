// Words for people.
import {h} from './dom.js';

// From the worst on.
export const VERDICTS = {
  corrupt: 'wrong results',
  hang: 'hang',
  failed: 'failed',
  slow: 'slow',
  unknown: 'unknown',
  undecided: 'not judged yet',
  running: 'running',
  healthy: 'healthy',
};

const FAMILIES = {
  gpu: 'GPU hardware',
  pcie: 'PCIe hardware',
  host: 'the host',
  network: 'the network',
  software: 'the program',
  launch: 'the start of the job',
  config: 'a setting',
  performance: 'speed',
  corruption: 'data',
  collective: 'a collective',
  process: 'a process',
  nccl: 'NCCL',
};

// A cause below the first is only possible and blames nobody; a cause below the second is not worth a line.
export const LEAST_TO_BLAME = 0.8;
export const LEAST_SHOWN = 0.2;

export const badge = (verdict) =>
  h('span', {class: `badge ${verdict}`}, VERDICTS[verdict] ?? verdict);

export const severity = (name) => h('span', {class: `severity ${name}`}, name);

// "GPU hardware, off bus", for gpu.off_bus.
export function classInWords(name) {
  const [family, what] = name.split('.');
  return `${FAMILIES[family] ?? family}, ${(what ?? '').replaceAll('_', ' ')}`;
}

export const sureness = (confidence) =>
  confidence >= LEAST_TO_BLAME ? `${percent(confidence)} sure` : `only possible, ${percent(confidence)} sure`;

const percent = (share) => `${Math.round(share * 100)} %`;

export const count = (number, one, many = `${one}s`) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

// "0-7, 9"
export function ranges(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const spans = [];
  for (const number of sorted) {
    const last = spans.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else spans.push([number, number]);
  }
  return spans.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}

// As in logs: UTC, to the second; with the day unless it is today.
export function clock(time) {
  const [day, rest] = new Date(time).toISOString().split('T');
  const today = new Date().toISOString().startsWith(day);
  return `${today ? '' : `${day} `}${rest.slice(0, 8)} UTC`;
}

export function age(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time)) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

// "02:00:32 UTC, 46 min ago"; the second part is kept up by keepAges().
export const when = (time) =>
  h('time', {datetime: time, title: new Date(time).toString()}, clock(time), ', ', ageOf(time));

export const ageOf = (time) => h('span', {class: 'age', 'data-time': time}, age(time));

export function keepAges() {
  for (const element of document.querySelectorAll('.age')) element.textContent = age(element.dataset.time);
}

export const jobLink = (job, ...more) => h('a', {href: `/jobs/${encodeURIComponent(job)}`}, job, ...more);
export const hostLink = (host) => h('a', {href: `/hosts/${encodeURIComponent(host)}`}, host);
export const findingLink = (id, text) => h('a', {href: `/findings/${encodeURIComponent(id)}`}, text);
