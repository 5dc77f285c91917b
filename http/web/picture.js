// The picture of where the ranks stand. Hosts with a rank that differs from its peers come first; if there are many
// hosts, each of the others is only a square.
import {ask} from './api.js';
import {byId, fold, h, redraw} from './dom.js';
import {clock, count, hostLink, ranges} from './words.js';

const ROWS_IN_FULL = 16;  // so many hosts have a row each, whatever their state
const MOST_ODD_ROWS = 12;
const MOST_IN_ROW = 16;

// From the worst on; a host has the state of its worst rank. `glyph`: for users who cannot tell red from green.
const STATES = {
  behind: {says: 'behind: others wait for it', short: 'behind', glyph: '◀'},
  silent: {says: 'silent: its log breaks off', short: 'silent', glyph: '×'},
  diverged: {says: 'called something else than its peers', short: 'called something else', glyph: '≠'},
  unseen: {says: 'no line of it was seen', short: 'never seen', glyph: '?'},
  unknown: {says: 'nothing tells where it stands', short: 'nothing is known', glyph: '·'},
  in_step: {says: 'in step', short: 'in step', glyph: ''},
};
const ORDER = Object.keys(STATES);
const worse = (a, b) => (ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b);

// The ranks with their states, by host; under the name '' ranks of which no line was seen, unless the cause names their
// host.
function hostsOf(diagnosis, ranks, first) {
  const missing = first?.subject.hosts.length === 1 ? new Set(first.subject.ranks) : new Set();
  const silent = new Set(diagnosis.ranks.silent);
  const seen = new Set();
  const hosts = new Map();
  const put = (host, rank) => {
    if (!hosts.has(host)) hosts.set(host, {host, ranks: [], state: 'in_step'});
    const entry = hosts.get(host);
    entry.ranks.push(rank);
    entry.state = worse(rank.state, entry.state);
  };
  for (const rank of ranks) {
    seen.add(rank.rank);
    const quiet = silent.has(rank.rank) && rank.state !== 'behind';
    put(rank.host, {...rank, state: quiet ? 'silent' : rank.state});
  }
  for (let rank = 0; rank < diagnosis.ranks.expected; ++rank)
    if (!seen.has(rank) && !seen.has(null)) put(missing.has(rank) ? first.subject.hosts[0] : '', {rank, state: 'unseen'});
  return [...hosts.values()];
}

// In a hang, a rank that is in step waits.
const nameOf = (state, verdict) =>
  (state === 'in_step' && verdict === 'hang' ? 'waits' : STATES[state].short);

function cell(rank, blamed, verdict, show) {
  const {short, glyph} = STATES[rank.state];
  return h('button', {type: 'button', id: `rank-${rank.rank}`, tabindex: -1,
    class: `cell ${rank.state}${blamed ? ' blamed' : ''}`,
    'aria-label': `rank ${rank.rank ?? 'unknown'}: ${nameOf(rank.state, verdict)}`,
    title: `rank ${rank.rank ?? '?'}, ${nameOf(rank.state, verdict)}${rank.gpu ? `, GPU ${rank.gpu}` : ''}`,
    click: () => show(rank)}, glyph && h('span', {'aria-hidden': 'true'}, glyph), rank.rank ?? '?');
}

function row(entry, context) {
  const cells = entry.ranks.slice(0, MOST_IN_ROW);
  const rest = entry.ranks.slice(MOST_IN_ROW);
  return h('li', {class: context.isBlamed(entry) ? 'host blamed' : 'host'},
    h('span', {class: 'name', title: entry.host}, entry.host ? hostLink(entry.host) : 'never seen'),
    h('span', {class: 'cells'}, cells.map((rank) => cell(rank, context.blamed.has(rank.rank), context.verdict, context.show)),
      rest.length > 0 && h('span', {class: 'dim'}, `and ${ranges(rest.map((rank) => rank.rank))}`)));
}

// "1 behind, 1,023 wait"
function tally(hosts, verdict) {
  const counts = new Map();
  for (const {ranks} of hosts)
    for (const {state} of ranks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return ORDER.filter((state) => counts.has(state)).map((state) =>
    h('li', {}, h('span', {class: `cell sample ${state}`, 'aria-hidden': 'true'}, STATES[state].glyph),
      h('b', {}, counts.get(state).toLocaleString('en')),
      state !== 'in_step' || verdict !== 'hang' ? STATES[state].says : counts.get(state) === 1 ? 'waits' : 'wait'));
}

// A square for each host that is not drawn in full.
function folded(hosts, context) {
  const all = hosts.flatMap((entry) => entry.ranks);
  return [
    h('ul', {class: 'squares', 'aria-label': 'hosts that are not drawn rank by rank'}, hosts.map((entry) =>
      h('li', {class: `square ${entry.state}`,
        title: `${entry.host || 'never seen'}: ${count(entry.ranks.length, 'rank')}, ${STATES[entry.state].short}`}))),
    fold('other-hosts', `${count(hosts.length, 'other host')}, ${count(all.length, 'rank')}`,
      h('ul', {class: 'hosts'}, hosts.map((entry) => row(entry, context))))];
}

// diagnosis and ranks: as in the API; first: the cause that is shown first, or null.
export function picture(diagnosis, ranks, first) {
  const hosts = hostsOf(diagnosis, ranks, first);
  if (hosts.length === 0) return null;
  const blamedHosts = new Set(first?.subject.hosts ?? []);
  const context = {
    verdict: diagnosis.verdict,
    blamed: new Set(first?.subject.ranks ?? []),
    isBlamed: (entry) => blamedHosts.has(entry.host),
    show: (rank) => choose(diagnosis, rank),
  };
  const order = (entry) => (context.isBlamed(entry) ? -1 : ORDER.indexOf(entry.state));
  const sorted = [...hosts].sort((a, b) => order(a) - order(b));
  const odd = sorted.filter((entry) => context.isBlamed(entry) || entry.state !== 'in_step').slice(0, MOST_ODD_ROWS);
  const shown = sorted.length <= ROWS_IN_FULL ? sorted : odd;
  const others = sorted.slice(shown.length);
  const section = h('section', {id: 'ranks', class: 'picture', 'aria-labelledby': 'ranks-title', keydown: move},
    h('h2', {id: 'ranks-title'}, `Ranks: ${diagnosis.ranks.seen.toLocaleString('en')} of ${diagnosis.ranks.expected.toLocaleString('en')} seen`),
    h('ul', {class: 'legend'}, tally(hosts, diagnosis.verdict)),
    h('ul', {class: 'hosts'}, shown.map((entry) => row(entry, context))),
    others.length > 0 && folded(others, context),
    h('div', {id: 'standing', 'aria-live': 'polite', 'data-kept': true}));
  const entry = section.querySelector('button.behind, button.blamed') ?? section.querySelector('button.cell');
  if (entry) entry.tabIndex = 0;
  const told = byId('standing')?.hasChildNodes() && hosts.flatMap((host) => host.ranks).find((rank) => rank.rank === chosen);
  if (told) standing(diagnosis, told);
  return section;
}

// Arrow keys go from cell to cell: nobody would press Tab a thousand times.
function move(event) {
  const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 'down', ArrowUp: 'up'}[event.key];
  if (!step || !event.target.matches('button.cell')) return;
  const cells = [...event.currentTarget.querySelectorAll('button.cell')].filter((one) => one.offsetParent);
  const at = cells.indexOf(event.target);
  const next = typeof step === 'number' ? cells[at + step] : cellInRow(cells, at, step === 'down' ? 1 : -1);
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// The nearest cell above or below.
function cellInRow(cells, at, direction) {
  const from = cells[at].getBoundingClientRect();
  const beyond = cells.map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => (box.top - from.top) * direction > from.height / 2);
  const distance = ([, box]) => Math.abs(box.top - from.top) * 1000 + Math.abs(box.left - from.left);
  return beyond.sort((a, b) => distance(a) - distance(b))[0]?.[0];
}

let chosen = null;  // the rank that is described below the picture
let questions = 0;  // only the last question is answered

function choose(diagnosis, rank) {
  chosen = rank.rank;
  redraw(byId('standing'), h('p', {class: 'dim'}, `loading rank ${rank.rank ?? '?'}…`));
  standing(diagnosis, rank);
}

// Loads the rank again whenever the picture is drawn anew.
async function standing(diagnosis, rank) {
  const question = ++questions;
  const told = h('div', {}, await whatIsKnown(diagnosis, rank));
  const place = byId('standing');
  // Content that did not change is not inserted again: it would be read aloud again.
  if (place?.hasChildNodes() && question === questions && !place.firstElementChild?.isEqualNode(told)) redraw(place, told);
}

async function whatIsKnown(diagnosis, rank) {
  if (rank.rank === null) return h('p', {}, 'It is not known which rank this is.');
  if (rank.state === 'unseen') return h('p', {}, `No line of rank ${rank.rank} was seen.`);
  try {
    const {ranks} = await ask(`/api/v1/jobs/${encodeURIComponent(diagnosis.job)}/ranks?rank=${rank.rank}&attempt=${diagnosis.attempt}`);
    return ranks.map((one) => table({...one, state: rank.state}));
  } catch (problem) {
    return h('p', {}, problem.message);
  }
}

const COLUMNS = ['communicator', 'collectives entered', 'behind its furthest peer by', 'last call', 'its line'];

const lineOf = ({source, line, time}) => `${source}, line ${line}${time ? `, ${clock(time)}` : ''}`;

const table = (rank) => [
  h('h3', {}, `Rank ${rank.rank}: ${STATES[rank.state].says}`),
  h('p', {}, 'on ', hostLink(rank.host), rank.gpu && `, GPU ${rank.gpu}`, rank.pid && `, process ${rank.pid}`),
  h('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': `Standing of rank ${rank.rank}`}, h('table', {},
    h('thead', {}, h('tr', {}, COLUMNS.map((name) => h('th', {scope: 'col'}, name)))),
    h('tbody', {}, [...rank.standings].sort((a, b) => b.behind - a.behind).map((one) => h('tr', {class: one.behind > 0 ? 'late' : null},
      h('td', {}, h('code', {}, one.communicator)), h('td', {}, one.position), h('td', {}, one.behind || '-'), h('td', {}, one.last_call || '-'),
      h('td', {}, one.last_line ? lineOf(one.last_line) : '-')))))),
];
