// The token that the server may ask for. Only this tab keeps it.
import {byId} from './dom.js';

const KEY = 'faultline-token';
let asking = null;     // all requests that were refused wait for one answer
let declined = false;  // a user who gives no token is not asked again and again

export const token = () => sessionStorage.getItem(KEY) ?? '';

// Resolves to whether there is a new token now. `why`: the server's own words.
export async function askForToken(why) {
  if (declined) return false;
  asking ??= ask(why).finally(() => { asking = null; });
  const given = await asking;
  declined = !given;
  return given;
}

// The user wants to enter a token.
export function askAnew() {
  declined = false;
  return askForToken('');
}

// fetch() fails for a token that a header cannot carry, which would look as if the server were away.
byId('token').addEventListener('input', ({target}) => {
  target.setCustomValidity(/^[\x21-\x7e]*$/.test(target.value.trim()) ? '' : 'A token has no such characters. Copy it again, without anything around it.');
});

function ask(why) {
  const dialog = byId('token-dialog');
  const input = byId('token');
  byId('token-why').textContent = why;
  input.value = '';
  input.setCustomValidity('');
  dialog.returnValue = '';
  dialog.showModal();
  input.focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const given = input.value.trim();
      input.value = '';
      if (dialog.returnValue !== 'use' || !given) return resolve(false);
      sessionStorage.setItem(KEY, given);
      resolve(true);
    }, {once: true});
  });
}
