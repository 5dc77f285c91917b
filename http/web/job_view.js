// One job: who is to blame and what to do, then why that is so.
import {ask, askAll, askMaybe} from './api.js';
import {fold, h} from './dom.js';
import {against, evidence, facts, firstCause, kind, nextCard, nextStepOf, oneLine, subject} from './finding.js';
import {picture} from './picture.js';
import {review} from './review.js';
import {timeline} from './timeline.js';
import {LEAST_SHOWN, LEAST_TO_BLAME, badge, clock, count, findingLink, hostLink, ranges, when} from './words.js';

const LONG_TITLE = 90;
const LINKS_AT_ONCE = 5;

export function jobView(name) {
  const path = `/api/v1/jobs/${encodeURIComponent(name)}`;
  const attempt = new URLSearchParams(location.search).get('attempt');
  const query = attempt ? `&attempt=${encodeURIComponent(attempt)}` : '';
  const askRanks = async (signal) => (await askAll(`${path}/ranks?brief=true${query}`, 'ranks', signal, Infinity)).rows;
  const askTimes = (signal) => askMaybe(`${path}/timeline${attempt ? `?attempt=${encodeURIComponent(attempt)}` : ''}`, signal);
  const askBoth = (signal) => Promise.all([askRanks(signal), askTimes(signal)]);
  let known = null;  // the diagnosis, with its ranks and times, which stay as long as it does
  return {
    title: (data) => (data ? `${name}: ${data.diagnosis.verdict}` : name),
    every: 15_000,
    concerns: (finding) => finding.job === name,
    load: async (signal) => {
      const [diagnosis, both] = await Promise.all([ask(`${path}/diagnosis?format=json${query}`, signal), known ? null : askBoth(signal)]);
      const said = JSON.stringify(diagnosis);
      if (known?.said !== said) {
        const [ranks, times] = both ?? await askBoth(signal);
        known = {said, ranks, times};
      }
      const first = firstCause(diagnosis);
      // A new finding may not be in the history yet, and then cannot be reviewed.
      const stored = first && await askMaybe(`/api/v1/findings/${encodeURIComponent(first.finding)}`, signal);
      return {diagnosis, ranks: known.ranks, times: known.times, stored};
    },
    // Worth saying aloud to a user who does not look.
    news: ({diagnosis}) => `${name}: ${diagnosis.verdict}. ${firstCause(diagnosis)?.title ?? diagnosis.summary}`,
    draw: ({diagnosis, ranks, times, stored}, changed, reload) => draw(name, diagnosis, ranks, times, stored, reload),
  };
}

function draw(name, diagnosis, ranks, times, stored, reload) {
  const first = firstCause(diagnosis);
  const next = nextStep(diagnosis, first);
  return [
    h('div', {class: 'head'}, h('h1', {tabindex: -1}, name), badge(diagnosis.verdict), attempts(name, diagnosis)),
    h('div', {class: 'first-screen'},
      h('div', {},
        first ? culprit(diagnosis, first) : noCulprit(diagnosis),
        next && nextCard(next, first, restart(diagnosis)),
        stored && review(stored, reload)),
      h('div', {}, picture(diagnosis, ranks, first), chain(diagnosis, first))),
    first && h('section', {'aria-labelledby': 'why-title'}, h('h2', {id: 'why-title'}, 'The lines that show it'), evidence(name, first), against(first)),
    timeline(diagnosis, times, first),
    others(diagnosis, first),
    missing(diagnosis),
    checklist(diagnosis),
    coverage(diagnosis),
    h('p', {class: 'dim'}, 'The same for a terminal: ',
      h('code', {}, `curl '${location.origin}/api/v1/jobs/${encodeURIComponent(name)}/diagnosis?format=text'`),
      '; markdown is a ticket, html a file that needs nothing else.'),
  ];
}

// The time in the timeline, which corrects clocks; if no line of the cause has a time, that of the next in the chain.
function since(diagnosis, first) {
  const times = new Map(diagnosis.timeline.map((entry) => [entry.finding, entry.time]));
  const ids = [first.finding, ...diagnosis.chain];
  return ids.map((id) => times.get(id)).find(Boolean) ?? first.first_seen;
}

function culprit(diagnosis, first) {
  const sure = first.confidence >= LEAST_TO_BLAME;
  const rivals = diagnosis.root_causes.filter((cause) => cause !== first && cause.confidence >= LEAST_TO_BLAME).length;
  return h('section', {class: sure ? 'card culprit' : 'card culprit possible', 'aria-labelledby': 'culprit-title'},
    h('p', {class: 'kicker'}, sure ? 'The cause: ' : 'No cause is certain; possible: ', kind(first)),
    h('h2', {id: 'culprit-title', class: first.title.length > LONG_TITLE ? 'long' : null}, first.title),
    subject(first), facts(first, since(diagnosis, first)),
    rivals > 0 && h('p', {}, `${count(rivals, 'other cause')} ${rivals === 1 ? 'is' : 'are'} as certain; see below.`),
    effect(diagnosis, first));
}

// The first thing that the summary says besides the cause: who waits.
function effect({summary}, first) {
  const rest = summary.startsWith(first.title) ? summary.slice(first.title.length).replace(/^[.\s]+/, '') : summary;
  const end = rest.indexOf('. ');
  return rest && h('p', {class: 'effect'}, end < 0 ? rest : rest.slice(0, end + 1));
}

const noCulprit = (diagnosis) =>
  h('section', {class: 'card', 'aria-label': 'Diagnosis'}, h('p', {class: 'summary'}, diagnosis.summary),
    diagnosis.root_causes.length > 0 && h('p', {}, 'The logs do not show the cause; what was found is unlikely to be it.'));

// What to do now: get the evidence that decides between possible causes; for a sure cause, its first command.
function nextStep(diagnosis, first) {
  if (diagnosis.verdict === 'healthy' || diagnosis.verdict === 'running') return null;
  if (!first || first.confidence < LEAST_TO_BLAME) {
    if (diagnosis.verdict === 'undecided' && diagnosis.judged_in_seconds !== null)
      return {do: `Wait: it is judged in ${diagnosis.judged_in_seconds} s, unless more of its logs comes.`, where: '', command: ''};
    const helps = diagnosis.missing_evidence.find((evidence) => evidence.command);
    if (helps) return {do: `Get ${/^(the|a) /.test(helps.what) ? '' : 'the '}${helps.what}: ${helps.why}.`, where: '', command: helps.command};
  }
  return first && nextStepOf(first);
}

const restart = ({exclude}) =>
  exclude.hosts.length > 0 && h('p', {class: 'dim'}, 'Restart without it: ', h('code', {}, exclude.slurm), ' or ', h('code', {}, exclude.kubernetes));

const earlier = (attempt) => Array.from({length: Math.min(5, attempt - 1)}, (_, i) => attempt - 1 - i);

function attempts(name, diagnosis) {
  if (diagnosis.attempt === 1 && !location.search.includes('attempt=')) return null;
  const link = (number) => h('a', {href: `/jobs/${encodeURIComponent(name)}?attempt=${number}`}, number);
  return h('span', {class: 'dim attempts'}, `attempt ${diagnosis.attempt}`,
    diagnosis.attempt > 1 && [', earlier: ', earlier(diagnosis.attempt).map((number, i) => [i > 0 ? ', ' : '', link(number)])],
    location.search.includes('attempt=') && [', ', h('a', {href: `/jobs/${encodeURIComponent(name)}`}, 'the latest')]);
}

function chain(diagnosis, first) {
  const all = new Map([...diagnosis.root_causes, ...diagnosis.symptoms].map((finding) => [finding.finding, finding]));
  const links = diagnosis.chain.map((id) => all.get(id)).filter(Boolean);
  if (links.length < 2) return null;
  const rest = links.slice(LINKS_AT_ONCE);
  const list = (some, start) => h('ol', {class: 'chain', start}, some.map((finding) =>
    h('li', {class: finding === first ? 'cause' : null}, findingLink(finding.finding, finding.title))));
  return h('section', {'aria-labelledby': 'chain-title'}, h('h2', {id: 'chain-title'}, 'What led to what'),
    list(links.slice(0, LINKS_AT_ONCE), 1),
    rest.length > 0 && fold('more-links', `and ${rest.length} more`, list(rest, LINKS_AT_ONCE + 1)));
}

function others(diagnosis, first) {
  const inChain = new Set(diagnosis.chain);
  const lists = [
    ['Other causes', diagnosis.root_causes.filter((cause) => cause !== first && cause.confidence >= LEAST_SHOWN), false],
    ['Found so far; needs more logs to decide', diagnosis.so_far, false],
    ['What else followed', diagnosis.symptoms.filter((finding) => !inChain.has(finding.finding)), true],
    ['Also seen, and not blamed', diagnosis.observations, true],
    ['Causes that are unlikely', diagnosis.root_causes.filter((cause) => cause !== first && cause.confidence < LEAST_SHOWN), true],
  ];
  return lists.map(([title, findings, folded], i) => {
    if (findings.length === 0) return null;
    const list = h('ul', {}, findings.map(oneLine));
    return folded ? fold(`others-${i}`, `${title} (${findings.length})`, list) : h('section', {}, h('h2', {}, title), list);
  });
}

const codeBlock = (text) =>
  text && h('pre', {}, h('code', {}, text));

function missing(diagnosis) {
  const {missing_evidence: lacks, next_time: settings, unread} = diagnosis;
  return [
    unread.length > 0 && fold('unread', `Lines that look like trouble and that no rule recognizes (${unread.length})`,
      h('ul', {class: 'lines'}, unread.map((note) => h('li', {}, h('p', {class: 'dim'}, `${note.source}, line ${note.line}`,
        note.sources > 1 && `, and such lines in ${count(note.sources - 1, 'other source')}`), codeBlock(note.text))))),
    lacks.length > 0 && fold('missing', `What is missing (${lacks.length})`,
      h('ul', {}, lacks.map((evidence) => h('li', {}, h('b', {}, evidence.what), `: ${evidence.why}`, codeBlock(evidence.command))))),
    settings.length > 0 && fold('next-run', `For the next run (${settings.length})`,
      h('ul', {}, settings.map((setting) => h('li', {}, setting.why, codeBlock(setting.set))))),
  ];
}

function checklist({checklist: checks}) {
  if (checks.length === 0) return null;
  const number = (status) => checks.filter((check) => check.status === status).length;
  const order = {fail: 0, unknown: 1, pass: 2};
  return fold('checks', `What was checked (${number('fail')} failed, ${number('unknown')} unknown, ${number('pass')} passed)`,
    h('ul', {class: 'checks'}, [...checks].sort((a, b) => order[a.status] - order[b.status]).map((check) =>
      h('li', {}, h('span', {class: `status ${check.status}`}, {fail: 'failed', unknown: 'unknown', pass: 'passed'}[check.status]), ' ',
        h('b', {}, check.check), check.detail && `: ${check.detail}`, check.status !== 'pass' && codeBlock(check.command)))));
}

function coverage({coverage: hosts, as_of: asOf}) {
  if (hosts.length === 0) return null;
  const cells = (host) => [
    h('th', {scope: 'row'}, host.host ? hostLink(host.host) : 'unknown host'), h('td', {}, ranges(host.ranks)),
    h('td', {}, Object.entries(host.lines).map(([dialect, lines]) => `${dialect} ${lines.toLocaleString('en')}`).join(', ')),
    h('td', {}, host.from ? `${clock(host.from)} to ${clock(host.to)}` : 'no line carries a date')];
  return fold('coverage', `What was read (${count(hosts.length, 'host')})`,
    asOf && h('p', {class: 'dim'}, 'The latest line is of ', when(asOf), '.'),
    h('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'What was read, by host'}, h('table', {},
      h('thead', {}, h('tr', {}, ['host', 'ranks', 'lines', 'dated'].map((name) => h('th', {scope: 'col'}, name)))),
      h('tbody', {}, hosts.map((host) => h('tr', {}, cells(host)))))));
}
