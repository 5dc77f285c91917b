// Listens for findings that change: reads the stream of server-sent events with fetch(), because EventSource sends no
// Authorization. It goes on where it ended, also after a restart of the server.
import {send} from './api.js';

const LONGEST_SILENCE = 40_000;  // a sign of life comes every 15 s
const LONGEST_WAIT = 10_000;
const REFUSED_WAIT = 60_000;

// Calls told(finding) for each finding, and state('live', 'lost', or 'refused' if the token may not read) at a change.
export function listen(told, state) {
  let last = '';  // id of the last event
  let stop = null;
  let wait = 0;

  // Reads the stream until it ends; resolves to how long to wait before the next try.
  async function hear() {
    const abort = new AbortController();
    stop = () => abort.abort();
    let silence = 0;
    const alive = () => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), LONGEST_SILENCE);
    };
    try {
      alive();
      const response = await send('/api/v1/findings/stream',
        {signal: abort.signal, headers: last ? {'Last-Event-ID': last} : {}});
      state('live');
      wait = 0;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const {value, done} = await reader.read();
        if (done) break;
        alive();
        text += value;
        const events = text.split('\n\n');
        text = events.pop();
        events.forEach(take);
      }
    } catch (error) {
      if (error.status === 401 || error.status === 403) return REFUSED_WAIT;
      wait = Math.max(wait, (error.retryAfter ?? 0) * 1000);
    } finally {
      clearTimeout(silence);
    }
    wait = Math.min(LONGEST_WAIT, Math.max(500, wait * 2));
    return wait;
  }

  function take(event) {
    const fields = new Map(event.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
    if (fields.has('id')) last = fields.get('id');
    if (fields.get('event') === 'finding') told(JSON.parse(fields.get('data')));
  }

  // A hidden tab keeps no connection open: a browser has only six of them for all its tabs.
  async function run() {
    while (!document.hidden) {
      const pause = await hear();
      if (document.hidden) return;
      state(pause === REFUSED_WAIT ? 'refused' : 'lost');
      await new Promise((resume) => { setTimeout(resume, pause); });
    }
  }

  let running = false;
  async function start() {
    if (running) return;
    running = true;
    await run();
    running = false;
    if (!document.hidden) start();
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stop?.();
    else start();
  });
  start();
}
