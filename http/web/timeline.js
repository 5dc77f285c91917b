// What happened when, and where, in the rows of the server: hosts, and the ranks that matter. A mark is as wide as the
// uncertainty of its time.
import {h, svg} from './dom.js';
import {clock, findingLink, hostLink} from './words.js';

const WIDTH = 1000;
const GLYPHS = {behind: '◀', silent: '×', unseen: '?'};

// With microseconds, which a Date cuts off.
const seconds = (time) => Date.parse(time.replace(/\.\d+/, '')) / 1000 + Number(/\.\d+/.exec(time)?.[0] ?? 0);

function after(time, start) {
  const gone = seconds(time) - seconds(start);
  if (gone < 1) return gone < 0.001 ? '' : `+${gone.toFixed(3)} s`;
  return gone < 120 ? `+${+gone.toFixed(3)} s` : `+${Math.floor(gone / 60)} min ${Math.round(gone % 60)} s`;
}

// times: as the API answers; null: it has none.
export function timeline(diagnosis, times, first) {
  const {timeline: entries, clock_offsets: offsets} = diagnosis;
  if (entries.length === 0) return null;
  const start = entries.find((entry) => entry.time)?.time;
  return h('section', {'aria-labelledby': 'timeline-title'}, h('h2', {id: 'timeline-title'}, 'What happened when'),
    times?.rows.length > 0 && chart(diagnosis, times, first),
    h('ol', {class: 'events'}, entries.map((entry) => h('li', {class: entry.finding === first?.finding ? 'cause' : null},
      h('span', {class: 'time'}, entry.time ? clock(entry.time) : 'time unknown', ' ', h('b', {}, entry.time ? after(entry.time, start) : '')),
      h('span', {}, findingLink(entry.finding, entry.what),
        entry.host && !entry.what.includes(entry.host) && [' (', hostLink(entry.host), ')'])))),
    times?.doubts.length > 0 && h('p', {class: 'dim'}, times.doubts.join(' ')),
    offsets.length > 0 && h('ul', {class: 'dim'}, offsets.map((offset) => h('li', {},
      `The clock of ${offset.host} is ${Math.abs(offset.seconds).toFixed(1)} s ${offset.seconds > 0 ? 'ahead' : 'behind'} `,
      `(${offset.basis}); its times are corrected here, to about 2 s.`))));
}

function chart(diagnosis, times, first) {
  const entries = new Map(diagnosis.timeline.map((entry) => [entry.finding, entry]));
  return h('div', {class: 'chart'},
    h('ul', {}, times.rows.map((row) => h('li', {class: row.kind},
      h('span', {class: 'name', title: row.name}, row.name,
        GLYPHS[row.state] && [' ', h('span', {class: `cell sample ${row.state}`, 'aria-hidden': 'true'}, GLYPHS[row.state])]),
      times.from && bar(row, times, entries, first),
      // The section "What was read" has the span of a host in words.
      row.note && h('span', {class: row.kind === 'host' && row.from ? 'note aloud' : 'note dim'}, row.note)))),
    times.from && h('p', {class: 'axis dim', 'aria-hidden': 'true'}, h('span', {}, clock(times.from)),
      h('span', {}, times.last_line && `last line ${clock(times.last_line)}`)));
}

function bar(row, times, entries, first) {
  const [from, to] = [seconds(times.from), seconds(times.to)];
  const place = (second) => ((Math.min(to, Math.max(from, second)) - from) / (to - from)) * WIDTH;
  // Draws nothing if all of it lies outside.
  const box = (kind, begin, end, least, y, height, ...inside) => {
    if (!begin || !end || seconds(end) < from || seconds(begin) > to) return null;
    const x = Math.min(place(seconds(begin)), WIDTH - least);
    return svg('rect', {class: kind, x, y, width: Math.max(least, place(seconds(end)) - x), height}, ...inside);
  };
  return svg('svg', {viewBox: `0 0 ${WIDTH} 22`, preserveAspectRatio: 'none', 'aria-hidden': 'true', class: 'lane'},
    box('span open', row.from, row.to, 2, 8, 6), box('span', row.surely_from, row.surely_to, 2, 8, 6),
    row.marks.map((mark) => {
      const entry = entries.get(mark.finding);
      const [kind, y, height] = mark.finding === first?.finding ? ['mark cause', 6, 10] : ['mark', 3, 16];
      return box(kind, mark.from, mark.to, 5, y, height,
        entry && svg('title', {}, `${clock(entry.time)} ${entry.what}`));
    }));
}
