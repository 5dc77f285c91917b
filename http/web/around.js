// The lines around a line of evidence, once somebody asks for them.
import {ask} from './api.js';
import {h} from './dom.js';
import {count} from './words.js';

const AROUND = 12;

const LEFT_OUT = {calls: 'NCCL calls', 'not kept': 'not kept (--keep-lines)'};

function row(shown, line) {
  const lines = shown.last - shown.line + 1;
  if (shown.text === null) return h('span', {class: 'dim'}, `… ${count(lines, 'line')}: ${LEFT_OUT[shown.left_out]}\n`);
  return h('span', {class: shown.line === line ? 'it' : null}, h('span', {class: 'dim'}, `${shown.line}  `), `${shown.text}\n`);
}

async function load(job, evidence, place) {
  const query = new URLSearchParams({source: evidence.source, line: evidence.line, around: AROUND});
  try {
    const {lines} = await ask(`/api/v1/jobs/${encodeURIComponent(job)}/lines?${query}`);
    const label = `Lines around line ${evidence.line} of ${evidence.source}`;
    place.replaceChildren(h('pre', {class: 'around', tabindex: 0, role: 'region', 'aria-label': label},
      lines.map((shown) => row(shown, evidence.line))));
  } catch (error) {
    place.replaceChildren(h('p', {class: 'dim failed'}, error.message));
  }
}

export function around(job, evidence, id) {
  const place = h('div', {id: `${id}-lines`, 'data-kept': true});
  return h('details', {id, class: 'around-fold', toggle: (event) => {
    const isShown = place.childNodes.length > 0 && !place.querySelector('.failed');
    if (event.target.open && !isShown) load(job, evidence, place);
  }}, h('summary', {}, 'lines around it'), place);
}
