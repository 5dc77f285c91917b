// The parts of one finding: what it is about, how sure it is, what to do, the lines that show it.
import {around} from './around.js';
import {command, fold, h} from './dom.js';
import {LEAST_SHOWN, LEAST_TO_BLAME, classInWords, clock, count, findingLink, hostLink, ranges, sureness, when} from './words.js';

const SHOWN_AT_ONCE = 4;

// The cause of a diagnosis to show first; null: none is worth it.
export const firstCause = (diagnosis) =>
  diagnosis.root_causes.find((cause) => cause.confidence >= LEAST_TO_BLAME) ??
  diagnosis.root_causes.find((cause) => cause.confidence >= LEAST_SHOWN) ?? null;

// The first action with a command, else the first action.
export const nextStepOf = (finding) =>
  finding.actions.find((action) => action.command) ?? finding.actions[0] ?? null;

// Rank 45, on gpu-node-6, GPU 0000:bb:00.0
export function subject({subject: about}) {
  const parts = [];
  const part = (one, many, values, shown = (value) => value) => {
    if (values.length === 0) return;
    const some = values.slice(0, 6).flatMap((value, i) => [i > 0 ? ', ' : '', shown(value)]);
    parts.push(h('li', {}, h('span', {class: 'dim'}, `${values.length === 1 ? one : many} `), h('b', {}, some),
      values.length > 6 && ` and ${values.length - 6} more`));
  };
  if (about.ranks.length > 0)
    parts.push(h('li', {}, h('span', {class: 'dim'}, about.ranks.length === 1 ? 'rank ' : 'ranks '), h('b', {}, ranges(about.ranks))));
  part('host', 'hosts', about.hosts, hostLink);
  // If one host is named above, its name need not be repeated.
  const short = (name) => (about.hosts.length === 1 ? name.slice(name.indexOf('/') + 1) : name);
  part('GPU', 'GPUs', about.gpus, short);
  part('NIC', 'NICs', about.nics, short);
  return parts.length > 0 && h('ul', {class: 'subject'}, parts);
}

export const kind = (finding) => [classInWords(finding.class), ' ', h('code', {}, finding.class)];

export const facts = (finding, since = finding.first_seen) =>
  h('dl', {class: 'facts'},
    h('div', {}, h('dt', {}, 'how sure'), h('dd', {}, sureness(finding.confidence))),
    h('div', {}, h('dt', {}, 'since'), h('dd', {}, since ? when(since) : 'time unknown')),
    finding.count > 1 && h('div', {}, h('dt', {}, 'how often'), h('dd', {}, count(finding.count, 'time'))));

const step = (action, id) =>
  h('div', {class: 'step'}, h('p', {}, action.do, action.where && [' ', h('span', {class: 'dim'}, `(on ${action.where})`)]),
    action.command && command(action.command, id));

// What to do now, and folded what comes after.
export function nextCard(next, finding, ...more) {
  const others = finding?.actions.filter((action) => action !== next) ?? [];
  return h('section', {class: 'card next', 'aria-labelledby': 'next-title'}, h('h2', {id: 'next-title', class: 'kicker'}, 'Do this next'),
    step(next, `copy-next-${finding?.finding ?? ''}`), more,
    others.length > 0 && fold('then', `Then (${count(others.length, 'step')})`,
      h('ol', {class: 'steps'}, others.map((action, i) => h('li', {}, step(action, `copy-then-${i}-${finding.finding}`))))));
}

const line = (job, finding, before = 0) => (evidence, i) =>
  h('li', {}, h('p', {class: 'dim'}, `${evidence.source}, line ${evidence.line.toLocaleString('en')}`,
    evidence.time && `, ${clock(evidence.time)}`), h('pre', {}, evidence.text),
    around(job, evidence, `around-${finding.finding}-${before + i}`));

export function evidence(job, finding) {
  if (finding.evidence.length === 0) return h('p', {}, 'No single line shows it; it follows from where the ranks stand.');
  const rest = finding.evidence.slice(SHOWN_AT_ONCE);
  return [h('ul', {class: 'lines'}, finding.evidence.slice(0, SHOWN_AT_ONCE).map(line(job, finding))),
    rest.length > 0 && fold(`lines-${finding.finding}`, count(rest.length, 'more line'), h('ul', {class: 'lines'}, rest.map(line(job, finding, SHOWN_AT_ONCE))))];
}

export const against = (finding) =>
  finding.against.length > 0 && [h('h3', {}, 'What speaks against it'), h('ul', {}, finding.against.map((why) => h('li', {}, why)))];

// One line of a list of findings.
export const oneLine = (finding) =>
  h('li', {}, findingLink(finding.finding, finding.title), ' ',
    h('span', {class: 'dim'}, `${classInWords(finding.class)}, ${sureness(finding.confidence)}`,
      finding.first_seen && `, ${clock(finding.first_seen)}`));
