// One finding: the page that an alert links to.
import {ask} from './api.js';
import {h} from './dom.js';
import {against, evidence, facts, kind, nextCard, nextStepOf, subject} from './finding.js';
import {review} from './review.js';
import {LEAST_TO_BLAME, jobLink, severity} from './words.js';

const ROLES = {
  cause: 'The cause of what is wrong with',
  symptom: 'A sign of what is wrong with',
  observation: 'Seen in, and not blamed:',
};

// A finding that is only possible, a symptom, or resolved does not accuse anybody.
function colour({role, state, confidence}) {
  if (role !== 'cause' || state !== 'open') return 'card';
  return confidence >= LEAST_TO_BLAME ? 'card culprit' : 'card culprit possible';
}

export function findingView(id) {
  const path = `/api/v1/findings/${encodeURIComponent(id)}`;
  return {
    title: (finding) => finding?.title ?? 'Finding',
    every: 30_000,
    concerns: (finding) => finding.finding === id,
    load: (signal) => ask(path, signal),
    draw: (finding, changed, reload) => {
      const next = nextStepOf(finding);
      return [
        h('div', {class: 'head'}, h('h1', {tabindex: -1, class: 'long'}, finding.title), severity(finding.severity)),
        h('p', {}, `${ROLES[finding.role] ?? 'Found in'} `, h('b', {}, jobLink(finding.job)), finding.attempt > 1 && `, attempt ${finding.attempt}`),
        h('section', {class: colour(finding), 'aria-label': 'About'}, h('p', {class: 'kicker'}, kind(finding)), subject(finding), facts(finding)),
        next && nextCard(next, finding),
        review(finding, reload),
        h('section', {'aria-labelledby': 'why-title'}, h('h2', {id: 'why-title'}, 'The lines that show it'), evidence(finding.job, finding), against(finding)),
      ];
    },
  };
}
