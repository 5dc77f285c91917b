// All jobs: the worst first, then the latest.
import {askAll} from './api.js';
import {h} from './dom.js';
import {MOST_SHOWN, asked, leftOut, matches, remember, searchBox} from './filter.js';
import {LEAST_TO_BLAME, VERDICTS, ageOf, badge, count, sureness, when} from './words.js';

export const jobsView = {
  title: () => 'Jobs',
  every: 15_000,
  load: async (signal) => {
    const {rows, more} = await askAll('/api/v1/jobs?sort=severity', 'jobs', signal);
    return {jobs: rows, more};
  },
  concerns: () => true,
  draw: ({jobs, more}, changed) => {
    const chosen = new Set(asked('verdict').split(',').filter(Boolean));
    const shown = jobs.filter((job) => (chosen.size === 0 || chosen.has(job.verdict)) && matches(job.job, job.cause, job.verdict));
    return [
      h('div', {class: 'head'}, h('h1', {tabindex: -1}, 'Jobs'), searchBox('Search jobs, hosts, causes', changed)),
      jobs.length > 0 && verdicts(jobs, chosen, changed),
      jobs.length === 0 ? welcome() : h('ul', {class: 'rows', 'aria-label': 'Jobs, the worst first'}, shown.slice(0, MOST_SHOWN).map(row)),
      jobs.length > 0 && shown.length === 0 && h('p', {}, 'No job matches.'),
      leftOut(shown, more && `Only the worst ${count(jobs.length, 'job')} are searched; there are more.`),
    ];
  },
};

function verdicts(jobs, chosen, changed) {
  const choose = (verdict) => {
    if (!chosen.delete(verdict)) chosen.add(verdict);
    remember('verdict', [...chosen].join(','));
    changed();
  };
  return h('div', {class: 'choices', role: 'group', 'aria-label': 'Only these verdicts'},
    Object.keys(VERDICTS).map((verdict) => {
      const number = jobs.filter((job) => job.verdict === verdict).length;
      return (number > 0 || chosen.has(verdict)) && h('button', {type: 'button', id: `verdict-${verdict}`,
        class: `choice ${verdict}`, 'aria-pressed': String(chosen.has(verdict)), click: () => choose(verdict)},
      `${VERDICTS[verdict]} `, h('b', {}, number));
    }));
}

function row(job) {
  const {seen, expected} = job.ranks;
  return h('li', {class: job.verdict}, h('a', {class: 'row', id: `job-${job.job}`, href: `/jobs/${encodeURIComponent(job.job)}`},
    h('span', {class: 'row-head'}, badge(job.verdict), h('b', {class: 'name'}, job.job),
      h('span', {class: 'dim since'}, job.since ? ['since ', when(job.since)] : job.last_activity && ['last lines ', ageOf(job.last_activity)])),
    job.cause && h('span', {class: 'row-cause'}, job.confidence < LEAST_TO_BLAME && 'possible: ', job.cause, ' ',
      h('span', {class: 'dim'}, sureness(job.confidence))),
    h('span', {class: 'dim row-foot'}, expected > 0 ? `${seen.toLocaleString('en')} of ${count(expected, 'rank')} seen` : seen > 0 ? `${count(seen, 'rank')} seen` : 'no ranks seen',
      job.attempts > 1 && `, attempt ${job.attempts}`, job.since && job.last_activity && [', last lines came ', ageOf(job.last_activity)])));
}

const welcome = () => h('section', {class: 'card'}, h('h2', {}, 'No job yet'), h('p', {}, 'Send the log of one:'),
  h('pre', {}, h('code', {}, `curl -T nccl.log '${location.origin}/api/v1/ingest?job=llama'`)));
