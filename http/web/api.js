// Asks the server. If it refuses, the error is a Problem with the server's own words.
import {askForToken, token} from './access.js';

export class Problem extends Error {
  constructor(detail, status, retryAfter) {
    super(detail);
    this.status = status;          // 0: the server was not reached
    this.retryAfter = retryAfter;  // seconds; 0: it names none
  }
}

// Like fetch(), but throws a Problem unless the answer is a success.
export async function send(path, options = {}) {
  for (;;) {
    const used = token();
    const response = await reach(path, used, options);
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401) throw problem;
    // The user may have given another token meanwhile.
    if (token() === used && !await askForToken(used ? problem.message : '')) throw problem;
  }
}

async function reach(path, used, {headers = {}, ...options}) {
  try {
    // 'omit' would leave out a certificate, too. X-Requested-With keeps the server from making the browser ask for a
    // password.
    return await fetch(path, {...options, credentials: 'same-origin', cache: 'no-store',
      headers: {...headers, 'X-Requested-With': 'fetch', ...(used && {Authorization: `Bearer ${used}`})}});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem('The server cannot be reached.', 0, 0);
  }
}

async function problemOf(response) {
  const said = await response.json().catch(() => ({}));
  return new Problem(said.detail ?? `The server answered ${response.status}.`, response.status,
    Number(response.headers.get('Retry-After') ?? 0));
}

export const ask = async (path, signal) => bodyOf(await send(path, {signal}));

export const tell = async (path, said) =>
  bodyOf(await send(path, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(said)}));

async function bodyOf(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem('The answer of the server broke off.', 0, 0);
  }
}

// All pages of a list, up to `most` rows. `more`: there are more rows.
export async function askAll(path, name, signal, most = 5000) {
  const rows = [];
  let cursor = null;
  do {
    const url = new URL(path, location.origin);
    url.searchParams.set('limit', '1000');
    if (cursor) url.searchParams.set('cursor', cursor);
    const page = await ask(url.pathname + url.search, signal);
    rows.push(...page[name]);
    cursor = page.next_cursor;
  } while (cursor && rows.length < most);
  return {rows, more: cursor !== null};
}

// null if there is no such thing, or if the token is not good for it.
export const askMaybe = (path, signal) =>
  ask(path, signal).catch((problem) => {
    if (problem.status === 404 || problem.status === 403) return null;
    throw problem;
  });
