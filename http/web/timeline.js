// What happened when, and where. A mark is as wide as what the stamp of its line leaves open.
import {h, svg} from './dom.js';
import {clock, findingLink, hostLink} from './words.js';

const MOST_LANES = 10;
const WIDTH = 1000;
const LANE = 22;
const TRUSTED = 2;  // seconds that clocks of different hosts are trusted to

// A stamp without a fraction is of a log that prints seconds.
function openSeconds(time) {
  const fraction = /\.(\d+)Z$/.exec(time);
  return fraction ? 10 ** -fraction[1].length : 1;
}

const seconds = (time) => new Date(time).getTime() / 1000;

function after(time, start) {
  const gone = seconds(time) - seconds(start);
  if (gone < 1) return gone < 0.001 ? '' : `+${gone.toFixed(3)} s`;
  return gone < 120 ? `+${+gone.toFixed(3)} s` : `+${Math.floor(gone / 60)} min ${Math.round(gone % 60)} s`;
}

export function timeline(diagnosis, first) {
  const {timeline: entries, clock_offsets: offsets} = diagnosis;
  if (entries.length === 0) return null;
  const dated = entries.filter((entry) => entry.time);
  const start = dated[0]?.time;
  return h('section', {'aria-labelledby': 'timeline-title'}, h('h2', {id: 'timeline-title'}, 'What happened when'),
    dated.length > 1 && lanes(diagnosis, dated, first),
    h('ol', {class: 'events'}, entries.map((entry) => h('li', {class: entry.finding === first?.finding ? 'cause' : null},
      h('span', {class: 'time'}, entry.time ? clock(entry.time) : 'time unknown', ' ', h('b', {}, entry.time ? after(entry.time, start) : '')),
      h('span', {}, findingLink(entry.finding, entry.what),
        entry.host && !entry.what.includes(entry.host) && [' (', hostLink(entry.host), ')'])))),
    h('p', {class: 'dim'}, doubts(dated, offsets)),
    offsets.length > 0 && h('ul', {class: 'dim'}, offsets.map((offset) => h('li', {},
      `The clock of ${offset.host} is ${Math.abs(offset.seconds).toFixed(1)} s ${offset.seconds > 0 ? 'ahead' : 'behind'} `,
      `(${offset.basis}); its times are put right here.`))));
}

function doubts(dated, offsets) {
  const hosts = new Set(dated.map((entry) => entry.host)).size;
  const coarse = dated.filter((entry) => openSeconds(entry.time) >= 1).length;
  return [
    coarse > 0 && `${coarse === dated.length ? 'All' : coarse} of these times are known to the second only: which came first within `,
    coarse > 0 && 'one, nobody can tell. ',
    hosts > 1 && offsets.length === 0 && `Clocks of different hosts are trusted to ${TRUSTED} s. `,
  ];
}

// A lane for each host: when its lines were dated, and what was found.
function lanes(diagnosis, dated, first) {
  const hosts = [...new Set(dated.map((entry) => entry.host))].slice(0, MOST_LANES);
  const from = Math.min(...dated.map((entry) => seconds(entry.time)));
  const to = Math.max(...dated.map((entry) => seconds(entry.time) + openSeconds(entry.time)),
    seconds(diagnosis.as_of ?? dated.at(-1).time));
  const pad = Math.max(0.5, (to - from) * 0.05);
  const within = (second) => Math.min(to + pad, Math.max(from - pad, second));
  const place = (second) => ((within(second) - from + pad) / (to - from + 2 * pad)) * WIDTH;
  const height = hosts.length * LANE;
  const spans = new Map(diagnosis.coverage.map((host) => [host.host, host]));
  const drawing = svg('svg', {viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', class: 'lanes'},
    hosts.map((host, i) => lane(spans.get(host), i, place, dated.filter((entry) => entry.host === host), first)));
  return h('div', {class: 'chart'},
    h('ul', {class: 'lane-names', 'aria-hidden': 'true'}, hosts.map((host) => h('li', {title: host}, host || 'no host'))), drawing,
    h('p', {class: 'axis dim', 'aria-hidden': 'true'}, h('span', {}, clock(dated[0].time)),
      h('span', {}, diagnosis.as_of && `last line ${clock(diagnosis.as_of)}`)));
}

function lane(span, i, place, entries, first) {
  const y = i * LANE;
  const bar = span?.from && svg('rect', {class: 'span', x: place(seconds(span.from)), y: y + 8,
    width: Math.max(2, place(seconds(span.to)) - place(seconds(span.from))), height: 6});
  return svg('g', {}, bar, entries.map((entry) => {
    const x = place(seconds(entry.time));
    const width = Math.max(5, place(seconds(entry.time) + openSeconds(entry.time)) - x);
    return svg('rect', {class: entry.finding === first?.finding ? 'mark cause' : 'mark', x, y: y + 3, height: 16, width},
      svg('title', {}, `${clock(entry.time)} ${entry.what}`));
  }));
}
