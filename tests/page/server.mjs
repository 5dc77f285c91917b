// The real binary, serving on a port of its own, and jobs that it simulates and receives.
import {spawn, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';

export class Server {
  // tls: `ca`, `cert` and `key` for requests, if the server asks for certificates.
  constructor(binary, folder, flags = [], tls = null) {
    Object.assign(this, {binary, folder, flags, tls, port: 0, said: ''});
    fs.mkdirSync(folder, {recursive: true});
  }

  // Starts on the same port as before, if it has run before.
  async start() {
    this.child = spawn(this.binary, ['serve', '--listen', `127.0.0.1:${this.port}`, '--data', path.join(this.folder, 'data'),
      '--stall-after', '0s', ...this.flags], {stdio: ['ignore', 'ignore', 'pipe']});
    this.said = '';
    this.port = await new Promise((resolve, reject) => {
      this.child.stderr.on('data', (text) => {
        this.said += text;
        const where = /listening on https?:\/\/127\.0\.0\.1:(\d+)/.exec(this.said);
        if (where) resolve(Number(where[1]));
      });
      this.child.on('exit', () => reject(new Error(`the server ended: ${this.said}`)));
    });
    while ((await this.fetch('/readyz')).status !== 200) await new Promise((done) => { setTimeout(done, 50); });
    return this;
  }

  async kill() {
    const ended = new Promise((done) => { this.child.on('exit', done); });
    this.child.kill('SIGKILL');
    await ended;
  }

  url(where) { return `${this.tls ? 'https' : 'http'}://127.0.0.1:${this.port}${where}`; }

  async fetch(where, {method = 'GET', headers = {}, body} = {}) {
    if (!this.tls) return fetch(this.url(where), {method, headers, body});
    // fetch() cannot present a certificate.
    return new Promise((resolve, reject) => {
      const asked = https.request(this.url(where), {method, headers, ...this.tls, agent: false}, (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => resolve(new Response(Buffer.concat(chunks), {status: answer.statusCode})));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  async ask(where, options) {
    const answer = await this.fetch(where, options);
    if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  send(job, body, query = '', headers = {}) {
    return this.ask(`/api/v1/ingest?job=${encodeURIComponent(job)}&final=true${query}`, {method: 'POST', body, headers});
  }

  // Simulates a job and sends it. Returns the rank and the host that are at fault.
  async simulate(job, scenario, nodes, ...more) {
    const folder = path.join(this.folder, job);
    run(this.binary, ['simulate', '--scenario', scenario, '--nodes', String(nodes), '--out', folder, ...more]);
    await this.send(job, run('tar', ['-C', path.join(folder, 'logs'), '-cf', '-', '.']).out);
    const truth = JSON.parse(fs.readFileSync(path.join(folder, 'truth.json'), 'utf8'));
    return {job, host: truth.may_name.hosts[0], rank: truth.may_name.ranks[0]};
  }
}

export function run(program, words) {
  const {status, stdout, stderr} = spawnSync(program, words, {maxBuffer: 1 << 28});
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${stderr}`);
  return {out: stdout, err: stderr.toString()};
}
