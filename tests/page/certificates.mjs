// Certificates made by openssl, and browsers that present one of them.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import puppeteer from 'puppeteer-core';
import {run} from './server.mjs';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const NICKNAME = 'shown';

// 20261231235959Z
const asn1 = (time) => time.toISOString().replace(/\.\d+|[-:T]/g, '');

export class Certificates {
  constructor(folder) {
    this.folder = folder;
    fs.mkdirSync(folder, {recursive: true});
  }

  path(file) { return path.join(this.folder, file); }

  authority(name, subject = name) {
    run('openssl', ['req', '-x509', ...KEY, '-days', '30', '-subj', `/CN=${subject}`, '-keyout', this.path(`${name}.key`), '-out', this.path(`${name}.pem`)]);
  }

  // The common name is the name of the file.
  issue(name, by, until = new Date(Date.now() + 86_400_000 * 30)) {
    const at = (file) => this.path(`${name}.${file}`);
    run('openssl', ['req', ...KEY, '-subj', `/CN=${name}`, '-keyout', at('key'), '-out', at('csr')]);
    fs.writeFileSync(at('index'), '');
    fs.writeFileSync(at('conf'), `[ca]\ndefault_ca = us\n[us]\ndatabase = ${at('index')}\nnew_certs_dir = ${this.folder}\ndefault_md = sha256\n`
      + 'rand_serial = yes\nunique_subject = no\npolicy = any\nx509_extensions = names\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = IP:127.0.0.1\n');
    run('openssl', ['ca', '-batch', '-notext', '-config', at('conf'), '-cert', this.path(`${by}.pem`), '-keyfile', this.path(`${by}.key`),
      '-startdate', asn1(new Date(Date.now() - 86_400_000)), '-enddate', asn1(until), '-in', at('csr'), '-out', at('pem')]);
  }

  // Options for a client that trusts `ca` and presents the certificate `client`.
  tls(client, ca) {
    const read = (file) => fs.readFileSync(this.path(file));
    return {ca: read(`${ca}.pem`), cert: read(`${client}.pem`), key: read(`${client}.key`)};
  }

  serverFlags(name, ca) {
    return ['--tls-cert', this.path(`${name}.pem`), '--tls-key', this.path(`${name}.key`), '--tls-client-ca', this.path(`${ca}.pem`)];
  }

  // A browser of a user who trusts `ca` and has the certificate `client` (null: none). Its settings say that this
  // server gets the certificate, because the driver cannot choose one. `user` is a folder for this user.
  async browser(executablePath, user, origin, ca, client) {
    const home = this.path(user);
    const base = path.join(home, '.pki', 'nssdb');
    fs.mkdirSync(base, {recursive: true});
    run('certutil', ['-N', '-d', `sql:${base}`, '--empty-password']);
    run('certutil', ['-A', '-d', `sql:${base}`, '-n', ca, '-t', 'C,,', '-i', this.path(`${ca}.pem`)]);
    if (client) {
      const bundle = path.join(home, 'client.p12');
      run('openssl', ['pkcs12', '-export', '-name', NICKNAME, '-passout', 'pass:', '-in', this.path(`${client}.pem`), '-inkey', this.path(`${client}.key`), '-out', bundle]);
      run('pk12util', ['-d', `sql:${base}`, '-i', bundle, '-W', '']);
    }
    const profile = path.join(home, 'profile');
    fs.mkdirSync(path.join(profile, 'Default'), {recursive: true});
    fs.writeFileSync(path.join(profile, 'Default', 'Preferences'), JSON.stringify({profile: {content_settings: {exceptions: {
      auto_select_certificate: {[`${origin},*`]: {setting: {filters: [{}]}}}}}}}));
    return puppeteer.launch({executablePath, headless: true, userDataDir: profile, env: {...process.env, HOME: home},
      args: os.userInfo().uid === 0 ? ['--no-sandbox'] : []});
  }
}
