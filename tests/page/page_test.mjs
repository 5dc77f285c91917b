// The page as a browser shows it: the real server, jobs with a known culprit, Chromium. `./dev page` runs it.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import puppeteer from 'puppeteer-core';
import {Server, run} from './server.mjs';
import {SCHEMES, SIZES, Tab} from './watched.mjs';

const {FAULTLINE_BINARY: binary, CHROMIUM: chromium, SHOTS: shots} = process.env;
const MARKUP = '<script>alert(1)</script>';
const OFF_BUS = '[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen off the bus.\n';
const SOON_ENOUGH = 500;  // ms to the first contentful paint

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'faultline_page.'));
const jobs = {};
let browser;
let server;

before(async () => {
  fs.mkdirSync(shots, {recursive: true});
  server = await new Server(binary, path.join(folder, 'open')).start();
  jobs.small = await server.simulate('llama-64', 'gpu_off_bus', 8);
  jobs.large = await server.simulate('llama-1024', 'gpu_off_bus', 128);
  jobs.dated = await server.simulate('dated-32', 'rank_behind', 4, '--wrapper', 'cri');
  jobs.missing = await server.simulate('missing-16', 'rank_missing', 2);
  await server.simulate('gpt-ok', 'healthy', 2);
  await server.send(`hostile ${MARKUP}`, `[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=${MARKUP}, GPU has fallen off the bus.\n`, '&host=gpu-7');
  browser = await puppeteer.launch({executablePath: chromium, headless: true, args: os.userInfo().uid === 0 ? ['--no-sandbox'] : []});
});

after(async () => {
  await browser?.close();
  await server?.kill();
  fs.rmSync(folder, {recursive: true});
});

// Writes the page that `diagnose` makes of a job's logs.
const files = {url: (name) => (name === '' ? 'null' : pathToFileURL(path.join(folder, name)).href)};
function writeDiagnosis(job) {
  const name = `${job}.html`;
  const {status, stdout, stderr} = spawnSync(binary, ['diagnose', '--format', 'html', path.join(server.folder, job, 'logs')]);
  assert.equal(status, 1, stderr.toString());
  fs.writeFileSync(path.join(folder, name), stdout);
  return name;
}

const firstCauseOf = async (job) => (await server.ask(`/api/v1/jobs/${job}/diagnosis`)).root_causes[0];

for (const size of SIZES)
  for (const scheme of SCHEMES) {
    const look = `${size.width}x${size.height}, ${scheme}`;

    for (const name of ['small', 'large'])
      test(`who is to blame is seen at once (${name} job, ${look})`, async () => {
        const {job, host, rank} = jobs[name];
        const tab = await Tab.open(browser, server, size, scheme);
        await tab.go(`/jobs/${job}`);
        await tab.page.screenshot({path: path.join(shots, `${job}-${size.width}-${scheme}.png`)});
        assert.match(await tab.text('#culprit-title'), new RegExp(`on ${host} fell off the bus`));
        assert.equal(await tab.text('.subject li:first-child'), `rank ${rank}`);
        for (const what of ['#culprit-title', '.subject', '.facts', '#next-title']) assert.ok(await tab.isSeen(what), what);
        // A phone has no room for the picture; the rank is named above.
        if (size.width > 900) {
          assert.equal(await tab.text('button.cell.behind'), `◀${rank}`);
          assert.ok(await tab.isSeen('button.cell.behind'), 'the rank in the picture');
        }
        if (size.width > 900 && name === 'large') assert.ok(await tab.isSeen('.square:last-child'), 'all 128 hosts');
        assert.deepEqual(tab.wrong, []);
        await tab.close();
      });

    for (const name of ['small', 'large'])
      test(`the file of diagnose --format html shows the same at once (${name} job, ${look})`, async () => {
        const {job, host, rank} = jobs[name];
        const tab = await Tab.open(browser, files, size, scheme);
        await tab.go(writeDiagnosis(job));
        await tab.page.screenshot({path: path.join(shots, `${job}-file-${size.width}-${scheme}.png`)});
        assert.match(await tab.text('.culprit h2'), new RegExp(`on ${host} fell off the bus`));
        assert.equal(await tab.text('.subject li:first-child'), `rank ${rank}`);
        for (const what of ['.culprit h2', '.subject', '.facts', '.next h2', '.next .step']) assert.ok(await tab.isSeen(what), what);
        assert.equal(await tab.text('.hosts .cell.behind'), `◀${rank} behind`);
        if (size.width > 900) {
          assert.ok(await tab.isSeen('.hosts .cell.behind'), 'the rank in the picture');
          if (name === 'large') assert.ok(await tab.isSeen('.square:last-child'), 'all 128 hosts');
        }
        await tab.unfoldAll();
        assert.deepEqual(await tab.violations(), []);
        assert.equal(await tab.scrollsSideways(), false);
        assert.deepEqual(tab.wrong, []);
        await tab.close();
      });

    test(`every page can be read by all, and asks nobody else (${look})`, async () => {
      const tab = await Tab.open(browser, server, size, scheme);
      const cause = await firstCauseOf(jobs.small.job);
      const paints = [];
      for (const where of ['/', `/jobs/${jobs.small.job}`, `/jobs/${jobs.large.job}`, `/jobs/${jobs.dated.job}`, `/jobs/${jobs.missing.job}`, '/jobs/gpt-ok', `/jobs/${encodeURIComponent(`hostile ${MARKUP}`)}`,
        '/findings', `/findings?state=all&job=${jobs.small.job}&class=gpu.off_bus&host=${jobs.small.host}`, `/findings/${cause.finding}`, '/hosts', `/hosts/${jobs.small.host}`, '/?q=llama&verdict=hang']) {
        await tab.go(where);
        paints.push(await tab.firstPaint());
        await tab.unfoldAll();
        assert.deepEqual(await tab.violations(), [], where);
        assert.equal(await tab.scrollsSideways(), false, `${where} scrolls sideways`);
        await tab.page.screenshot({path: path.join(shots, `${where.replace(/[^a-z0-9]+/gi, '_')}-${size.width}-${scheme}-whole.png`), fullPage: true});
      }
      assert.deepEqual(tab.wrong, []);
      assert.ok(Math.max(...paints) < SOON_ENOUGH, `first contentful paints: ${paints.map(Math.round).join(' ')} ms`);
      await tab.close();
    });
  }

test('the smallest phone needs no scrolling sideways', async () => {
  const tab = await Tab.open(browser, server, {width: 320, height: 568, isMobile: true, hasTouch: true});
  for (const where of ['/', '/jobs/llama-64', '/jobs/llama-1024', '/jobs/dated-32', '/jobs/missing-16', '/findings', `/findings?job=${jobs.small.job}&host=${jobs.small.host}`, '/hosts', `/hosts/${jobs.small.host}`]) {
    await tab.go(where);
    await tab.unfoldAll();
    assert.equal(await tab.scrollsSideways(), false, where);
    assert.ok(await tab.isSeen('#help'), where);
  }
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('the lines around a line of evidence are shown when somebody asks, and stay when the page is drawn anew', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/jobs/llama-64');
  await tab.page.click('.around-fold summary');
  await tab.waitFor(() => document.querySelector('.around .it') !== null);
  const shown = await tab.text('.around');
  const line = await tab.text('.lines pre');
  assert.ok(shown.includes(line.slice(0, 60)), shown);
  assert.ok(shown.split('\n').length > 8, shown);
  await server.send('llama-64', 'one more line\n', '&source=another');
  await new Promise((done) => { setTimeout(done, 3000); });
  assert.equal(await tab.text('.around'), shown);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

// The text of the rows, and the places of their bars and marks.
const rowsOf = (tab) => tab.page.$$eval('.chart li', (rows) => rows.map((row) => ({
  kind: row.className,
  text: [...row.querySelectorAll('.name, .note')].map((part) => part.textContent.replace(/\s+/g, ' ')).join(': '),
  drawn: [...row.querySelectorAll('rect')].map((box) =>
    [box.getAttribute('class'), ...['x', 'y', 'width', 'height'].map((name) => Number(Number(box.getAttribute(name)).toFixed(1)))].join(' ')),
})));

test('below its host stands the rank that matters, with when it was heard, and all others in a row', async () => {
  const tab = await Tab.open(browser, server);
  const {job, host, rank} = jobs.dated;
  await tab.go(`/jobs/${job}`);
  await tab.page.waitForSelector('.chart');
  const rows = await rowsOf(tab);
  assert.deepEqual(rows.map(({kind}) => kind), ['host', 'rank', 'others']);
  assert.ok(rows[0].text.startsWith(host), rows[0].text);
  assert.match(rows[1].text, new RegExp(`^rank ${rank} ◀: behind; heard \\d{4}-\\d\\d-\\d\\d [:\\d]+ to [:\\d]+ UTC; last call \\w+ #\\d+ of 0x[0-9a-f]+, \\d+ calls? behind$`));
  assert.match(rows[2].text, /^31 other ranks: ranks 0 to \d+, \d+ to 31; last heard /);
  const [ended, others] = [rows[1], rows[2]].map(({drawn}) => drawn.find((box) => box.startsWith('span ') && !box.startsWith('span open')));
  const end = (box) => Number(box.split(' ')[1]) + Number(box.split(' ')[3]);
  assert.ok(end(ended) < end(others), `${ended} ends before ${others}`);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('the rows of a rank that nothing dates, and of one that was never heard, say so', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go(`/jobs/${jobs.small.job}`);
  await tab.page.waitForSelector('.chart');
  assert.match(await tab.text('.chart .rank'), new RegExp(`^rank ${jobs.small.rank} .*behind; no line of it carries a date; last call `));
  assert.equal(await tab.page.$('.chart .rank .span'), null);
  assert.match(await tab.text('.chart .others'), /^63 other ranks.*no line of them carries a date$/);
  await tab.go(`/jobs/${jobs.missing.job}`);
  await tab.page.waitForSelector('.chart');
  assert.match(await tab.text('.chart .rank'), new RegExp(`^rank ${jobs.missing.rank} \\?.*never heard: no line of it was seen$`));
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

for (const name of ['dated', 'small', 'large', 'missing'])
  test(`the file of diagnose --format html has the same rows as the page (${name} job)`, async () => {
    const {job} = jobs[name];
    const tab = await Tab.open(browser, server);
    await tab.go(`/jobs/${job}`);
    await tab.page.waitForSelector('.chart');
    const rows = await rowsOf(tab);
    await tab.close();
    const file = await Tab.open(browser, files);
    await file.go(writeDiagnosis(job));
    assert.deepEqual(await rowsOf(file), rows);
    await file.close();
  });

test('markup in a log and in a name stays text', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go(`/jobs/${encodeURIComponent(`hostile ${MARKUP}`)}`);
  assert.ok((await tab.text('.lines')).includes(MARKUP));
  assert.ok((await tab.text('h1')).includes(MARKUP));
  for (const where of ['/', '/findings', '/hosts/gpu-7']) {
    await tab.go(where);
    await tab.waitFor((markup) => document.querySelector('main').textContent.includes(markup), MARKUP);
  }
  assert.equal(await tab.page.$$eval('script', (scripts) => scripts.length), 1);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('markup in a log stays text in the file of diagnose, too', async () => {
  const logs = path.join(folder, 'hostile.log');
  fs.writeFileSync(logs, `[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=${MARKUP}, GPU has fallen off the bus.\n`);
  fs.writeFileSync(path.join(folder, 'hostile.html'), spawnSync(binary, ['diagnose', '--format', 'html', logs]).stdout);
  const tab = await Tab.open(browser, files);
  await tab.go('hostile.html');
  assert.ok((await tab.text('.lines')).includes(MARKUP));
  assert.equal(await tab.page.$('script'), null);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('a finding is acknowledged with the keyboard alone, and the note is kept', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/');
  await tab.tabTo('.row[href="/jobs/llama-64"]');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForSelector('#review-by');
  await tab.tabTo('#review-by');
  await tab.page.keyboard.type('ann');
  await tab.tabTo('[id^=review-note]');
  await tab.page.keyboard.type('power-cycling it');
  await tab.page.keyboard.down('Shift');
  await tab.tabTo('[id^=review-acknowledged]');
  await tab.page.keyboard.up('Shift');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForSelector('.taken');
  assert.match(await tab.text('.reviews'), /acknowledged by ann, .*: power-cycling it/);
  assert.match(await tab.text('#said'), /acknowledged/);
  const {review, reviews} = await server.ask(`/api/v1/findings/${(await firstCauseOf('llama-64')).finding}`);
  assert.equal(review, 'acknowledged');
  assert.deepEqual([reviews[0].by, reviews[0].note], ['ann', 'power-cycling it']);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('what another element covers does not count as seen', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/jobs/llama-64');
  assert.ok(await tab.isSeen('#culprit-title'));
  await tab.page.evaluate(() => {
    const {right, bottom} = document.querySelector('#culprit-title').getBoundingClientRect();
    const cover = document.createElement('p');
    Object.assign(cover.style, {position: 'fixed', left: `${right - 3}px`, top: `${bottom - 3}px`, width: '9px', height: '9px', margin: 0});
    document.body.append(cover);
  });
  assert.equal(await tab.isSeen('#culprit-title'), false);
  await tab.close();
});

test('a finding is said to be wrong, opened again and closed, and each review is kept', async () => {
  await server.send('reviewed', OFF_BUS, '&host=gpu-11');
  const {finding} = await firstCauseOf('reviewed');
  const tab = await Tab.open(browser, server);
  await tab.go(`/findings/${finding}`);
  await tab.page.type('#review-by', 'ann');
  const give = async (verdict, note, state, next) => {
    await tab.page.type(`#review-note-${finding}`, note);
    await tab.page.click(`#review-${verdict}-${finding}`);
    await tab.waitFor((text) => document.querySelector('.reviews')?.textContent.includes(text), note);
    await tab.page.waitForSelector(`#review-${next}-${finding}`);
    const told = await server.ask(`/api/v1/findings/${finding}`);
    assert.deepEqual([told.state, told.reviews.at(-1).verdict, told.reviews.at(-1).note], [state, verdict, note]);
  };
  await give('wrong', 'the slot was empty', 'resolved', 'reopened');
  assert.match(await tab.text('.taken'), /^Resolved .*, because: /);
  assert.equal(await tab.page.$(`#review-closed-${finding}`), null, 'what is resolved cannot be closed');
  await give('reopened', 'no, it was not', 'open', 'closed');
  assert.equal(await tab.page.$('.taken'), null);
  await give('closed', 'the GPU is replaced', 'resolved', 'reopened');
  assert.match(await tab.text('.reviews'), /^closed by ann, .*: the GPU is replacedreopened by ann, .*marked as wrong by ann, .*: the slot was empty$/);
  assert.match(await tab.text('#said'), /closed/);
  assert.deepEqual(await tab.violations(), []);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('jobs are listed the worst first, or those that were heard last, and the address keeps it', async () => {
  await server.send('worse', OFF_BUS, '&host=gpu-12');
  await server.send('later', 'a line that says nothing\n');
  const tab = await Tab.open(browser, server);
  const place = async (job) => (await tab.page.$$eval('.row .name', (names) => names.map((name) => name.textContent))).indexOf(job);
  await tab.go('/');
  await tab.page.waitForSelector('#by-severity[aria-pressed=true]');
  assert.ok(await place('worse') < await place('later'));
  await tab.tabTo('#by-activity');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForSelector('#by-activity[aria-pressed=true]');
  await tab.waitFor(() => document.querySelector('.row .name').textContent === 'later');
  assert.equal(await place('worse'), 1);
  assert.equal(await tab.page.evaluate(() => new URLSearchParams(location.search).get('sort')), 'activity');
  assert.equal(await tab.page.$eval('.rows', (list) => list.ariaLabel), 'Jobs, those that were heard last first');
  assert.deepEqual(await tab.violations(), []);
  await tab.go('/?sort=activity');
  assert.equal(await place('later'), 0);
  await tab.page.click('#by-severity');
  await tab.page.waitForSelector('#by-severity[aria-pressed=true]');
  assert.equal(await tab.page.evaluate(() => location.search), '');
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('single keys lead to jobs, through lists and to help, unless they are switched off', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/');
  await tab.page.keyboard.press('j');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForSelector('#culprit-title');
  assert.equal(await tab.page.evaluate(() => document.activeElement.tagName), 'H1', 'the heading of the new page has the focus');
  await tab.page.keyboard.press('f');
  await tab.waitFor(() => document.querySelector('h1')?.textContent === 'Findings');
  await tab.page.keyboard.press('/');
  await tab.page.keyboard.type('gpu-7 j');
  await tab.waitFor(() => location.search === '?q=gpu-7+j');
  await tab.page.keyboard.press('Escape');
  await tab.page.keyboard.press('?');
  await tab.page.waitForSelector('#help-dialog[open]');
  assert.deepEqual(await tab.violations(), []);
  await tab.tabTo('#keys-on');
  await tab.page.keyboard.press('Space');
  await tab.page.keyboard.press('Escape');
  await tab.page.keyboard.press('h');
  assert.equal(await tab.page.evaluate(() => location.pathname), '/findings');
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('the list of findings is narrowed by what a row is about, and widened again', async () => {
  await server.send('elsewhere', OFF_BUS, '&host=gpu-10');
  const tab = await Tab.open(browser, server);
  await tab.go('/findings?q=bus');
  const classes = await tab.page.$$eval('[id^="class-gpu.off_bus"]', (links) => links.length);
  assert.ok(classes > 3, `${classes} of the class`);
  await tab.page.click('[id^=job-elsewhere]');
  await tab.page.waitForSelector('#only-job');
  assert.equal(await tab.page.evaluate(() => location.search), '?q=bus&job=elsewhere');
  assert.equal(await tab.page.title(), 'Findings, elsewhere - Faultline');
  assert.ok((await tab.page.$$eval('.row-foot', (feet) => feet.map((foot) => foot.textContent))).every((foot) => foot.startsWith('elsewhere, ')));
  assert.equal(await tab.page.$('[id^=job-elsewhere]'), null, 'what it is narrowed to is no link');
  await tab.page.click('[id^=host-gpu-10]');
  await tab.page.waitForSelector('#only-host');
  await tab.page.click('#only-job');
  await tab.waitFor(() => !document.querySelector('#only-job') && document.querySelector('.row'));
  assert.equal(await tab.page.evaluate(() => location.search), '?q=bus&host=gpu-10');
  await tab.page.goBack();
  await tab.page.waitForSelector('#only-job');
  await tab.page.goBack();
  await tab.waitFor(() => !document.querySelector('#only-host') && document.querySelector('#only-job'));
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('the keyboard alone narrows the list of findings, and an address does', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/findings');
  await tab.page.waitForSelector('.row');
  await tab.page.keyboard.press('j');
  await tab.tabTo('[id^=class-]');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForSelector('#only-class');
  assert.equal(await tab.page.evaluate(() => document.activeElement.tagName), 'H1');
  await tab.tabTo('#only-class');
  assert.deepEqual(await tab.violations(), []);
  await tab.page.keyboard.press('Enter');
  await tab.waitFor(() => !document.querySelector('#only-class') && document.querySelector('.row'));
  assert.equal(await tab.page.evaluate(() => location.href), server.url('/findings'));

  await tab.go(`/findings?class=gpu.off_bus&host=${jobs.small.host}&job=${jobs.small.job}`);
  await tab.page.waitForSelector('.row');
  assert.equal(await tab.page.$$eval('.rows > li', (rows) => rows.length), 1);
  assert.match(await tab.text('.chips'), new RegExp(`only job ${jobs.small.job} .*only class GPU hardware, off bus .*only host ${jobs.small.host} `));
  await tab.go('/findings?class=gpu.of_bus');
  assert.match(await tab.text('main'), /No finding matches/);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('the button of what is shown is the pressed one, also where nothing is resolved', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/findings?job=llama-1024');
  await tab.page.waitForSelector('.row');
  await tab.page.click('#all-ones');
  await tab.page.waitForSelector('#all-ones[aria-pressed=true]');
  await tab.page.waitForSelector('#open-ones[aria-pressed=false]');
  assert.equal(await tab.page.evaluate(() => location.search), '?job=llama-1024&state=all');
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('arrows lead from rank to rank, and one tells where it stands', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/jobs/llama-64');
  await tab.tabTo('button.cell.behind');
  await tab.page.keyboard.press('ArrowDown');
  await tab.page.keyboard.press('ArrowUp');
  assert.ok(await tab.page.evaluate(() => document.activeElement.matches('.cell.behind')));
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForSelector('#standing table');
  assert.match(await tab.text('#standing'), new RegExp(`Rank ${jobs.small.rank}: behind`));
  assert.deepEqual(await tab.violations(), []);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('what comes while one looks is shown, also after the server was killed and started again', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/');
  await tab.page.waitForSelector('.connection.live');
  await server.kill();
  await tab.page.waitForSelector('.connection.lost');
  await server.start();
  await tab.page.waitForSelector('.connection.live', {timeout: 20_000});
  const stream = tab.wrong.length;
  // This must show earlier than the next regular request for the list.
  await server.send('late', OFF_BUS, '&host=gpu-9');
  await tab.page.waitForSelector('.row[href="/jobs/late"]', {timeout: 8000});
  assert.equal(tab.wrong.length, stream, 'what failed was only what could not be reached');
  assert.ok(tab.wrong.every((what) => /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/.test(what)), tab.wrong.join('\n'));
  await tab.close();
});

test('what changes while one reads and types takes nothing away', async () => {
  await server.send('changing', OFF_BUS, '&host=gpu-8');
  const tab = await Tab.open(browser, server);
  await tab.go('/jobs/changing');
  await tab.page.click('#checks summary');
  await tab.page.type('[id^=review-note]', 'I am on');
  await server.send('changing', '[ 1001.000001] NVRM: Xid (PCI:0000:3b:00): 48, pid=4021, name=python3, DBE (double bit error)\n', '&host=gpu-8&source=more');
  await tab.waitFor(() => /uncorrectable memory error/.test(document.querySelector('main').textContent));
  await tab.page.keyboard.type(' it');
  assert.equal(await tab.page.$eval('[id^=review-note]', (note) => note.value), 'I am on it');
  assert.equal(await tab.page.$eval('#checks', (fold) => fold.open), true);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('what was typed of one finding is not said of another that takes its place', async () => {
  await server.send('replaced', '[ 1001.000001] NVRM: Xid (PCI:0000:3b:00): 13, pid=4021, name=python3, Graphics Exception\n', '&host=gpu-8');
  const tab = await Tab.open(browser, server);
  await tab.go('/jobs/replaced');
  const before = await tab.text('#culprit-title');
  await tab.page.type('[id^=review-note]', 'mine');
  await server.send('replaced', OFF_BUS, '&host=gpu-9&source=more');
  await tab.waitFor((title) => document.querySelector('#culprit-title').textContent !== title, before);
  assert.equal(await tab.page.$eval('[id^=review-note]', (note) => note.value), '');
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('findings that follow one another faster than they are asked for are shown', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/findings');
  await tab.page.waitForSelector('.connection.live');
  await tab.page.emulateNetworkConditions({latency: 700, download: -1, upload: -1});
  let shown = false;
  for (let i = 0; i < 20 && !shown; ++i) {
    await server.send(`storm-${i}`, OFF_BUS, '&host=gpu-7');
    await new Promise((done) => { setTimeout(done, 200); });
    shown = await tab.page.evaluate(() => document.querySelector('main').textContent.includes('storm-'));
  }
  assert.ok(shown);
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('an answer that breaks off is asked for again', async () => {
  const tab = await Tab.open(browser, server);
  await tab.page.setRequestInterception(true);
  let cut = 1;
  tab.page.on('request', (request) => {
    if (request.url().includes('/api/v1/jobs?') && cut-- > 0) request.respond({status: 200, contentType: 'application/json', body: '{"jobs": ['});
    else request.continue();
  });
  await tab.go('/');
  assert.match(await tab.text('main'), /broke off/);
  await tab.page.waitForSelector('.row');
  assert.deepEqual(tab.wrong, []);
  await tab.close();
});

test('what is known stays while the server is away, and is said to be old', async () => {
  const tab = await Tab.open(browser, server);
  await tab.go('/jobs/llama-64');
  await server.kill();
  await tab.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await tab.waitFor(() => /not up to date: The server cannot be reached/.test(document.querySelector('#stale').textContent));
  assert.match(await tab.text('#culprit-title'), /fell off the bus/);
  await server.start();
  await tab.waitFor(() => document.querySelector('#stale').hidden);
  await tab.close();
});

// A server that asks for tokens, with one token of each kind and a job called llama-1.
async function guardedServer(name, kinds) {
  const home = path.join(folder, name);
  fs.mkdirSync(home);
  const secrets = {};
  for (const [token, flags] of Object.entries(kinds)) {
    const {out, err} = run(binary, ['token', token, ...flags]);
    fs.appendFileSync(path.join(home, 'tokens'), out);
    secrets[token] = /flt_\w+/.exec(err)[0];
  }
  const guarded = await new Server(binary, home, ['--tokens', path.join(home, 'tokens')]).start();
  await guarded.send('llama-1', OFF_BUS, '&host=gpu-7', {Authorization: `Bearer ${secrets.night}`});
  return {guarded, secrets};
}

test('a server that asks for a token is given one, once, and the browser itself asks for nothing', async () => {
  const {guarded, secrets} = await guardedServer('guarded', {night: ['--scope', 'read,operate,ingest']});
  try {
    const tab = await Tab.open(browser, guarded, SIZES[2], 'dark');
    await tab.page.goto(guarded.url('/jobs/llama-1'));
    await tab.page.waitForSelector('#token-dialog[open]');
    assert.deepEqual(await tab.violations(), []);
    await tab.page.screenshot({path: path.join(shots, 'token-360-dark.png')});
    await tab.page.type('#token', 'flt_…');
    await tab.page.keyboard.press('Enter');
    assert.match(await tab.page.$eval('#token', (input) => input.validationMessage), /A token has no such characters/);
    for (let i = 0; i < 5; ++i) await tab.page.keyboard.press('Backspace');
    await tab.page.type('#token', 'wrong');
    await tab.page.keyboard.press('Enter');
    await tab.waitFor(() => /not known here/.test(document.querySelector('#token-why').textContent));
    await tab.page.type('#token', secrets.night);
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForSelector('#culprit-title');
    await tab.page.waitForSelector('.connection.live');
    await tab.page.click('[id^=review-acknowledged]');
    await tab.page.waitForSelector('.taken');
    assert.equal(await tab.page.evaluate(() => JSON.stringify(localStorage) + document.cookie).then((kept) => kept.includes('flt_')), false);
    assert.ok(tab.wrong.every((what) => /401/.test(what)), tab.wrong.join('\n'));
    await tab.close();
  } finally {
    await guarded.kill();
  }
});

test('whoever gives no token is told so once, and one for some jobs shows these', async () => {
  const {guarded, secrets} = await guardedServer('partly', {night: ['--scope', 'ingest'], team: ['--scope', 'read,operate', '--jobs', 'llama-']});
  try {
    const tab = await Tab.open(browser, guarded);
    await tab.page.goto(guarded.url('/jobs/llama-1'));
    await tab.page.waitForSelector('#token-dialog[open]');
    await tab.page.keyboard.press('Escape');
    await tab.waitFor(() => /needs a token/.test(document.querySelector('main').textContent));
    assert.equal(await tab.page.$('#token-dialog[open]'), null);
    await tab.page.click('main button');
    await tab.page.type('#token', secrets.team);
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForSelector('#culprit-title');
    await tab.page.click('[id^=review-acknowledged]');
    await tab.page.waitForSelector('.taken');
    await tab.page.keyboard.press('h');
    await tab.waitFor(() => /jobs whose names begin with "llama-"/.test(document.querySelector('main').textContent));
    assert.deepEqual(await tab.violations(), []);
    await tab.go('/findings?job=llama-1');
    await tab.page.waitForSelector('.row');
    assert.ok(tab.wrong.every((what) => /40[13]/.test(what)), tab.wrong.join('\n'));
    await tab.close();
  } finally {
    await guarded.kill();
  }
});
