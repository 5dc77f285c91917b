// The page in a browser with a certificate that stands for a token, and in other browsers. `./dev page` runs it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {Certificates} from './certificates.mjs';
import {Server, run} from './server.mjs';
import {Tab} from './watched.mjs';

const {FAULTLINE_BINARY: binary, CHROMIUM: chromium} = process.env;
const OFF_BUS = '[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen off the bus.\n';
const TITLE = /on gpu-7 fell off the bus/;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'faultline_certificates.'));
const certificates = new Certificates(path.join(folder, 'certificates'));
let server;

before(async () => {
  certificates.authority('ca');
  // An authority of the same name: a browser takes its certificates for those of the first one, and presents them.
  certificates.authority('impostor', 'ca');
  for (const name of ['server', 'sender', 'ann', 'stranger']) certificates.issue(name, 'ca');
  fs.mkdirSync(path.join(folder, 'served'));
  const tokens = path.join(folder, 'tokens');
  for (const [name, scopes] of [['sender', 'ingest,read'], ['ann', 'read,operate'], ['brief', 'read'], ['forged', 'read'], ['past', 'read']])
    fs.appendFileSync(tokens, run(binary, ['token', name, '--scope', scopes, '--certificate', `cn:${name}`]).out);
  server = await new Server(binary, path.join(folder, 'served'),
    [...certificates.serverFlags('server', 'ca'), '--tokens', tokens], certificates.tls('sender', 'ca')).start();
  await server.send('llama-1', OFF_BUS, '&host=gpu-7');
});

after(async () => {
  await server?.kill();
  fs.rmSync(folder, {recursive: true});
});

// Runs `look` in a browser of a user of its own, with the certificate `client`.
async function as(client, look) {
  const browser = await certificates.browser(chromium, `home-${client}`, server.url(''), 'ca', client);
  try {
    await look(await Tab.open(browser, server));
  } finally {
    await browser.close();
  }
}

// Neither the page nor an address that is typed in shows anything of the job.
async function isShownNothing(tab) {
  for (const where of ['/jobs/llama-1', '/', '/api/v1/jobs', '/api/v1/jobs/llama-1/diagnosis?format=html']) {
    await tab.page.goto(server.url(where)).catch(() => {});
    await new Promise((done) => { setTimeout(done, 300); });
    const shown = await tab.page.evaluate(() => document.documentElement.textContent);
    assert.doesNotMatch(shown, /gpu-7|off the bus|\{"jobs"/, where);
  }
}

test('a browser whose certificate stands for a token is shown the job, and asked for none', async () => {
  await as('ann', async (tab) => {
    await tab.go('/');
    await tab.page.click('.row[href="/jobs/llama-1"]');
    await tab.page.waitForSelector('#culprit-title');
    assert.match(await tab.text('#culprit-title'), TITLE);
    await tab.page.waitForSelector('.connection.live');
    await tab.page.click('[id^=review-acknowledged]');
    await tab.page.waitForSelector('.taken');
    assert.equal(await tab.page.$('#token-dialog[open]'), null);
    assert.equal(await tab.page.evaluate(() => JSON.stringify(sessionStorage)), '{}');
    assert.deepEqual(tab.wrong, []);
  });
});

test('a certificate that has no line in the file of tokens shows nothing, and a token is asked for', async () => {
  await as('stranger', async (tab) => {
    await tab.page.goto(server.url('/jobs/llama-1'));
    await tab.page.waitForSelector('#token-dialog[open]');
    assert.equal(await tab.page.$('#culprit-title'), null);
    await isShownNothing(tab);
    assert.ok(tab.wrong.every((what) => /40[01]/.test(what)), tab.wrong.join('\n'));
  });
});

test('a certificate of another issuer, though of one that bears the name of ours, is shown nothing', async () => {
  certificates.issue('forged', 'impostor');
  await as('forged', async (tab) => {
    await assert.rejects(tab.page.goto(server.url('/jobs/llama-1')), /net::ERR_/);
    await isShownNothing(tab);
    assert.match(server.said, /audit=refused reason=tls .*unable to get local issuer certificate/, 'it was shown, and refused');
  });
});

// Chromium presents no expired certificate. A certificate that expires later it continues to present.
test('a browser without a certificate, or with one that had expired, is shown nothing', async () => {
  certificates.issue('past', 'ca', new Date(Date.now() - 60_000));
  for (const client of [null, 'past'])
    await as(client, async (tab) => {
      await assert.rejects(tab.page.goto(server.url('/jobs/llama-1')), /net::ERR_/);
      await isShownNothing(tab);
    });
});

test('a certificate that expires while somebody looks shows nothing more', async () => {
  const until = new Date(Math.ceil(Date.now() / 1000) * 1000 + 8000);
  certificates.issue('brief', 'ca', until);
  await as('brief', async (tab) => {
    await tab.go('/jobs/llama-1');
    assert.match(await tab.text('#culprit-title'), TITLE);
    await new Promise((done) => { setTimeout(done, until - Date.now() + 1500); });
    await isShownNothing(tab);
  });
});
