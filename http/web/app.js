// Finds the page of an address, asks for what it shows, and asks again when something may have changed.
import {askAnew} from './access.js';
import {byId, h, redraw, say} from './dom.js';
import {findingView} from './finding_view.js';
import {findingsView} from './findings_view.js';
import {hostView} from './host_view.js';
import {hostsView} from './hosts_view.js';
import {jobView} from './job_view.js';
import {jobsView} from './jobs_view.js';
import {moveFocus, startKeys} from './keys.js';
import {listen} from './live.js';
import {acknowledge} from './review.js';
import {keepAges} from './words.js';

// A view has: title(data), every (ms), load(signal), draw(data, changed, reload), concerns(finding), and perhaps
// news(data): a text that is said aloud when it changes.
const VIEWS = [
  [/^\/$/, () => jobsView],
  [/^\/jobs\/([^/]+)$/, jobView],
  [/^\/findings$/, () => findingsView],
  [/^\/findings\/([^/]+)$/, findingView],
  [/^\/hosts$/, () => hostsView],
  [/^\/hosts\/([^/]+)$/, hostView],
];
const STATES = {live: 'live', lost: 'reconnecting', refused: 'not live'};
const SOON = 400;  // several findings change at once

let view = null;
let shown = null;  // the data that the view was drawn from
let abort = null;  // of the load that is under way
let again = false;  // something changed since the load began
let timer = 0;

function viewOf(path) {
  for (const [pattern, make] of VIEWS) {
    const match = pattern.exec(path);
    if (match) return make(...match.slice(1).map(decodeURIComponent));
  }
  return jobsView;
}

// Shows the page of the address, scrolled to where it was left. The focus goes to its heading, as on a new page.
async function open(isFirst, scroll = 0) {
  view = viewOf(location.pathname);
  shown = null;
  const main = byId('main');
  redraw(main, h('p', {class: 'dim'}, 'loading…'));
  markPlace();
  await refresh();
  if (isFirst) return;
  scrollTo(0, scroll);
  (main.querySelector('h1') ?? main).focus({preventScroll: true});
}

function markPlace() {
  document.title = `${view.title(shown)} - Faultline`;
  const [, place] = location.pathname.split('/');
  for (const link of document.querySelectorAll('nav a')) {
    const own = link.getAttribute('href').slice(1);
    if (own === (place === 'jobs' ? '' : place)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

// Loads at once, because the user went to another page or wants other data: gives up a load that is under way.
async function refresh() {
  abort?.abort();
  const own = new AbortController();
  const {signal} = own;
  const asked = view;
  abort = own;
  again = false;
  clearTimeout(timer);
  let wait = asked.every;
  try {
    const data = await asked.load(signal);
    if (signal.aborted) return;
    if (again) wait = SOON;
    tellNews(asked, data);
    if (JSON.stringify(data) !== JSON.stringify(shown)) draw(data);
    stale('');
  } catch (problem) {
    if (signal.aborted) return;
    if (problem.status === undefined) throw problem;
    wait = isRefusal(problem) ? 0 : Math.max(1000 * problem.retryAfter, 3000);
    // What was known stays, with a note that it is old.
    if (shown) stale(`This is not up to date: ${problem.message}`);
    else redraw(byId('main'), h('h1', {tabindex: -1}, view.title(null)), h('p', {class: 'summary'}, problem.message), wayOut(problem));
  } finally {
    if (abort === own) {
      abort = null;
      if (wait > 0 && !document.hidden) timer = setTimeout(refresh, wait);
    }
  }
}

// Something changed. A load that is under way goes on: if changes keep coming, no load would ever end otherwise.
function catchUp() {
  if (abort) again = true;
  else refresh();
}

function draw(data) {
  shown = data;
  redraw(byId('main'), view.draw(data, () => draw(shown), refresh));
  markPlace();
}

function tellNews(asked, data) {
  if (!asked.news || !shown) return;
  const news = asked.news(data);
  if (news !== asked.news(shown)) say(news);
}

// Asking again would not help.
const isRefusal = (problem) => problem.status === 401 || problem.status === 403;

function wayOut(problem) {
  if (isRefusal(problem))
    return h('p', {}, h('button', {type: 'button', click: otherToken}, 'Use another token'));
  return h('p', {class: 'dim'}, problem.status === 404 ? h('a', {href: '/'}, 'All jobs') : 'The page tries again in some seconds.');
}

async function otherToken() {
  byId('help-dialog').close();
  if (await askAnew()) refresh();
}

function stale(text) {
  const place = byId('stale');
  if (place.textContent === text) return;
  place.textContent = text;
  place.hidden = !text;
  if (text) say(text);
}

function go(path) {
  history.replaceState({scroll: scrollY}, '');
  history.pushState(null, '', path);
  open(false);
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="/"]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});
addEventListener('popstate', (event) => open(false, event.state?.scroll));
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) catchUp();
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('main').focus();
});
byId('other-token').addEventListener('click', otherToken);

let soon = 0;
function refreshSoon() {
  soon ||= setTimeout(() => {
    soon = 0;
    catchUp();
  }, SOON);
}

let wasLost = false;
function showState(state) {
  const place = byId('live');
  place.className = `connection ${state}`;
  place.textContent = STATES[state];
  if (state === 'live' && wasLost) catchUp();
  if (state === 'lost' && !wasLost && shown) stale('This is not up to date: the connection to the server is lost.');
  wasLost = state === 'lost';
}

startKeys([
  ['/', 'search', () => byId('search')?.focus()],
  ['j', 'next row of the list', () => moveFocus(1)],
  ['k', 'previous row', () => moveFocus(-1)],
  ['a', 'acknowledge the finding that is shown', acknowledge],
  ['c', 'copy the next command', () => document.querySelector('[id^=copy-next]')?.click()],
  ['g', 'all jobs', () => go('/')],
  ['f', 'all findings', () => go('/findings')],
  ['h', 'all hosts', () => go('/hosts')],
]);
setInterval(keepAges, 20_000);
open(true);
listen((finding) => {
  if (view.concerns(finding)) refreshSoon();
}, showState);
