// All jobs: the worst first, or those that were heard last.
import {askAll} from './api.js';
import {h} from './dom.js';
import {MOST_SHOWN, asked, leftOut, matches, remember, searchBox} from './filter.js';
import {LEAST_TO_BLAME, VERDICTS, ageOf, badge, count, sureness, when} from './words.js';

// The names are values of `sort`, of the page's address and of the API.
const ORDERS = [['severity', 'worst first', 'the worst first'], ['activity', 'latest first', 'those that were heard last first']];
const order = () => ORDERS.find(([name]) => name === asked('sort')) ?? ORDERS[0];

export const jobsView = {
  title: () => 'Jobs',
  every: 15_000,
  load: async (signal) => {
    const [sort] = order();
    const {rows, more} = await askAll(`/api/v1/jobs?sort=${sort}`, 'jobs', signal);
    return {jobs: rows, more, sort};
  },
  concerns: () => true,
  draw: ({jobs, more}, changed, reload) => {
    const chosen = new Set(asked('verdict').split(',').filter(Boolean));
    const shown = jobs.filter((job) => (chosen.size === 0 || chosen.has(job.verdict)) && matches(job.job, job.cause, job.verdict));
    return [
      h('div', {class: 'head'}, h('h1', {tabindex: -1}, 'Jobs'), searchBox('Search jobs, hosts, causes', changed)),
      jobs.length > 0 && verdicts(jobs, chosen, changed),
      jobs.length > 0 && orders(reload),
      jobs.length === 0 ? welcome() : h('ul', {class: 'rows', 'aria-label': `Jobs, ${order()[2]}`}, shown.slice(0, MOST_SHOWN).map(row)),
      jobs.length > 0 && shown.length === 0 && h('p', {}, 'No job matches.'),
      leftOut(shown, more && `Only ${count(jobs.length, 'job')} are searched, ${order()[2]}; there are more.`),
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

function orders(reload) {
  const choose = (sort) => {
    remember('sort', sort === ORDERS[0][0] ? '' : sort);
    reload();
  };
  return h('div', {class: 'choices', role: 'group', 'aria-label': 'Order'}, ORDERS.map(([sort, words]) =>
    h('button', {type: 'button', id: `by-${sort}`, class: 'choice', 'aria-pressed': String(order()[0] === sort),
      click: () => choose(sort)}, words)));
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
