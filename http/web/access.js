// The token that the server may ask for. It is kept by this tab alone.
import {byId} from './dom.js';

const KEY = 'faultline-token';
let asking = null;  // all requests that were refused wait for one answer

export const token = () => sessionStorage.getItem(KEY) ?? '';

// Resolves to whether there is another token now. `why`: the server's own words.
export function askForToken(why) {
  asking ??= ask(why).finally(() => { asking = null; });
  return asking;
}

function ask(why) {
  const dialog = byId('token-dialog');
  const input = byId('token');
  byId('token-why').textContent = why;
  input.value = '';
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
